// The goals of a run at their edges: how many misses, how few trials, and with whom there is nothing to compare.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AdoptionRun, Cell, ContestantInfo } from '../adoption/run.ts';
import type { Absent } from '../contestant.ts';
import type { LabTrial } from '../trial.ts';
import { derive } from './figures.ts';
import type { GoalRow } from './goal-row.ts';
import { adoptionGoals } from './goals.ts';

interface Manner {
  readonly misses?: number;
  readonly ms?: number;
  readonly trials?: number;
  readonly failed?: number;
  readonly brokeOff?: boolean;
}

const info = (name: string): ContestantInfo => ({
  name,
  title: name,
  kind: name.startsWith('go') ? 'peer' : 'ours',
  versions: {},
});

function trialsOf({ misses = 0, ms = 51, trials = 1000, failed = 0 }: Manner): LabTrial[] {
  return Array.from({ length: trials }, (_, index): LabTrial => {
    if (index < failed) return { adopted: null, establishedMs: null, firstByteMs: null };
    return { adopted: index < failed + misses ? 'h2' : 'h3', establishedMs: ms, firstByteMs: ms + 1 };
  });
}

interface Asked {
  readonly cell?: Cell;
  readonly full?: boolean;
  readonly absent?: readonly Absent[];
}

const DELAY_50: Cell = { id: 'delay-50', delayMs: 50, loss: 0 };
const LOSS_10: Cell = { id: 'loss-10', delayMs: 0, loss: 0.1 };

function goalsOf(
  manners: Readonly<Record<string, Manner>>,
  { cell = DELAY_50, full = true, absent = [] }: Asked = {},
) {
  const run: AdoptionRun = {
    startedAtMs: 0,
    endedAtMs: 1,
    seed: 1,
    trials: { ours: 1000, peer: 1000, browser: 30 },
    full,
    contestants: Object.keys(manners).map(info),
    absent,
    cells: [
      {
        cell,
        trials: Object.fromEntries(Object.entries(manners).map(([name, manner]) => [name, trialsOf(manner)])),
        link: [],
        crashed: Object.fromEntries(
          Object.entries(manners).flatMap(([name, { brokeOff }]) => (brokeOff ? [[name, 'killed']] : [])),
        ),
      },
    ],
  };
  return adoptionGoals(derive(run));
}

function rowOf(rows: readonly GoalRow[], group: RegExp, name: string): GoalRow {
  const row = rows.find((each) => group.test(each.group) && each.name.startsWith(`${name}, `));
  assert.ok(row, `there is no goal of ${name} in ${group}`);
  return row;
}

describe('adoption by delay', () => {
  const verdict = (misses: number) => rowOf(goalsOf({ race: { misses } }), /^Misses.*delay/, 'race');

  test('three misses in 1000 hold, and as many more as the interval allows', () => {
    assert.equal(verdict(0).verdict, 'holds');
    assert.match(verdict(0).note ?? '', /at most 3 by the rule of three/);
    assert.equal(verdict(3).verdict, 'holds');
    // Wilson's lower end: 2.94 in 1000 for 7, 3.48 for 8.
    assert.equal(verdict(6).verdict, 'holds');
    assert.equal(verdict(9).verdict, 'MISSED');
  });

  test('the interval brackets the misses', () => {
    const { measured } = verdict(3);
    assert.ok(measured && Math.abs(measured.value - 3) < 1e-9 && measured.low < 3 && measured.high > 3);
  });

  test('failed trials are misses', () => {
    const row = rowOf(goalsOf({ race: { failed: 9 } }), /^Misses.*delay/, 'race');
    assert.equal(row.verdict, 'MISSED');
  });

  test('fewer trials, or a run that was not asked to be judged, give a trend', () => {
    const few = rowOf(goalsOf({ race: { trials: 999 } }), /^Misses.*delay/, 'race');
    assert.equal(few.verdict, 'not judged');
    assert.equal(few.reason, '999 of 1000 trials');
    const other = rowOf(goalsOf({ race: {} }, { full: false }), /^Misses.*delay/, 'race');
    assert.equal(other.reason, 'not a --full run');
    const one = rowOf(goalsOf({ race: { trials: 1 } }), /^Misses.*delay/, 'race');
    assert.equal(one.trend, 'holds');
  });
});

describe('time to established by delay', () => {
  const verdict = (ms: number) => rowOf(goalsOf({ race: { ms } }), /^Mean time.*by delay/, 'race').verdict;
  test('is judged over the delay', () => {
    assert.equal(verdict(52), 'holds, whole interval');
    assert.equal(verdict(52.01), 'MISSED');
  });

  test('all trials failing is a miss, not a hole', () => {
    const row = rowOf(goalsOf({ race: { failed: 1000 } }), /^Mean time.*by delay/, 'race');
    assert.equal(row.measured?.value, 30_000 - 50);
    assert.equal(row.verdict, 'MISSED');
  });
});

