// Which cells a run of p1 has, that those of a group take turns, and when a turn does not count.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import { BadUsage } from './experiment.ts';
import { type DrivenLoads, groupsOf, turnsOf } from './p1/cells.ts';
import type { LoadResult } from './p1/transports.ts';
import { faultsOf, parseOptions } from './p1.ts';

const loads: DrivenLoads[] = [
  { objectBytes: 1024, security: 'plain', driven: [100, 400] },
  { objectBytes: 35_840, security: '1.2', driven: [100] },
  { objectBytes: 35_840, security: 'plain', driven: [] },
];

test('the basic cells at every load; hit ratios and what is beyond P1 at the highest', () => {
  const sizes = (full: boolean) => groupsOf(loads, full).map((group) => group.length);
  // TCP alone, SCTP alone, race; three winners at six ratios; six candidates and a middlebox.
  assert.deepEqual(sizes(false), [3, 18 + 2, 3 + 2]);
  assert.deepEqual(sizes(true), [3, 18 + 2, 18 + 2]);
  const ids = groupsOf(loads, true)
    .flat()
    .map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(ids.includes('35k-tls1.2-100rps-half-hit80'));
});

test('every cell of a group has one turn in each round, and groups do not mix', () => {
  const groups = groupsOf(loads, false);
  const turns = turnsOf(groups, 12, seededRandom(1));
  let at = 0;
  for (const group of groups)
    for (let round = 0; round < 4; round += 1) {
      const own = turns.slice(at, at + group.length);
      assert.deepEqual(new Set(own.map(({ cell }) => cell)), new Set(group));
      assert.ok(own.every((turn) => turn.round === round));
      at += group.length;
    }
  assert.equal(at, turns.length);
  assert.deepEqual(turns, turnsOf(groups, 12, seededRandom(1)));
  assert.notDeepEqual(turns, turnsOf(groups, 12, seededRandom(2)));
});

const LOAD: LoadResult = {
  scheduled: 300,
  ended: 300,
  ok: 300,
  races: 0,
  learning: 0,
  winners: [],
  failures: {},
  establishedMs: null,
  doneMs: null,
  lateMs: { p10: 0, median: 1, p90: 2, p99: 25, max: 30 },
  wasLate: false,
  offeredPerSecond: 100,
  achievedPerSecond: 100,
  droppedPackets: 0,
};

test('a turn counts only if it kept its schedule, on a machine with time left, without failures', () => {
  assert.deepEqual(faultsOf(LOAD, 0.5), []);
  assert.deepEqual(faultsOf({ ...LOAD, ok: 297, failures: { reset: 3 } }, 0.5), []);
  assert.deepEqual(faultsOf({ ...LOAD, ok: 296, failures: { reset: 4 } }, 0.5), ['failed: 1.3 % (reset)']);
  assert.deepEqual(faultsOf({ ...LOAD, wasLate: true }, 0.02), [
    'starts late: p99 25 ms',
    'processors: 2.0 % left',
  ]);
  assert.deepEqual(faultsOf({ ...LOAD, droppedPackets: 2 }, 0.5), ['our own packets dropped: 2']);
  const astray = { transport: 'tcp', address: '2001:db8::2', ofRaces: 16, all: 16 } as const;
  assert.deepEqual(faultsOf({ ...LOAD, winners: [astray] }, 0.5), ['won by the other: 5.3 %']);
  assert.deepEqual(faultsOf({ ...LOAD, winners: [astray] }, 0.5, true), []);
  const right = { transport: 'sctp', address: '2001:db8::2', ofRaces: 300, all: 300 } as const;
  assert.deepEqual(faultsOf({ ...LOAD, winners: [right] }, 0.5), []);
  const none = { ...LOAD, scheduled: 0, ended: 0, ok: 0 };
  assert.deepEqual(faultsOf(none, 0.5), ['failed: 100.0 % (nothing was sent)']);
});

test('the command line, and every mistake in it', () => {
  const usual = parseOptions([]);
  assert.deepEqual([usual.seconds, usual.securities, usual.sctp], [60, ['plain', '1.2'], 'sctp']);
  assert.deepEqual(parseOptions(['--full']).securities, ['plain', '1.2', '1.3']);
  assert.equal(parseOptions(['--quick']).seconds, 12);
  assert.deepEqual(parseOptions(['--tls', '1.3', '--loads', '400,100']).securities, ['1.3']);
  assert.deepEqual(parseOptions(['--loads', '400,100']).loads, [100, 400]);
  for (const [line, words] of [
    ['--sctp tcp', /"tcp".*sctp-udp/],
    ['--sctp sctp,sctp-udp', /--sctp takes one name/],
    ['--tls 1.1', /"1.1".*plain/],
    ['--quick --full', /one of --quick and --full/],
    ['--loads 0', /--loads/],
  ] as const)
    assert.throws(
      () => parseOptions(line.split(' ')),
      (error) => error instanceof BadUsage && words.test(error.message),
      line,
    );
});
