// How commands run. Steps in parallel must not overwrite each other, neither on a terminal nor in a log; a program that
// hangs, leaves children behind or cannot be started must not take the test run down; and a tour on which nothing could
// be visited has nothing to report, and leaves the report of the one before.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { Origin } from '@photofinish/shared/web/origin';
import type { Session } from '../browsers/session.ts';
import { Display, figures, formatDuration, formatTable } from './display.ts';
import { tour } from './start.ts';
import { runStep } from './step-command.ts';

function recorder(isTTY: boolean) {
  const written: string[] = [];
  const out = { isTTY, columns: 30, write: (text: string | Uint8Array) => written.push(String(text)) > 0 };
  return { written, display: new Display(out) };
}

/** The final content of a terminal: a cursor-up sequence clears everything below. */
function shown(written: readonly string[]): string[] {
  const lines: string[] = [];
  for (const text of written) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what moves the cursor.
    const up = /^\u001b\[(\d+)A/.exec(text)?.[1];
    if (up !== undefined) lines.splice(lines.length - Number(up));
    const rest = stripVTControlCharacters(text).replaceAll('\r', '');
    if (rest !== '') lines.push(rest.trimEnd());
  }
  return lines.map((line) => line.replace(/\d+\.\d s.*$/, 'N'));
}

test('on a terminal, open steps stay below printed lines and finished steps', () => {
  const { written, display } = recorder(true);
  const first = display.beginStep('first');
  const second = display.beginStep('second');
  display.printLine('a remark');
  first.end(true);
  second.detail('a detail that is far longer than the terminal is wide');
  const third = display.beginStep('third');
  assert.deepEqual(shown(written), ['a remark', '  ✓ first  N', '  … second  N', '  … third  N']);
  assert.ok(written.every((text) => stripVTControlCharacters(text).trim().length < 30));
  second.end(false, 'exit code 1');
  third.end('skipped', 'no Go');
  assert.deepEqual(shown(written), ['a remark', '  ✓ first  N', '  ✗ second  N', '  – third  N']);
});

test('a log gets whole lines and no cursor movement', () => {
  const { written, display } = recorder(false);
  const first = display.beginStep('first');
  const second = display.beginStep('second');
  second.end(true, '3 passed');
  first.end(true);
  assert.match(written.join(''), /^ {2}✓ second {2}0\.0 s {2}3 passed\n {2}✓ first {2}0\.0 s\n$/);
});

test('durations use a readable unit', () => {
  assert.equal(formatDuration(0), '0 s');
  assert.equal(formatDuration(39_200), '40 s');
  assert.equal(formatDuration(12 * 60_000), '12 min');
  assert.equal(formatDuration(185 * 60_000), '3 h 5 min');
});

test('columns are as wide as their widest cell, numbers right-aligned', () => {
  const table = formatTable(
    ['origin', figures('requests')],
    [['https://both.test', '21'], ['https://a.test']],
  );
  assert.deepEqual(table.split('\n'), [
    'origin             requests',
    '─────────────────  ────────',
    'https://both.test        21',
    'https://a.test',
  ]);
});

test("a mistake in an experiment's arguments costs no build", () => {
  const args = [join(import.meta.dirname, 'programs.ts'), 'lab', 'link', '--unknown'];
  // Without a PATH no build can succeed.
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env: {}, encoding: 'utf8' });
  assert.deepEqual([status, stdout], [2, '']);
  assert.match(stderr, /--unknown/);
});

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

test('without a page that loaded there is no report, and an earlier one stays', async (t) => {
  const reportDir = mkdtempSync(join(tmpdir(), 'pf-tour-'));
  t.after(() => rmSync(reportDir, { recursive: true }));
  writeFileSync(join(reportDir, 'report.html'), 'earlier');
  const unreachable = { goto: () => Promise.reject(new Error('net::ERR_NAME_NOT_RESOLVED')), close() {} };
  const session = {
    newTab: () => Promise.resolve(unreachable),
    openPopup: () => assert.fail('nothing is exported'),
  } as unknown as Session;
  const origins = ['https://a.test' as Origin];
  assert.equal(await tour(session, origins, { local: false, headless: true, reportDir }), false);
  assert.deepEqual(readdirSync(reportDir), ['report.html']);
});