describe('race against Alt-Svc', () => {
  const cell = { id: 'delay-200', delayMs: 200, loss: 0 };
  const rows = (ms: number) => goalsOf({ race: { ms }, 'alt-svc': { ms: 400 } }, { cell });
  const verdict = (ms: number) => rowOf(rows(ms), /over Alt-Svc/, 'race over alt-svc').verdict;

  test('is judged at 200 ms, at most 0.505', () => {
    assert.equal(verdict(202), 'holds, whole interval');
    assert.equal(verdict(202.1), 'MISSED');
  });

  test('is not asked at other delays', () => {
    const others = goalsOf({ race: {}, 'alt-svc': {} });
    assert.ok(!others.some(({ group }) => /over Alt-Svc/.test(group)));
  });
});

describe('adoption by loss', () => {
  const rows = (known: number, go: number) =>
    goalsOf(
      { race: { misses: 60 }, 'race-known': { misses: known }, 'go-race': { misses: go } },
      { cell: LOSS_10 },
    );
  const known = (own: number, go: number) => rowOf(rows(own, go), /^Misses.*loss/, 'race-known');

  test('a known host may have half of the misses of the Go client', () => {
    assert.equal(known(40, 80).verdict, 'holds');
    assert.equal(known(10, 80).verdict, 'holds, whole interval');
    assert.equal(known(80, 80).verdict, 'MISSED');
  });

  test('without a miss of ours the bound is said', () => {
    const row = known(0, 80);
    assert.equal(row.verdict, 'holds, whole interval');
    assert.match(row.note ?? '', /at most 0.3 % by the rule of three/);
  });

  test('without any miss there is no ratio, and nothing is missed', () => {
    const row = known(0, 0);
    assert.equal(row.verdict, 'holds');
    assert.match(row.note ?? '', /no ratio/);
  });

  test('misses where the Go client has none are no success', () => {
    assert.equal(known(30, 0).verdict, 'MISSED');
  });

  test('first contact stands beside it, reported', () => {
    const row = rowOf(rows(10, 80), /^Misses.*loss/, 'race');
    assert.equal(row.verdict, 'reported');
    assert.equal(row.measured?.value, 0.75);
  });
});

describe('mean by loss', () => {
  const rows = (ms: number) =>
    goalsOf({ race: { ms }, 'race-known': { ms }, 'go-race': { ms: 20 } }, { cell: LOSS_10 });

  test('a race may be as slow as the Go client, a known host has to be faster', () => {
    assert.equal(
      rowOf(rows(20), /^Mean time to established by loss/, 'race').verdict,
      'holds, whole interval',
    );
    assert.equal(rowOf(rows(20), /^Mean time to established by loss/, 'race-known').verdict, 'MISSED');
    assert.equal(
      rowOf(rows(19), /^Mean time to established by loss/, 'race-known').verdict,
      'holds, whole interval',
    );
  });

  test('first byte is compared with first response on lines of its own', () => {
    const row = rowOf(rows(20), /^Mean time to first byte/, 'race');
    assert.equal(row.measured?.value, 1);
  });

  test('an absent Go client is named with the reason, and nothing is judged against it', () => {
    const absent: Absent[] = [{ name: 'go-race', title: 'Go client', kind: 'peer', why: 'there is no Go' }];
    const without = goalsOf({ race: {}, 'race-known': {} }, { cell: LOSS_10, absent });
    const against = without.filter(({ group }) => /Go client's/.test(group));
    assert.equal(against.length, 6);
    for (const row of against) {
      assert.equal(row.verdict, 'not measured');
      assert.match(row.note ?? '', /Go client: there is no Go/);
    }
  });
});

describe('who broke off', () => {
  const broken = { race: {}, 'race-known': {}, 'go-race': { brokeOff: true } };

  test('is judged in no goal, however many trials it had made', () => {
    const row = rowOf(goalsOf({ race: { brokeOff: true } }), /^Misses.*delay/, 'race');
    assert.equal(row.verdict, 'not judged');
    assert.equal(row.reason, 'race broke off after 1000 trials');
    assert.equal(row.trend, 'holds');
  });

  test('leaves nothing to be judged against, and is named where there is no goal either', () => {
    const rows = goalsOf(broken, { cell: LOSS_10 });
    const known = rowOf(rows, /^Misses.*loss/, 'race-known');
    assert.equal(known.reason, 'go-race broke off after 1000 trials');
    const first = rowOf(rows, /^Misses.*loss/, 'race');
    assert.equal(first.verdict, 'reported');
    assert.match(first.note ?? '', /go-race broke off after 1000 trials$/);
  });

  test('is no anchor of a goal that it takes no part in', () => {
    const row = rowOf(goalsOf(broken), /^Mean time.*by delay/, 'race');
    assert.doesNotMatch(row.anchor, /go-race/);
    assert.match(
      rowOf(goalsOf({ ...broken, 'go-race': {} }), /^Mean time.*by delay/, 'race').anchor,
      /go-race/,
    );
  });
});
