// What happens before anything is installed: the command line of each script has one meaning, or is rejected before
// anything is built or overwritten; the minimum versions of prerequisites agree with what they stand for, versions are
// compared as numbers, and a program that fails is not reported as missing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { TOP } from '../scratch.ts';
import {
  artefactsFor,
  BadUsage,
  COMMANDS,
  isOnCi,
  listOf,
  readCommandLine,
  type Selection,
  usageOf,
} from './command-lines.mjs';
import { OLDEST_FIREFOX, OLDEST_RUST, older, outputOf } from './prerequisites.mjs';

const WIDTH = 100;

function selected(...words: string[]): Selection {
  const { selection } = readCommandLine('test', words);
  assert.ok(selection !== undefined);
  return selection;
}

test('without a name, all tests are selected', () => {
  const { checks, rust, units, specs } = selected();
  assert.deepEqual(
    [checks, rust, units.map(([name]) => name)],
    [true, true, ['shared', 'extension', 'native-host', 'e2e']],
  );
  assert.ok(specs.includes('e2e/specs/browser/popup.spec.ts'));
});

test('a suite name selects that suite and builds only what it needs', () => {
  const unit = readCommandLine('test', ['unit']);
  assert.deepEqual([unit.selection?.checks, unit.selection?.rust, unit.selection?.specs], [false, false, []]);
  assert.deepEqual(artefactsFor(unit), ['rust', 'helper', 'extension']);
  assert.deepEqual(artefactsFor(readCommandLine('unit', [])), [], 'builds nothing');
  assert.deepEqual(artefactsFor(readCommandLine('test', ['shared'])), []);
  assert.deepEqual(artefactsFor(readCommandLine('test', ['quic/addon'])), ['rust', 'helper']);
  assert.deepEqual(artefactsFor(readCommandLine('test', ['rust'])), ['rust']);
  assert.deepEqual(
    selected('shared').units.map(([name]) => name),
    ['shared'],
  );
});

test('any other name selects files with it in their path', () => {
  const { checks, rust, units, specs } = selected('popup');
  assert.deepEqual([checks, rust], [false, false]);
  const files = [...specs, ...units.flatMap(([, all]) => all)];
  assert.ok(files.length > 2 && files.every((file) => file.includes('popup')), files.join());
  assert.deepEqual(readCommandLine('unit', ['popup']).selection?.specs, []);
});

test('for unit tests alone the names of other suites are parts of paths', () => {
  // native-host/trust.test.ts has the one, too.
  for (const name of ['rust', 'browser']) {
    const { checks, rust, units, specs } = readCommandLine('unit', [name]).selection ?? assert.fail();
    const files = units.flatMap(([, all]) => all);
    assert.deepEqual([checks, rust, specs], [false, false, []]);
    assert.ok(files.length > 0 && files.every((file) => file.includes(name)), files.join());
  }
  assert.throws(() => readCommandLine('unit', ['checks']), /no test file has it in its path/);
  assert.deepEqual(
    readCommandLine('unit', ['shared']).selection?.units.map(([name]) => name),
    ['shared'],
  );
});

test('what selects nothing is refused', () => {
  for (const args of [
    ['rust', '--grep', 'x'],
    ['checks', '--grep', 'x'],
    ['unit', '--project', 'firefox'],
  ])
    assert.throws(() => readCommandLine('test', args), /selects nothing/);
});

test('with a project, a name that is in the path of no spec is named', () => {
  // Unit tests have it in their paths.
  assert.throws(() => selected('--project', 'chromium', 'popup/'), /no spec has "popup\/" in its path/);
});

test('a project restricts the selection to specs', () => {
  const { checks, rust, units, specs, project } = selected('--project', 'firefox');
  assert.deepEqual([checks, rust, units, project], [false, false, [], 'firefox']);
  assert.ok(specs.length > 0);
});

test('arguments after an experiment name are passed to it, except those common to all scripts', () => {
  const asked = readCommandLine('lab', ['--yes', 'adoption', '--trials', '3']);
  assert.deepEqual([asked.names, asked.rest, asked.yes], [['adoption'], ['--trials', '3'], true]);
  assert.equal(readCommandLine('lab', ['adoption', '--help']).help, true);
});

test('lists and help fit a terminal', () => {
  const lists = ['test', 'unit', 'build', 'bench', 'lab'].map(listOf);
  for (const line of [...lists, ...COMMANDS.map(usageOf)].join('\n').split('\n'))
    assert.ok(line.length <= WIDTH, line);
});

test('an origin for npm start may lack its scheme, and what is not one is told later', () => {
  const names = ['a.test:8443', 'HTTPS://b.test', 'c.test/path'];
  assert.deepEqual(readCommandLine('start', names).names, names);
});

