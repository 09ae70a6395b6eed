// What a browser starts: compiled code is kept once a forecast was answered, runs only for exactly its source, and is
// never needed.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

/** Bundles that print what they got; `words` are always equally long in the tests below. */
function bundleText(words: string): string {
  return [
    'exports.hasForecast = () => process.env.FORECAST === "1";',
    `function say() { return "${words}"; }`,
    'const said = say();',
    'const { later, directory, main } = require("./main-later.cjs");',
    'console.log(said, later, directory === __dirname && main === module.exports);',
  ].join('\n');
}

interface Program {
  readonly directory: string;
  readonly bundle: string;
  /** Where compiled code is kept. */
  readonly compiled: string;
  /** Starts it; gives what it printed. */
  start(options?: { readonly forecast?: boolean; readonly flags?: readonly string[] }): string;
  /** The file with the bundle's compiled code. */
  kept(): string;
}

function newProgram(t: TestContext, words = 'one'): Program {
  const directory = mkdtempSync(join(tmpdir(), 'pf helper '));
  t.after(() => rmSync(directory, { recursive: true }));
  copyFileSync(join(import.meta.dirname, 'main.cjs'), join(directory, 'main.cjs'));
  const bundle = join(directory, 'main-bundle.cjs');
  const compiled = join(directory, 'compiled');
  writeFileSync(bundle, bundleText(words));
  const later =
    'later: require("node:path").sep.length, directory: __dirname, main: require("./main-bundle.cjs")';
  writeFileSync(join(directory, 'main-later.cjs'), `module.exports = { ${later} };`);
  return {
    directory,
    bundle,
    compiled,
    start({ forecast = true, flags = [] } = {}) {
      const env = { FORECAST: forecast ? '1' : '0' };
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [...flags, join(directory, 'main.cjs')],
        {
          encoding: 'utf8',
          env,
        },
      );
      assert.deepEqual([status, stderr], [0, '']);
      return stdout;
    },
    kept() {
      const [build = ''] = readdirSync(compiled);
      return join(compiled, build, 'main-bundle.cjs');
    },
  };
}

test('code is kept when a forecast was answered, all of it, once', (t) => {
  const program = newProgram(t);
  assert.equal(program.start({ forecast: false }), 'one 1 true\n');
  assert.equal(existsSync(program.compiled), false);
  assert.equal(program.start(), 'one 1 true\n');
  assert.equal(readdirSync(program.compiled).length, 1);
  assert.deepEqual(readdirSync(join(program.kept(), '..')), ['main-bundle.cjs']);
  if (process.platform !== 'win32') assert.equal(statSync(program.kept()).mode & 0o022, 0);
  const { ino } = statSync(program.kept());
  assert.equal(program.start(), 'one 1 true\n');
  assert.equal(statSync(program.kept()).ino, ino);
});

test('kept code runs in place of its source', (t) => {
  const [one, two] = [newProgram(t, 'one'), newProgram(t, 'two')];
  one.start();
  two.start();
  const [source, other] = [readFileSync(one.bundle), readFileSync(two.kept())];
  assert.notDeepEqual(readFileSync(one.kept()), other);
  writeFileSync(one.kept(), Buffer.concat([source, other.subarray(source.length)]));
  assert.equal(one.start(), 'two 1 true\n');
});

test('code of another source is not run, even of the same length, and is replaced', (t) => {
  const program = newProgram(t, 'one');
  program.start();
  const before = readFileSync(program.kept());
  writeFileSync(program.bundle, bundleText('two'));
  assert.equal(program.start({ forecast: false }), 'two 1 true\n');
  assert.deepEqual(readFileSync(program.kept()), before);
  assert.equal(program.start(), 'two 1 true\n');
  const after = readFileSync(program.kept());
  assert.deepEqual(after.subarray(0, statSync(program.bundle).size), readFileSync(program.bundle));
});

test('damaged code is not run, and is replaced', (t) => {
  const program = newProgram(t);
  program.start();
  const sound = readFileSync(program.kept());
  const flipped = (at: number): Buffer => {
    const copy = Buffer.from(sound);
    copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
    return copy;
  };
  const source = statSync(program.bundle).size;
  const code = (sound.length - source) / 2;
  const damages = [
    ...[0, source, source + Math.trunc(code / 2), source + code, sound.length - 1].map(flipped),
    ...[0, 1, source, source + 1, source + code, sound.length - 1].map((end) => sound.subarray(0, end)),
    Buffer.concat([sound, Buffer.alloc(2)]),
    Buffer.alloc(sound.length),
  ];
  for (const damaged of damages) {
    writeFileSync(program.kept(), damaged);
    assert.equal(program.start(), 'one 1 true\n');
    assert.notDeepEqual(readFileSync(program.kept()), damaged);
  }
});

