// A run that was ended by anything goes on where it stopped, and only if the same was asked.
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Asked, beginJournal, type Head, readJournal, resumeJournal } from './journal.ts';
import type { Measured } from './measured.ts';

const ASKED: Asked = {
  seed: 1,
  seconds: 12,
  extent: 'quick',
  servers: ['caddy'],
  objects: [1024],
  loads: null,
  cells: null,
  build: 'b'.repeat(64),
};
const HEAD: Head = {
  startedAtMs: 1_700_000_000_000,
  asked: ASKED,
  loads: [
    { server: 'caddy', driven: [50, 100], notDriven: [{ perSecond: 400, why: 'starts late: p99 90 ms' }] },
  ],
};

const segment = (cell: string): Measured => ({
  cell,
  round: 0,
  samples: [],
  drive: { lateP99Ms: null, rateShare: 1, failedShare: 0, idleShare: 0.5, why: [] },
  races: { of: 0, h3: 0 },
  serverVersion: 'v1',
});

function newFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'pf-cost-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'lab', 'journal.jsonl');
}

test('what was appended is there again, without the line that was being written', async (t) => {
  const file = newFile(t);
  assert.equal(await readJournal(file), null);
  assert.equal(await resumeJournal(file, ASKED), null);
  await (await beginJournal(file, HEAD)).append(segment('a'));
  appendFileSync(file, '{"cell":"half a li');
  const resumed = await resumeJournal(file, ASKED);
  assert.deepEqual(resumed?.head, HEAD);
  await resumed?.append(segment('b'));
  const recorded = await readJournal(file);
  assert.deepEqual(recorded?.segments, [segment('a'), segment('b')]);
});

test('a run that was asked for something else begins anew and keeps the earlier one', async (t) => {
  const file = newFile(t);
  await (await beginJournal(file, HEAD)).append(segment('a'));
  const before = readFileSync(file, 'utf8');
  assert.equal(await resumeJournal(file, { ...ASKED, seconds: 60 }), null);
  assert.equal(await resumeJournal(file, { ...ASKED, build: 'c'.repeat(64) }), null);
  await beginJournal(file, { ...HEAD, startedAtMs: HEAD.startedAtMs + 1 });
  assert.deepEqual((await readJournal(file))?.segments, []);
  const [aside] = readdirSync(join(file, '..')).filter((name) => name.includes('-until-'));
  assert.equal(readFileSync(join(file, '..', aside ?? ''), 'utf8'), before);
});

test('what no run has written is refused by its line', async (t) => {
  const file = newFile(t);
  await beginJournal(file, HEAD);
  appendFileSync(file, '{"cell":7}\n');
  await assert.rejects(readJournal(file), /line 2: /);
});
