// How long a comparison continues, in virtual time: while it is undecided, no longer, and within its limits. Also
// that a record stays within the bounds of its schema, whatever servers and resolvers say, and what is remembered of it.
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { message } from '@photofinish/shared/language/message';
import type { Reply } from '@photofinish/shared/port/reply';
import { MAX_WHOLE_REPLY_BYTES } from '@photofinish/shared/port/wire';
import type { DnsResults, ServiceRecord } from '@photofinish/shared/race/discovered';
import {
  type Attempt,
  type OriginRace,
  originRaceSchema,
  type Trial,
} from '@photofinish/shared/race/outcome';
import { comparePairs, type PairMs } from '@photofinish/shared/race/statistics';
import { boundedFindings, type Verdict } from '@photofinish/shared/race/verdict-schema';
import { seededRandom, TAILS, tailed } from '@photofinish/shared/testing/seeded-random';
import { leftOutText, verdictText } from '@photofinish/shared/verdict/verdict-text';
import * as v from 'valibot';
import { race as sampleRace, trial, up } from '../testing/cache-samples.ts';
import { arrange, type Overrides, race } from '../testing/race.ts';
import type { Script } from '../testing/virtual-time.ts';
import { framesOf } from '../wire/framing.ts';
import { boundedRace } from './race-record.ts';
import { decisionOf } from './remembered.ts';
import { raceOrigin } from './run.ts';

const times = (...all: number[]): Script[] => all.map((handshakeMs) => ({ handshakeMs }));
const pairsOf = ({ trials }: OriginRace): number => trials.length / 2;

async function compare(h3: Script[], h2: Script[], over: Overrides = {}): Promise<OriginRace> {
  return (await race(h3, h2, { mode: 'compare', ...over })).result;
}

test('pairs that agree end a comparison as soon as it is decided', async () => {
  const result = await compare(times(10), times(90));
  assert.equal(pairsOf(result), 7);
  assert.equal(result.summary.gainMs, 80);
  assert.deepEqual(result.summary.comparison, {
    ...{ pairs: 7, most: 15, h3Ms: 10, h2Ms: 90, h3Quicker: 7, h2Quicker: 0 },
    ...{ quicker: 'h3', lowMs: 80, highMs: 80 },
  });
  assert.equal(result.error, undefined);
  assert.match(verdictText(result.verdict), /\(80\.0 ms faster\)\.$/);
});

test('pairs that disagree continue to fifteen, and the result is undecided', async () => {
  const turns = Array.from({ length: 15 }, (_, i) => (i % 2 === 0 ? 10 : 20));
  const result = await compare(times(...turns), times(...turns.map((ms) => 30 - ms)));
  assert.equal(pairsOf(result), 15);
  assert.equal(result.summary.gainMs, null);
  assert.equal(result.summary.comparison?.quicker, null);
  assert.match(
    verdictText(result.verdict),
    /no clear difference in 15 pairs \(from HTTP\/2 10 ms faster to HTTP\/3 10 ms faster\)\.$/,
  );
});

test('a different number of pairs can be requested as the maximum', async () => {
  assert.equal(pairsOf(await compare(times(10), times(10), { pairs: 20 })), 20);
  assert.equal(pairsOf(await compare(times(10), times(10), { pairs: 4 })), 4);
  const one = await compare(times(10), times(90), { pairs: 1 });
  assert.deepEqual([pairsOf(one), one.summary.gainMs, one.summary.comparison], [1, null, undefined]);
});

test('a negligible difference decides nothing, however many pairs agree', async () => {
  const result = await compare(times(100), times(101));
  assert.deepEqual([pairsOf(result), result.summary.comparison?.quicker], [15, null]);
});

test('three incomplete pairs in a row end it: the failure is reported, not compared', async () => {
  const dead = { handshakeMs: 1, refusal: 'udp-refused' } as const;
  const none = await compare([dead], times(20));
  assert.deepEqual([pairsOf(none), none.summary.failed], [3, 3]);
  assert.equal(none.error, undefined);
  const [lost, up] = [dead, ...times(10)] as [Script, Script];
  const some = await compare([up, lost, lost, up, lost, up, up, up, up, up, up], times(20));
  assert.deepEqual([pairsOf(some), some.summary.gainMs], [11 - 1, 10], 'seven whole ones');
});

test('a comparison out of time starts no further pair, but completes its first three', async () => {
  const slow = await compare(times(500), times(500), { seriesMs: 100 });
  assert.equal(pairsOf(slow), 3);
  assert.equal(slow.error, undefined, 'nobody cancelled it');
  // A pair is 40 ms of handshakes and twice 5 ms until the answer.
  assert.equal(pairsOf(await compare(times(20), times(20), { seriesMs: 250 })), 5);
});

