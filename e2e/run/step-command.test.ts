// Commands that hang, leave children behind or cannot be started must not take the test run down.
import assert from 'node:assert/strict';
import { getPriority } from 'node:os';
import test from 'node:test';
import { runStep } from './step-command.ts';

const shell = (script: string) => ({ file: 'sh', args: ['-c', script] });

test('output of both streams is kept, and every line is passed on', async () => {
  const lines: string[] = [];
  const ended = await runStep('speaks', {
    ...shell('echo one; echo two >&2; printf three'),
    onLine: (line) => {
      lines.push(line);
      return null;
    },
  });
  assert.equal(ended.ok, true);
  assert.deepEqual(lines.toSorted(), ['one', 'three', 'two']);
  for (const word of ['one', 'two', 'three']) assert.match(ended.output, new RegExp(word));
});

test('the exit code is passed on; death by signal and a missing program have one too', async () => {
  assert.equal((await runStep('fails', shell('exit 7'))).code, 7);
  assert.equal((await runStep('dies', shell('kill -9 $$'))).code, 137);
  const missing = await runStep('missing', { file: 'photofinish-no-such-program', args: [] });
  assert.equal(missing.code, 127);
  assert.match(missing.output, /ENOENT/);
});

test('a hung command is killed together with its children', async () => {
  const ended = await runStep('hangs', { ...shell('echo begun; sleep 600 & wait'), silenceLimitMs: 2000 });
  assert.equal(ended.ok, false);
  assert.match(ended.output, /begun[\s\S]*stopped after 2\.0 s without output/);
});

test('a command with lower priority passes it on to its children', async () => {
  const { output } = await runStep('stands back', { ...shell('sleep 0.2; nice; sh -c nice'), nice: 7 });
  const own = getPriority();
  assert.deepEqual(output.trim().split('\n'), [String(Math.max(own, 7)), String(Math.max(own, 7))]);
});
