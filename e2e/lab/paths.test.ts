// Which scenarios a run of `paths` measures, how often, when that is too little to judge, what it records of a turn,
// and values that it derives from a record.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { describe, test } from 'node:test';
import type { Attempt, Trial } from '@photofinish/shared/race/outcome';
import fc from 'fast-check';
import { describeMachine } from '../bench/measure.ts';
import { scratchDirectory } from '../scratch.ts';
import { openJournal } from './journal.ts';
import { afterRefusalMs, batches, PATHS, type Scenario } from './paths/scenario.ts';
import { expectedMs, parseOptions, sessionOn, usage } from './paths.ts';
import type { ServedTestbed } from './testbed.ts';

const scenario = (name: string, usual: number): Scenario => ({
  name,
  title: `title of ${name}`,
  trials: { usual, full: 10 * usual },
  trialMs: 100,
  fixedMs: 1000,
  measure: async () => {},
});
const SCENARIOS = [scenario('black-hole', 20), scenario('refused', 30), scenario('dead', 5)];
const names = (...args: string[]) =>
  parseOptions(args, SCENARIOS).scenarios.map(({ scenario: { name } }) => name);
const trials = (...args: string[]) =>
  parseOptions(args, SCENARIOS).scenarios.map((planned) => planned.trials);

describe('the plan', () => {
  test('has all scenarios unless some are named, in their own order', () => {
    assert.deepEqual(names(), ['black-hole', 'refused', 'dead']);
    assert.deepEqual(names('--rows', 'dead,black-hole'), ['black-hole', 'dead']);
  });

  test('rejects unknown arguments', () => {
    assert.throws(() => names('--rows', 'black-hole,grey-hole'), /does not know "grey-hole"/);
    assert.throws(() => names('--row', 'dead'), /--row/);
    for (const bad of ['0', '-1', '1.5', 'ten', '100001', ''])
      assert.throws(() => trials(`--trials=${bad}`), /from 1 to 100000/);
  });

  test('makes as many trials as requested, or as each scenario needs', () => {
    assert.deepEqual(trials(), [20, 30, 5]);
    assert.deepEqual(trials('--full'), [200, 300, 50]);
    assert.deepEqual(trials('--full', '--trials', '25'), [25, 25, 25]);
  });

  test('judges no scenario on fewer trials than its default', () => {
    const tooFew = parseOptions(['--trials', '20'], SCENARIOS).scenarios.map((planned) => planned.tooFew);
    assert.deepEqual(tooFew, [undefined, '20 of 30 trials', undefined]);
  });

  test('is measured with other losses and in another order by another seed', () => {
    const seeds = [[], ['--seed', '7']].map((args) => parseOptions(args, SCENARIOS).seed);
    assert.deepEqual(seeds, [1, 7]);
    assert.throws(() => parseOptions(['--seed', '0'], SCENARIOS), /--seed takes a whole number from 1/);
  });

  test('states its duration', () => {
    assert.equal(expectedMs(parseOptions([], SCENARIOS)), 3 * 1000 + 55 * 100);
  });

  test('lists every scenario in the error for an unknown one', () => {
    for (const { name } of SCENARIOS)
      assert.match(usage(SCENARIOS), new RegExp(`^ {2}${name} +title of ${name}$`, 'm'));
  });
});

test("each turn is recorded with the link's report of its own packets", async (context) => {
  const dir = await scratchDirectory('paths-test');
  context.after(() => rm(dir, { recursive: true }));
  const { journal } = await openJournal(dir, PATHS, {
    identity: {
      machine: describeMachine({}),
      seed: 1,
      commit: null,
      build: '',
      asked: { full: false, rows: [] },
    },
    startedAtMs: 0,
    fresh: false,
    find: async () => ({}),
  });
  let delivered = 0;
  const report = async () => {
    const none = { lost: 0, overflowed: 0, oversized: 0, lateUs: null, shortestUs: null };
    const both = { delivered, ...none };
    delivered = 0;
    return { up: both, down: both };
  };
  const testbed = { server: { report }, caddy: {} } as unknown as ServedTestbed;
  const session = sessionOn(testbed, journal);
  const client = { name: 'h2', title: 'HTTP/2', kind: 'ours' } as const;
  for (const [turn, packets] of [3, 5].entries()) {
    // Of a lesson before the turn.
    delivered += 100;
    await session.record({ scenario: 'black-hole', turn }, client, async () => {
      delivered += packets;
      return [];
    });
  }
  const links = journal.turns.map((line) => (line.kind === 'turn' ? line.link?.up.delivered : undefined));
  assert.deepEqual(links, [3, 5]);
});

test('batches cover all trials, none is empty or too large, and they are nearly equal', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: 50 }), (count, most) => {
      const sizes = batches(count, most);
      assert.equal(
        sizes.reduce((sum, size) => sum + size, 0),
        count,
      );
      assert.ok(Math.max(...sizes) <= most);
      assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1);
      assert.ok(Math.min(...sizes) >= 1);
    }),
  );
});

const WHERE = { address: '10.77.1.2', port: 443 };

function refusedTrial(quicMs: number, tcpMs: number, roundTripMs: number): Trial {
  const quic: Attempt = {
    ...WHERE,
    protocol: 'h3',
    startedMs: quicMs,
    establishedMs: null,
    outcome: 'failed',
    error: { code: 'udp-refused', message: 'refused' },
  };
  const tcp: Attempt = {
    ...WHERE,
    protocol: 'h2',
    startedMs: tcpMs,
    transportMs: tcpMs + roundTripMs,
    establishedMs: tcpMs + 2 * roundTripMs,
    outcome: 'adopted',
  };
  const establishedMs = tcp.establishedMs;
  const end = { establishedMs, firstByteMs: null, lateH3: false, cacheHit: false };
  return { adopted: 'h2', ...end, attempts: [quic, tcp] };
}

describe('from the refusal to the start of TCP', () => {
  const times = fc.integer({ min: 0, max: 10_000 });

  test('is the time TCP waited beyond a round trip', () => {
    fc.assert(
      fc.property(times, times, times, (quicMs, waitedMs, roundTripMs) => {
        const trial = refusedTrial(quicMs, quicMs + roundTripMs + waitedMs, roundTripMs);
        assert.equal(afterRefusalMs(trial), waitedMs);
      }),
    );
  });

  test('is negative if the start delay ended first', () => {
    assert.equal(afterRefusalMs(refusedTrial(0, 10, 50)), -40);
  });

  test('is undefined if HTTP/3 was not refused', () => {
    const trial = refusedTrial(0, 50, 50);
    const [quic, tcp] = trial.attempts as [Attempt, Attempt];
    const lost: Attempt = { ...quic, error: { code: 'udp-timeout', message: 'silence' } };
    assert.throws(() => afterRefusalMs({ ...trial, attempts: [lost, tcp] }), /not refused: udp-timeout/);
    assert.throws(() => afterRefusalMs({ ...trial, attempts: [tcp] }), /no attempt over h3/);
  });

  test('is undefined if TCP was not connected', () => {
    const trial = refusedTrial(0, 50, 50);
    const [quic, tcp] = trial.attempts as [Attempt, Attempt];
    const silent: Attempt = { ...tcp, transportMs: null };
    assert.throws(() => afterRefusalMs({ ...trial, attempts: [quic, silent] }), /TCP was not connected/);
  });
});