test('an aborted comparison is evaluated as one that might have continued', async () => {
  const abort = new AbortController();
  const { time, options } = arrange(times(10), times(20), { mode: 'compare', signal: abort.signal });
  // Six pairs of 40 ms are done, the seventh is not.
  time.clock.after(250, () => abort.abort());
  const result = await time.run(raceOrigin(options));
  assert.deepEqual([pairsOf(result), result.error?.code], [6, 'cancelled']);
  assert.deepEqual([result.summary.comparison?.most, result.summary.comparison?.quicker], [15, null]);
  const whole = await compare(times(10), times(20), { pairs: 6 });
  assert.equal(whole.summary.comparison?.quicker, 'h3', 'six of six that could not become more');
});

test('progress counts the maximum number of trials', async () => {
  const told = new Set<string>();
  await compare(times(10), times(90), { onProgress: ({ trial, trials }) => told.add(`${trial}/${trials}`) });
  assert.deepEqual([told.size, told.has('1/30'), told.has('14/30')], [14, true, true]);
});

/** The stopping rule alone, on the same times: pair after pair until it is decided. */
function ruleOver(pairsMs: readonly PairMs[]) {
  for (let made = 3; ; made += 1) {
    const result = comparePairs(pairsMs.slice(0, made), pairsMs.length);
    if (result === null) throw new Error('three pairs are compared');
    if (result.quicker !== null || made === pairsMs.length) return result;
  }
}

for (const [h3Ms, h2Ms] of [
  [40, 40],
  [40, 50],
  [300, 290],
] as const)
  test(`whole races of ${h3Ms} against ${h2Ms} ms with heavy tails give the simulated rule’s result`, async () => {
    const random = seededRandom(1000 * h3Ms + h2Ms);
    const time = (trueMs: number) => Math.round(1000 * tailed(trueMs, TAILS.heavy, random)) / 1000;
    let named = 0;
    for (let i = 0; i < 100; i += 1) {
      const pairsMs = Array.from({ length: 15 }, () => ({ h3: time(h3Ms), h2: time(h2Ms) }));
      const result = await compare(
        times(...pairsMs.map(({ h3 }) => h3)),
        times(...pairsMs.map(({ h2 }) => h2)),
        { timeoutMs: 600_000 },
      );
      const expected = ruleOver(pairsMs);
      assert.equal(result.summary.comparison?.quicker, expected.quicker);
      assert.equal(pairsOf(result), expected.pairs);
      assert.equal(result.summary.gainMs === null, expected.quicker === null);
      if (expected.quicker !== null) named += 1;
    }
    assert.ok(h3Ms === h2Ms ? named < 15 : named > 0, `${named}`);
  });

const NAME = `${'\\255'.repeat(300)}.test`;
const LONG = '😀'.repeat(30_000);

function many<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n));
}

const service = (n: number): ServiceRecord => ({
  owner: NAME,
  canonical: NAME,
  priority: 5000 - n,
  target: NAME,
  alpn: [...many(900, () => LONG), 'h3'],
  noDefaultAlpn: false,
  port: 443,
  ipv4Hints: many(900, () => '192.0.2.1'),
  ipv6Hints: many(900, () => '2001:db8::1'),
  ech: false,
  incompatible: false,
  ttlSeconds: 1,
});

const NAMES: DnsResults = {
  addresses: [
    ...many(4000, (n) => ({
      host: NAME,
      address: `192.0.2.${n % 256}`,
      source: 'a' as const,
      ttlSeconds: 1,
    })),
    { host: 'last.test', address: '192.0.2.1', source: 'a' as const, ttlSeconds: 1 },
  ],
  services: many(3000, service),
  lookups: many(4000, () => ({
    ...{ name: NAME, kind: 'A' as const, tookMs: 1, outcome: 'failed' as const, records: 0 },
    message: LONG,
  })),
};

const failed: Attempt = {
  protocol: 'h3',
  address: '192.0.2.1',
  port: 443,
  host: NAME,
  startedMs: 0,
  establishedMs: null,
  outcome: 'failed',
  error: { code: 'misdirected', message: LONG, wireCode: LONG, ignoredAltSvc: LONG },
};
const adopted: Attempt = { ...failed, establishedMs: 1, outcome: 'adopted' };

function hugeRace(): Omit<OriginRace, 'verdict'> {
  const flood: Trial = { ...trial(up('h3')), attempts: [...many(3000, () => failed), adopted] };
  return {
    ...sampleRace(many(30, () => flood)),
    discovered: { altSvc: LONG, altSvcOver: { tcp: LONG, h3: LONG }, knownRoot: null, names: NAMES },
    error: { code: 'cancelled', message: LONG },
  };
}

