// The command's entry: everything reaches the command, and compiled code that is damaged or cannot be kept harms nothing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
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
