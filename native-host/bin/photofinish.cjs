#!/usr/bin/env node
// The photofinish command of the npm package: checks that the Node it was started with will do, which an old Node must be
// able to read, and runs the built command line.
const { engines, version } = require('../package.json');

/** Which alternatives of `engines.node` there are: `^A.B.C` stays within a major, `>=A` has no end. */
const ALTERNATIVE = /^(\^|>=)(\d+)(?:\.(\d+))?(?:\.(\d+))?$/;

/**
 * @param {string} version as `process.versions.node`
 * @param {string} range as in package.json, alternatives of the two forms above
 */
function satisfies(version, range) {
  const have = version.split('.').map(Number);
  return range.split('||').some((alternative) => {
    const [, kind, ...digits] = ALTERNATIVE.exec(alternative.trim());
    const wanted = digits.map((digit) => Number(digit || 0));
    if (kind === '^' && have[0] !== wanted[0]) return false;
    const at = wanted.findIndex((part, index) => part !== have[index]);
    return at === -1 || have[at] > wanted[at];
  });
}

/** Node 22 still calls its SQLite experimental, which whoever runs this command can do nothing about. */
function hideExperiments() {
  const printers = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') for (const print of printers) print(warning);
  });
}

/** `22.22.3 or a later 22, 24.15.0 or a later 24, 26 or later`, for people who do not write ranges. */
function inText(range) {
  const words = range.split('||').map((alternative) => {
    const [, kind, ...digits] = ALTERNATIVE.exec(alternative.trim());
    const version = digits.filter((digit) => digit !== undefined).join('.');
    return kind === '^' ? `${version} or a later ${digits[0]}` : `${version} or later`;
  });
  return words.join(', ');
}

const [first] = process.argv.slice(2);
if (first === '-V' || first === '--version') {
  process.stdout.write(`photofinish ${version}\n`);
} else if (satisfies(process.versions.node, engines.node)) {
  hideExperiments();
  import('../dist/cli.js');
} else {
  process.stderr.write(
    `photofinish: old-node: this is Node ${process.versions.node}; photofinish needs Node ${inText(engines.node)}, ` +
      'whose SQLite several processes can safely share\n',
  );
  process.exitCode = 2;
}