test('the local origins can be kept running', () => {
  assert.equal(readCommandLine('start', ['--keep', '--headless']).keep, true);
  assert.throws(() => readCommandLine('start', ['--keep', 'a.test']), /local origins/);
});

for (const [command, ...words] of [
  ['start', '--nope'],
  ['start', '--headed', '--headless'],
  ['start', 'https://a.test', 'ftp://b.test'],
  ['test', 'no-such-file'],
  ['test', '--project', 'webkit'],
  ['unit', '--project', 'once'],
  ['build', 'no-such-part'],
  ['check', 'everything'],
  ['package', '--dry-run'],
  ['pictures', 'light'],
  ['bench', 'no-such-benchmark'],
  ['bench', '--helm'],
  ['bench', 'decide', '--fast'],
  ['lab', 'no-such-experiment'],
] as const)
  test(`npm run ${command} -- ${words.join(' ')} is refused`, () => {
    assert.throws(() => readCommandLine(command, words), BadUsage);
  });

// A checkout with only the scripts: anything that had to be installed or built would fail.
const bare = mkdtempSync(join(tmpdir(), 'photofinish-bare-'));
after(() => rmSync(bare, { recursive: true }));
for (const folder of ['shared', 'extension', 'native-host', 'e2e'])
  cpSync(join(TOP, folder), join(bare, folder), {
    recursive: true,
    filter: (from) => !/(?:node_modules|dist|test-results|\.node)$/.test(from),
  });

function inBareCheckout(...words: string[]) {
  return spawnSync(process.execPath, ['e2e/run/bootstrap.mjs', ...words], { cwd: bare, encoding: 'utf8' });
}

test('help, lists and usage errors need nothing installed and leave no files behind', () => {
  for (const command of COMMANDS) {
    const { status, stdout } = inBareCheckout(command, '--help');
    assert.deepEqual([status, stdout.trim()], [0, usageOf(command)], command);
  }
  for (const command of ['test', 'unit', 'build', 'bench', 'lab'])
    assert.equal(inBareCheckout(command, '--list').status, 0, command);
  assert.match(inBareCheckout('bench', 'decide', '--help').stdout, /What deciding costs/);
  const { status, stdout, stderr } = inBareCheckout('package', '--dry-run');
  assert.deepEqual([status, stdout], [2, '']);
  assert.match(stderr, /--dry-run[\s\S]*usage: npm run package/);
  assert.equal(existsSync(join(bare, 'node_modules')) || existsSync(join(bare, '.photofinish')), false);
});

test('CI is off if it is unset, empty, 0 or false', () => {
  for (const CI of [undefined, '', '0', 'false']) assert.equal(isOnCi({ CI }), false, CI);
  for (const CI of ['true', '1', 'woodpecker']) assert.equal(isOnCi({ CI }), true, CI);
});

test('every script of package.json has a command line', () => {
  const { scripts } = JSON.parse(readFileSync(join(TOP, 'package.json'), 'utf8'));
  assert.deepEqual(Object.keys(scripts).toSorted(), COMMANDS.toSorted());
});

test('versions are compared number by number', () => {
  for (const [found, wanted] of [
    ['1.9.0', '1.10.0'],
    ['140.5', '153.0'],
    ['1.26', '1.26.1'],
  ] as const)
    assert.deepEqual([older(found, wanted), older(wanted, found)], [true, false], `${found} ${wanted}`);
  assert.deepEqual([older('1.26', '1.26.0'), older('1.26.0', '1.26')], [false, false]);
});

test('the oldest Rust is that of the workspace', () => {
  const [, version] = /^rust-version = "(.+)"$/m.exec(readFileSync(join(TOP, 'Cargo.toml'), 'utf8')) ?? [];
  assert.equal(`${version}.0`, OLDEST_RUST);
});

test('the oldest Firefox is the one that the extension allows', () => {
  const build = readFileSync(join(TOP, 'extension/build.ts'), 'utf8');
  const [, version] = /strict_min_version: '(.+)'/.exec(build) ?? [];
  assert.equal(version, OLDEST_FIREFOX);
});

test('a program that is there and fails says why, one that is missing is not found', async () => {
  const failing = await outputOf(process.execPath, ['-e', 'console.error("a\\nb\\nc"); process.exit(1)']);
  assert.deepEqual(failing, { output: null, problem: `${process.execPath}: a\nb` });
  const silent = await outputOf(process.execPath, ['-e', 'process.exit(1)']);
  assert.match(silent.problem ?? '', /: Command failed: /);
  assert.equal((await outputOf('no-such-program', [])).problem, 'no-such-program was not found');
  assert.deepEqual(await outputOf(process.execPath, ['-p', '1']), { output: '1', problem: null });
});
