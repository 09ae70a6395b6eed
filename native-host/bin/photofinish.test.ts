// The command of a checkout: found through links, run by the pinned Node, and plain words while something is missing;
// then the built entry: everything reaches the command, and compiled code that is damaged or cannot be kept harms
// nothing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { scratchDirectory } from '../testing/scratch.ts';
import { VERSION } from '../version.ts';

/** A checkout with nothing in it but the script; the path has a blank, as homes may. */
function newCheckout(t: TestContext): { readonly top: string; readonly script: string } {
  const top = scratchDirectory(t, 'pf checkout ');
  const script = join(top, 'native-host/bin/photofinish');
  for (const directory of ['native-host/bin', 'native-host/dist', 'node_modules/.bin'])
    mkdirSync(join(top, directory), { recursive: true });
  copyFileSync(join(import.meta.dirname, 'photofinish'), script);
  chmodSync(script, 0o755);
  return { top, script };
}

function run(command: string, args: readonly string[] = []) {
  return spawnSync(command, args, { encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } });
}

test('it says what to do until Node and the build are there, then passes everything on', (t) => {
  const { top, script } = newCheckout(t);
  copyFileSync(join(import.meta.dirname, '../version.ts'), join(top, 'native-host/version.ts'));
  for (const flag of ['-V', '--version']) {
    const told = run(script, [flag]);
    assert.deepEqual([told.status, told.stdout], [0, `photofinish ${VERSION}\n`]);
  }
  const noNode = run(script);
  assert.deepEqual([noNode.status, noNode.stdout], [2, '']);
  assert.match(noNode.stderr, /^photofinish: not-built: .*npm run build/);

  symlinkSync(process.execPath, join(top, 'node_modules/.bin/node'));
  const noBuild = run(script);
  assert.deepEqual([noBuild.status, noBuild.stdout], [2, '']);
  assert.match(noBuild.stderr, /^photofinish: not-built: .*npm run build/);

  writeFileSync(
    join(top, 'native-host/dist/cli.js'),
    'console.log(JSON.stringify(process.argv.slice(2))); process.exit(7)',
  );
  const args = ['race', 'a b', '--json', '$HOME'];
  // As npm links a command: a relative link, here with one more absolute link before it.
  symlinkSync('../../native-host/bin/photofinish', join(top, 'node_modules/.bin/photofinish'));
  symlinkSync(join(top, 'node_modules/.bin/photofinish'), join(top, 'linked'));
  for (const command of [script, join(top, 'node_modules/.bin/photofinish'), join(top, 'linked')]) {
    const result = run(command, args);
    assert.equal(result.status, 7);
    assert.deepEqual(JSON.parse(result.stdout), args);
  }
});

/** A package as npm installs it, with nothing behind its command, and a Node that says it is of that version. */
function newPackage(t: TestContext, nodeVersion: string) {
  const top = scratchDirectory(t, 'pf package ');
  mkdirSync(join(top, 'bin'));
  copyFileSync(join(import.meta.dirname, 'photofinish.cjs'), join(top, 'bin/photofinish.cjs'));
  const manifest = {
    name: '@photofinish/helper',
    version: VERSION,
    engines: { node: '^22.22.3 || ^24.15.0 || >=26' },
  };
  writeFileSync(join(top, 'package.json'), JSON.stringify(manifest));
  const disguise = `Object.defineProperty(process.versions, 'node', { value: '${nodeVersion}' });`;
  writeFileSync(join(top, 'disguise.cjs'), disguise);
  return (...args: string[]) =>
    run(process.execPath, ['-r', join(top, 'disguise.cjs'), join(top, 'bin/photofinish.cjs'), ...args]);
}

test('under an old Node the package still tells its version, and refuses everything else in one sentence', (t) => {
  for (const old of ['20.20.2', '22.11.0', '25.1.0']) {
    const photofinish = newPackage(t, old);
    for (const flag of ['-V', '--version'])
      assert.deepEqual([photofinish(flag).status, photofinish(flag).stdout], [0, `photofinish ${VERSION}\n`]);
    const refused = photofinish('race', 'a.test');
    assert.deepEqual([refused.status, refused.stdout], [2, '']);
    assert.equal(
      refused.stderr,
      `photofinish: old-node: this is Node ${old}; photofinish needs Node 22.22.3 or a later 22, 24.15.0 or a later 24, 26 or later, whose SQLite several processes can safely share\n`,
    );
  }
});

const SAID = '["race","a b"]\n';

function newProgram(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'pf command '));
  t.after(() => rmSync(directory, { recursive: true }));
  copyFileSync(join(import.meta.dirname, 'cli.js'), join(directory, 'cli.js'));
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  const main = 'console.log(JSON.stringify(process.argv.slice(2)));\nprocess.exitCode = 7;';
  writeFileSync(join(directory, 'cli-main.js'), main);
  return {
    compiled: join(directory, 'compiled-node'),
    run(): void {
      const args = [join(directory, 'cli.js'), 'race', 'a b'];
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: {} });
      assert.deepEqual([status, stdout, stderr], [7, SAID, '']);
    },
  };
}

test('what is compiled is kept for its owner alone', (t) => {
  const program = newProgram(t);
  program.run();
  const [build = ''] = readdirSync(program.compiled);
  assert.ok(readdirSync(join(program.compiled, build)).length > 0);
  if (process.platform !== 'win32') assert.equal(statSync(program.compiled).mode & 0o077, 0);
  program.run();
});

test('damaged code is compiled again', (t) => {
  const program = newProgram(t);
  program.run();
  const [build = ''] = readdirSync(program.compiled);
  const files = readdirSync(join(program.compiled, build)).map((name) => join(program.compiled, build, name));
  const sound = files.map((file) => readFileSync(file));
  const damages = [
    (code: Buffer) => Buffer.alloc(code.length),
    (code: Buffer) => code.subarray(0, code.length / 2),
    (code: Buffer) => Buffer.concat([code.subarray(0, -1), Buffer.from([(code.at(-1) ?? 0) ^ 1])]),
    () => Buffer.alloc(0),
  ];
  for (const damage of damages) {
    for (const [index, file] of files.entries()) writeFileSync(file, damage(sound[index] ?? Buffer.alloc(0)));
    program.run();
  }
});

test('where nothing can be kept, the command runs all the same', (t) => {
  const program = newProgram(t);
  writeFileSync(program.compiled, '');
  program.run();
  rmSync(program.compiled);
  program.run();
  for (const build of readdirSync(program.compiled)) {
    rmSync(join(program.compiled, build), { recursive: true });
    writeFileSync(join(program.compiled, build), '');
  }
  program.run();
  rmSync(program.compiled, { recursive: true });
  mkdirSync(program.compiled, { mode: 0o500 });
  program.run();
});