/** As long as a verdict can be that is made of such a record. */
const UNKNOWN: Verdict = {
  code: 'unknown',
  findings: boundedFindings(
    Array.from({ length: 200 }, () => ({
      code: 'unknown',
      ...message('verdictAlsoFails', {
        places: Array.from({ length: 200 }, () => message('placeFailed', { place: LONG, failure: LONG })),
      }),
    })),
  ),
};

test('the largest record fits schema and port, and states how much it leaves out', () => {
  const bounded = {
    ...boundedRace(hugeRace()),
    verdict: UNKNOWN,
  };
  v.parse(originRaceSchema, bounded);
  const frames = framesOf({ ...bounded, id: 1, type: 'race' } as Reply);
  assert.ok(frames.reduce((sum, { length }) => sum + length, 0) < MAX_WHOLE_REPLY_BYTES);
  assert.deepEqual(bounded.leftOut, { addresses: 3873, services: 2968, lookups: 3872, attempts: 88_110 });
  assert.deepEqual(leftOutText(bounded), [
    'Left out, because there were too many: 3,873 addresses, 2,968 HTTPS records, 3,872 DNS queries, 88,110 attempts.',
  ]);
});

test('adopted attempts, each name’s first address, the best records and known protocols are kept', () => {
  const { trials, discovered } = boundedRace(hugeRace());
  assert.ok(trials.every(({ attempts }) => attempts.some(({ outcome }) => outcome === 'adopted')));
  assert.ok(discovered.names?.addresses.some(({ host }) => host === 'last.test'));
  assert.equal(Math.min(...(discovered.names?.services ?? []).map(({ priority }) => priority)), 2001);
  assert.ok(discovered.names?.services.every(({ alpn }) => alpn.includes('h3')));
});

test('a record within the bounds is unchanged', () => {
  const small = sampleRace([trial(up('h3'))]);
  assert.deepEqual(boundedRace(small), small);
  assert.deepEqual(leftOutText(boundedRace(small)), []);
});

type Outcome = readonly [Attempt['protocol'], Attempt['outcome'], NonNullable<Attempt['error']>['code']?];

function trialWith(cacheHit: boolean, ...outcomes: Outcome[]): Trial {
  const attempts = outcomes.map(([protocol, outcome, code]): Attempt => {
    const error = code && { code, message: code };
    return {
      protocol,
      address: '::1',
      port: 443,
      startedMs: 0,
      establishedMs: null,
      outcome,
      ...(error && { error }),
    };
  });
  const adopted = attempts.find((a) => a.outcome === 'adopted')?.protocol ?? null;
  const lateH3 = attempts.some((a) => a.outcome === 'established-late');
  return { adopted, establishedMs: null, firstByteMs: null, lateH3, cacheHit, attempts };
}

const H3_FAILED = ['h3', 'failed', 'udp-timeout'] as const;
const H2_ADOPTED = ['h2', 'adopted'] as const;

test('an adopted or a late HTTP/3 gives a decision for HTTP/3', () => {
  assert.equal(decisionOf(trialWith(false, ['h3', 'adopted'], ['h2', 'cancelled'])), 'h3');
  assert.equal(decisionOf(trialWith(false, ['h3', 'established-late'], H2_ADOPTED)), 'h3');
});

test('TCP is learnt when HTTP/3 was tried and failed', () => {
  assert.equal(decisionOf(trialWith(false, H3_FAILED, H2_ADOPTED)), 'h2');
  assert.equal(decisionOf(trialWith(false, H3_FAILED, ['http/1.1', 'adopted'])), 'http/1.1');
});

test('TCP alone proves nothing about HTTP/3, unless it was itself remembered', () => {
  assert.equal(decisionOf(trialWith(false, H2_ADOPTED)), null);
  assert.equal(decisionOf(trialWith(false, ['h3', 'cancelled'], H2_ADOPTED)), null);
  assert.equal(decisionOf(trialWith(true, H2_ADOPTED)), 'h2');
  assert.equal(decisionOf(trialWith(true, ['h3', 'cancelled'], H2_ADOPTED)), null, 'HTTP/3 was remembered');
});

test('nothing adopted, or the user cancelled: nothing learnt', () => {
  assert.equal(decisionOf(trialWith(false, H3_FAILED, ['h2', 'failed', 'tcp-refused'])), null);
  assert.equal(decisionOf(trialWith(false, ['h3', 'cancelled', 'cancelled'])), null);
});

test('our own fault teaches nothing about HTTP/3', () => {
  for (const remembered of [false, true])
    assert.equal(decisionOf(trialWith(remembered, ['h3', 'failed', 'internal'], H2_ADOPTED)), null);
});

test('HTTP/3 that failed at one address and was not tried at the others is not lost', () => {
  const undecided = { ...trialWith(false, H3_FAILED, H2_ADOPTED), h3Undecided: true };
  assert.equal(decisionOf(undecided), null);
});
