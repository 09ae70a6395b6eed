#!/usr/bin/env node
// The photofinish command of the npm package: checks that the Node it was started with will do, which an old Node must be
// able to read, and runs the built command line.
const { engines, name } = require('../package.json');

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

if (satisfies(process.versions.node, engines.node)) {
  hideExperiments();
  import('../dist/cli.js');
} else {
  process.stderr.write(
    `${name}: old-node: this is Node ${process.versions.node} and ${engines.node} is needed, ` +
      'whose SQLite may be shared by several helpers; install a newer Node.js and run the command again\n',
  );
  process.exitCode = 2;
}