test('code of another user is not run', (t) => {
  const [one, two] = [newProgram(t, 'one'), newProgram(t, 'two')];
  one.start();
  two.start();
  const foreign = Buffer.concat([
    readFileSync(one.bundle),
    readFileSync(two.kept()).subarray(statSync(two.bundle).size),
  ]);
  writeFileSync(one.kept(), foreign);
  assert.equal(one.start(), 'two 1 true\n');
  if (process.getuid?.() !== 0) return t.skip('only root can give a file to another user');
  writeFileSync(one.kept(), foreign);
  chownSync(one.kept(), 65_534, 65_534);
  assert.equal(one.start(), 'one 1 true\n');
});

test('who does not own the bundle keeps no code', (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can give a file to another user');
  const program = newProgram(t);
  chownSync(program.bundle, 65_534, 65_534);
  assert.equal(program.start(), 'one 1 true\n');
  assert.equal(existsSync(program.compiled), false);
});

test('code that V8 compiled otherwise is replaced', (t) => {
  const program = newProgram(t);
  program.start({ flags: ['--no-opt'] });
  const before = readFileSync(program.kept());
  assert.equal(program.start(), 'one 1 true\n');
  assert.notDeepEqual(readFileSync(program.kept()), before);
});

test('code is kept under the flags that it is read with, whatever a race sets', (t) => {
  const program = newProgram(t);
  const race = 'require("node:v8").setFlagsFromString("--semi-space-growth-factor=1");';
  writeFileSync(join(program.directory, 'main-race.cjs'), race);
  appendFileSync(program.bundle, '\nrequire("./main-race.cjs");');
  program.start();
  const { ino } = statSync(program.kept());
  program.start();
  assert.equal(statSync(program.kept()).ino, ino);
});

test('where nothing can be kept, the helper starts all the same and leaves nothing behind', (t) => {
  const program = newProgram(t);
  writeFileSync(program.compiled, '');
  assert.equal(program.start(), 'one 1 true\n');
  rmSync(program.compiled);
  program.start();
  rmSync(program.kept());
  mkdirSync(program.kept());
  assert.equal(program.start(), 'one 1 true\n');
  assert.deepEqual(readdirSync(join(program.kept(), '..')), ['main-bundle.cjs']);
});

test('drafts of helpers that were killed while writing do not pile up', (t) => {
  const program = newProgram(t);
  program.start();
  rmSync(program.kept());
  for (const id of [1, 2]) writeFileSync(`${program.kept()}.${id}`, 'half');
  program.start();
  assert.deepEqual(readdirSync(join(program.kept(), '..')), ['main-bundle.cjs']);
});

test('an error names the bundle and where it happened, and a bundle that failed is loaded again', (t) => {
  const program = newProgram(t);
  const load =
    'try { require("./main-later.cjs"); } catch (error) { console.log(error.stack.split("\\n")[1].trim()); }';
  writeFileSync(program.bundle, `exports.hasForecast = () => true; ${load} ${load}`);
  writeFileSync(join(program.directory, 'main-later.cjs'), 'throw new Error("broken");');
  const said = program.start().trimEnd().split('\n');
  assert.equal(said.length, 2);
  for (const line of said) assert.ok(line.includes(`${join(program.directory, 'main-later.cjs')}:1:7`), line);
});

test('an older Node is refused in words, to the browser as well', (t) => {
  const { directory } = newProgram(t);
  const disguise = join(directory, 'disguise.cjs');
  writeFileSync(disguise, "Object.defineProperty(process.versions, 'node', { value: '20.20.2' });");
  const args = ['-r', disguise, join(directory, 'main.cjs')];
  const { status, stdout, stderr } = spawnSync(process.execPath, args);
  assert.equal(status, 2);
  const told = JSON.parse(stdout.subarray(4).toString());
  assert.deepEqual([stdout.readUInt32LE(), told.code], [stdout.length - 4, 'internal']);
  assert.equal(stderr.toString(), `photofinish: old-node: ${told.message}\n`);
  assert.match(
    told.message,
    /^the helper needs Node 22 or later, and .+ is 20\.20\.2; run "photofinish install"/,
  );
});
