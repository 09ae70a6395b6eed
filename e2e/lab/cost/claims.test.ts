// P1's claims at their edges, on samples whose costs are known.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type GoalRow, goalCells } from '../results/goal-row.ts';
import { BASIC, cellOf, HIT_SHARES, type Way, WINNERS } from './cells.ts';
import { costGoals } from './claims.ts';
import type { Sample } from './measured.ts';
import type { CellSummary } from './summary.ts';

const NOTHING = { userMs: 0, systemMs: 0 };

function sampleOf(costMs: number, pssBytes: number): Sample {
  return {
    seconds: 3,
    requests: 100,
    server: { userMs: 70 * costMs, systemMs: 30 * costMs },
    client: NOTHING,
    link: NOTHING,
    idleMs: 1,
    busyMs: 1,
    serverMemory: { rssBytes: pssBytes, pssBytes },
    clientMemory: null,
    serverSockets: null,
    clientSockets: null,
    bufferBytes: null,
    slabBytes: null,
  };
}

function measured(
  way: Way,
  costMs: number,
  { perSecond = 100, pssBytes = 100, postQuantum = true } = {},
): CellSummary {
  const rttMs = way.kind === 'near' ? 0 : 20;
  return {
    cell: cellOf({ server: 'caddy', objectBytes: 1024, perSecond, rttMs, postQuantum, way }),
    samples: Array.from({ length: 4 }, () => sampleOf(costMs, pssBytes)),
    driven: { segments: 1, of: 1 },
    why: [],
    lateP99Ms: 1,
    idleShare: 0.5,
    races: { of: 0, h3: 0 },
  };
}

function rowOf(summaries: readonly CellSummary[], words: RegExp, tooFew?: string): GoalRow {
  const rows = costGoals(summaries, { seed: 1, tooFew }).filter(({ name }) => words.test(name));
  assert.equal(rows.length, 1, `${words} matches ${rows.length} rows`);
  return rows[0] as GoalRow;
}

test('the naive race is set against the dearer protocol, at the highest load, and only reported', () => {
  const summaries = [
    measured(BASIC.h2, 1),
    measured(BASIC.h3, 2),
    measured(BASIC.naive, 2.5),
    measured(BASIC.naive, 9, { perSecond: 50 }),
  ];
  const row = rowOf(summaries, /^naive above the dearer protocol, Caddy, 1 KiB$/);
  assert.equal(row.measured?.value, 25);
  assert.equal(row.verdict, 'reported');
  assert.equal(row.note, "P1's claim does not hold; dearer: HTTP/3");
  assert.match(row.anchor, /13 %/);
});

test('rows of a classical key exchange are there where they were measured', () => {
  const classical = Object.values(BASIC).map((way) => measured(way, 1, { postQuantum: false }));
  assert.equal(rowOf(classical, /classical key exchange/).measured?.value, 0);
  const names = costGoals([measured(BASIC.h2, 1)], { seed: 1 }).map(({ name }) => name);
  assert.ok(names.every((name) => !name.includes('classical')));
});

test('the second TLS handshake is what TLS costs above TCP, and is taken from the extra', () => {
  const summaries = [
    measured(BASIC.h2, 1),
    measured(BASIC.h3, 2),
    measured(BASIC.naive, 2.75),
    measured({ kind: 'part', part: 'tcp' }, 0.25),
    measured({ kind: 'part', part: 'tls' }, 0.75),
  ];
  assert.equal(rowOf(summaries, /^a TLS handshake over TCP/).measured?.value, 0.5);
  const without = rowOf(summaries, /^naive without a second TLS handshake/);
  assert.ok(Math.abs((without.measured?.value ?? 0) - 12.5) < 1e-9);
  assert.deepEqual([without.verdict, without.note], ['reported', "P1's claim holds"]);
});

for (const [cost, verdict] of [
  [1.0499, 'holds, whole interval'],
  [1.0501, 'MISSED'],
] as const)
  test(`race at round trip 0, ${cost} times HTTP/3 alone: ${verdict}`, () => {
    const summaries = [
      measured({ kind: 'near', mode: 'race' }, cost),
      measured({ kind: 'near', mode: 'h3' }, 1),
    ];
    const row = rowOf(summaries, /^race \(10 ms\) at round trip 0/);
    assert.equal(row.goal?.value, 5);
    assert.equal(row.verdict, verdict);
  });

test('memory: below 8 % above HTTP/2, below HTTP/3', () => {
  const of = (naive: number) => [
    measured(BASIC.h2, 1, { pssBytes: 100 }),
    measured(BASIC.h3, 1, { pssBytes: 120 }),
    measured(BASIC.naive, 1, { pssBytes: naive }),
  ];
  assert.equal(rowOf(of(107), /^naive above HTTP\/2 alone/).note, "P1's claim holds");
  assert.equal(rowOf(of(109), /^naive above HTTP\/2 alone/).note, "P1's claim does not hold");
  assert.equal(rowOf(of(107), /^naive above HTTP\/3 alone/).note, "P1's claim holds");
  assert.equal(rowOf(of(121), /^naive above HTTP\/3 alone/).note, "P1's claim does not hold");
});

const sweep = (costAt: (hitShare: number) => number) =>
  WINNERS.flatMap((winner) =>
    HIT_SHARES.map((hitShare) => measured({ kind: 'cached', winner, hitShare }, costAt(hitShare))),
  );

test('a straight sweep holds for all three winners; one bent at 80 % does not', () => {
  const rows = (costAt: (hitShare: number) => number) =>
    costGoals(sweep(costAt), { seed: 1 }).filter(({ name }) => /^(80 % cell|R²)/.test(name));
  const straight = rows((share) => 2 - share);
  assert.equal(straight.length, 6);
  for (const { verdict } of straight) assert.equal(verdict, 'holds, whole interval');
  for (const row of rows((share) => (share === 0.8 ? 1.8 : 2 - share))) assert.equal(row.verdict, 'MISSED');
});

test('short runs are not judged, and cells without samples not measured; both say so', () => {
  const short = rowOf(
    sweep((share) => 2 - share),
    /^R², HTTP\/2 wins/,
    '12 of 60 seconds a cell',
  );
  assert.equal(short.verdict, 'not judged');
  assert.equal(short.trend, 'holds');
  const none = rowOf([{ ...measured(BASIC.h2, 1), samples: [] }], /^R², half and half/);
  assert.equal(none.verdict, 'not measured');
  assert.match(goalCells(none).join(' '), /no driven segments/);
});
