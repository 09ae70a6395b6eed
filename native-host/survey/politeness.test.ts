// The promise to the networks of a survey, on virtual time: whatever is asked, by however many workers, however often
// they are started again, no network gets more than its budget, and no address two races of a worker at once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Answer,
  FIRST_BACK_OFF_MS,
  LONGEST_BACK_OFF_MS,
  type Permit,
  Politeness,
  type PolitenessLimits,
  REFUSALS_BEFORE_BACK_OFF,
} from './politeness.ts';

const LIMITS: PolitenessLimits = { perNetworkPerSecond: 2, totalPerSecond: 0, workers: 1, paused: false };
const A = '192.0.2.1';
const SAME_NETWORK = '192.0.2.200';
const ELSEWHERE = '198.51.100.1';

function begun(answer: Answer): Permit {
  assert.ok(answer.ok, JSON.stringify(answer));
  return answer;
}

function refused(answer: Answer): readonly [string, number | null] {
  assert.ok(!answer.ok, 'permitted');
  return [answer.reason, answer.againMs];
}

test('a network has no token before the worker has run for one interval, then one an interval', () => {
  const polite = new Politeness(LIMITS, 1000);
  assert.deepEqual(refused(polite.ask([A], 1000)), ['network-budget', 1500]);
  assert.deepEqual(refused(polite.ask([A], 1499)), ['network-budget', 1500]);
  begun(polite.ask([A], 1500)).end(false, 1510);
  assert.deepEqual(refused(polite.ask([SAME_NETWORK], 1600)), ['network-budget', 2000]);
  begun(polite.ask([ELSEWHERE], 1600));
  // Tokens are not saved up.
  begun(polite.ask([A], 60_000)).end(false, 60_010);
  assert.deepEqual(refused(polite.ask([A], 60_020)), ['network-budget', 60_500]);
});

test('one race at a time for an address, however it is written and whatever the budget', () => {
  const polite = new Politeness(LIMITS, 0);
  const race = begun(polite.ask(['2001:db8::1', A], 1000));
  for (const same of ['2001:DB8:0:0::1', '2001:db8::0.0.0.1', '2001:db8::1%eth0', A])
    assert.deepEqual(refused(polite.ask([same], 9000)), ['address-busy', null]);
  begun(polite.ask(['2001:db8::2'], 9000));
  race.end(false, 9000);
  begun(polite.ask([A], 9000));
  // A race ends once: its second end is not that of the next race.
  race.end(false, 9100);
  assert.deepEqual(refused(polite.ask([A], 9900)), ['address-busy', null]);
});

test('a race takes a token of each network of its addresses, and only if all have one', () => {
  const polite = new Politeness(LIMITS, 0);
  begun(polite.ask([A, SAME_NETWORK, '2001:db8:1::1', '2001:db8:1:ffff::1'], 1000)).end(false, 1000);
  begun(polite.ask([ELSEWHERE], 1200)).end(false, 1200);
  assert.deepEqual(refused(polite.ask(['2001:db8:1:2::9'], 1499)), ['network-budget', 1500]);
  assert.deepEqual(refused(polite.ask([ELSEWHERE, '2001:db8:2::1'], 1500)), ['network-budget', 1700]);
  begun(polite.ask(['2001:db8:2::1'], 1500));
});

test('an IPv4 address behind the well-known NAT64 prefix counts as itself, not as the prefix', () => {
  const polite = new Politeness(LIMITS, 0);
  begun(polite.ask(['64:ff9b::192.0.2.1'], 1000)).end(false, 1000);
  begun(polite.ask(['64:ff9b::198.51.100.1'], 1000));
  assert.deepEqual(refused(polite.ask([SAME_NETWORK], 1000)), ['network-budget', 1500]);
});

test('the total rate counts every race, also those without an address', () => {
  const polite = new Politeness({ ...LIMITS, totalPerSecond: 4 }, 0);
  assert.deepEqual(refused(polite.ask([], 0)), ['total-budget', 250]);
  begun(polite.ask([A], 1000));
  assert.deepEqual(refused(polite.ask([ELSEWHERE], 1000)), ['total-budget', 1250]);
  begun(polite.ask([], 1250));
  assert.deepEqual(refused(polite.ask([ELSEWHERE], 1250)), ['total-budget', 1500]);
});

test('the budget is divided by the workers announced', () => {
  const polite = new Politeness({ ...LIMITS, totalPerSecond: 10, workers: 5 }, 0);
  assert.deepEqual(refused(polite.ask([A], 0)), ['network-budget', 2500]);
  begun(polite.ask([A], 2500)).end(false, 2500);
  assert.deepEqual(refused(polite.ask([], 2500)), ['total-budget', 3000]);
  assert.deepEqual(refused(polite.ask([A], 2500)), ['network-budget', 5000]);
});

test('changed limits are in force at once', () => {
  const polite = new Politeness(LIMITS, 0);
  begun(polite.ask([A], 1000)).end(false, 1000);
  polite.setLimits({ ...LIMITS, workers: 4 }, 1250);
  // Half a token arrived at 2 a second; the other half takes a second at 0.5.
  assert.deepEqual(refused(polite.ask([A], 1250)), ['network-budget', 2250]);
  polite.setLimits({ ...LIMITS, paused: true }, 1300);
  assert.deepEqual(refused(polite.ask([ELSEWHERE], 5000)), ['paused', null]);
  polite.setLimits({ ...LIMITS, totalPerSecond: 1 }, 6000);
  assert.deepEqual(refused(polite.ask([ELSEWHERE], 6000)), ['total-budget', 7000]);
  polite.setLimits(LIMITS, 6000);
  begun(polite.ask([ELSEWHERE], 6000));
});

test('impossible limits are refused', () => {
  for (const wrong of [
    { workers: 0 },
    { perNetworkPerSecond: 0 },
    { totalPerSecond: -1 },
    { perNetworkPerSecond: Number.POSITIVE_INFINITY },
    { workers: Number.NaN },
  ])
    assert.throws(() => new Politeness({ ...LIMITS, ...wrong }, 0), RangeError);
});

/** One refused race as soon as it may begin; returns when it began. */
function refuseOnce(polite: Politeness, nowMs: number): number {
  const answer = polite.ask([A], nowMs);
  if (!answer.ok) {
    assert.ok(answer.againMs !== null && answer.againMs > nowMs);
    return refuseOnce(polite, answer.againMs);
  }
  answer.end(true, nowMs);
  return nowMs;
}

test('after ten refusals in a row a network is left alone for a minute, then twice as long up to an hour', () => {
  const polite = new Politeness(LIMITS, 0);
  let atMs = 0;
  for (let count = 0; count < REFUSALS_BEFORE_BACK_OFF; count += 1) atMs = refuseOnce(polite, atMs);
  assert.equal(atMs, 500 * REFUSALS_BEFORE_BACK_OFF);
  const pauses: number[] = [];
  for (let count = 0; count < 8; count += 1) {
    const [reason] = refused(polite.ask([SAME_NETWORK, ELSEWHERE], atMs));
    assert.equal(reason, 'backing-off');
    const nextMs = refuseOnce(polite, atMs);
    pauses.push(nextMs - atMs);
    atMs = nextMs;
  }
  const expected = [1, 2, 4, 8, 16, 32, 60, 60].map((minutes) => minutes * FIRST_BACK_OFF_MS);
  assert.deepEqual(pauses, expected);
  assert.equal(pauses.at(-1), LONGEST_BACK_OFF_MS);
  // A success forgets all of it.
  atMs += LONGEST_BACK_OFF_MS;
  begun(polite.ask([A], atMs)).end(false, atMs);
  for (let count = 0; count < REFUSALS_BEFORE_BACK_OFF; count += 1) {
    const nextMs = refuseOnce(polite, atMs);
    assert.equal(nextMs, atMs + 500);
    atMs = nextMs;
  }
  assert.equal(refuseOnce(polite, atMs), atMs + FIRST_BACK_OFF_MS);
});

test('a success in between means that the refusals are not in a row', () => {
  const polite = new Politeness(LIMITS, 0);
  let atMs = 0;
  for (let count = 1; count < 5 * REFUSALS_BEFORE_BACK_OFF; count += 1) {
    atMs += 500;
    begun(polite.ask([A], atMs)).end(count % REFUSALS_BEFORE_BACK_OFF !== 0, atMs);
  }
});

test('a race that was ended says nothing about its network', () => {
  const polite = new Politeness(LIMITS, 0);
  let atMs = 0;
  for (let count = 1; count < REFUSALS_BEFORE_BACK_OFF; count += 1) atMs = refuseOnce(polite, atMs);
  begun(polite.ask([A], atMs + 500)).end(null, atMs + 500);
  atMs = refuseOnce(polite, atMs + 1000);
  assert.deepEqual(refused(polite.ask([A], atMs)), ['backing-off', atMs + FIRST_BACK_OFF_MS]);
});

test('races that were under way when a network was given up do not lengthen its back-off', () => {
  const polite = new Politeness(LIMITS, 0);
  const races = Array.from({ length: REFUSALS_BEFORE_BACK_OFF + 5 }, (_, index) =>
    begun(polite.ask([`192.0.2.${index}`], 500 * (index + 1))),
  );
  for (const race of races) race.end(true, 100_000);
  assert.deepEqual(refused(polite.ask([A], 100_000)), ['backing-off', 100_000 + FIRST_BACK_OFF_MS]);
});

/** An address in a /24 of its own. */
function addressIn(index: number): string {
  return `${10 + (index >> 16)}.${(index >> 8) & 0xff}.${index & 0xff}.1`;
}

test('networks that would be treated like new ones are forgotten, others are not', () => {
  const polite = new Politeness(LIMITS, 0);
  let atMs = 0;
  for (let count = 0; count < REFUSALS_BEFORE_BACK_OFF; count += 1) atMs = refuseOnce(polite, atMs);
  const long = begun(polite.ask([ELSEWHERE], atMs));
  for (let index = 0; index < 100_000; index += 1) {
    atMs += 1;
    begun(polite.ask([addressIn(index)], atMs)).end(false, atMs);
    assert.ok(polite.networks < 12_000, `${polite.networks} remembered`);
  }
  assert.equal(refused(polite.ask([ELSEWHERE], atMs))[0], 'address-busy');
  long.end(false, atMs);
  // The back-off of a minute is over, but the next would be two.
  refuseOnce(polite, atMs);
  assert.deepEqual(refused(polite.ask([A], atMs)), ['backing-off', atMs + 2 * FIRST_BACK_OFF_MS]);
});

test('refusals of long races count as well', () => {
  const polite = new Politeness(LIMITS, 0);
  let atMs = 0;
  for (let count = 0; count < REFUSALS_BEFORE_BACK_OFF; count += 1) {
    atMs += 60_000;
    const race = begun(polite.ask([A], atMs));
    begun(polite.ask([ELSEWHERE], atMs + 30_000)).end(false, atMs + 30_000);
    race.end(true, atMs + 30_000);
  }
  assert.equal(refused(polite.ask([A], atMs + 40_000))[0], 'backing-off');
});

test('a network whose token takes longer than networks are kept is not forgotten', () => {
  const polite = new Politeness({ ...LIMITS, workers: 100 }, 0);
  begun(polite.ask([A], 50_000)).end(false, 50_000);
  for (let atMs = 51_000; atMs < 100_000; atMs += 1000)
    assert.deepEqual(refused(polite.ask([A], atMs)), ['network-budget', 100_000]);
  begun(polite.ask([A], 100_000));
});

test('when as many networks are remembered as may be, new ones wait until some are forgotten', () => {
  const polite = new Politeness({ ...LIMITS, perNetworkPerSecond: 0.01 }, 0);
  const atMs = 100_000;
  begun(polite.ask([], atMs));
  for (let index = 0; index < 262_144; index += 1) begun(polite.ask([addressIn(index)], atMs));
  const [reason, againMs] = refused(polite.ask(['2001:db8::1'], atMs));
  assert.deepEqual([reason, againMs], ['many-networks', atMs + 10_000]);
});

/** One step of a survey: time passes, then a worker asks, ends a race, or is killed and started again. */
const step = fc.record({
  afterMs: fc.integer({ min: 0, max: 400 }),
  worker: fc.nat(),
  act: fc.constantFrom('ask', 'ask', 'ask', 'ask', 'end', 'restart', 'limits'),
  addresses: fc.uniqueArray(fc.constantFrom(A, SAME_NETWORK, ELSEWHERE, '2001:db8::1', '2001:db8:0:1::1'), {
    minLength: 1,
    maxLength: 3,
  }),
  rate: fc.constantFrom(0.5, 2, 7),
  refused: fc.boolean(),
});

const NETWORK_OF = new Map([
  [A, 'v4'],
  [SAME_NETWORK, 'v4'],
  [ELSEWHERE, 'other'],
  ['2001:db8::1', 'v6'],
  ['2001:db8:0:1::1', 'v6'],
]);

interface RaceStart {
  readonly atMs: number;
  /** Races allowed since the beginning, by the rates so far. */
  readonly allowed: number;
}

/** In every window of T seconds at most workers + rate x T; with changing rates their integral. */
function assertWithin(races: readonly RaceStart[], workers: number): void {
  for (const [first, from] of races.entries())
    for (const [more, to] of races.slice(first).entries())
      assert.ok(
        more + 1 <= workers + (to.allowed - from.allowed) + 1e-6,
        `${more + 1} races from ${from.atMs} to ${to.atMs} ms`,
      );
}

test('whatever is asked, and whoever is started again: workers + rate x T in T seconds, one at a time for an address', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.array(step, { minLength: 50, maxLength: 400 }),
      (workers, steps) => {
        let limits = { ...LIMITS, workers };
        let nowMs = 5000;
        let allowed = 0;
        const fleet = Array.from({ length: workers }, () => ({
          polite: new Politeness(limits, nowMs),
          races: [] as { permit: Permit; addresses: readonly string[] }[],
        }));
        const byNetwork = new Map<string | undefined, RaceStart[]>();
        for (const { afterMs, worker, act, addresses, rate, refused: nothing } of steps) {
          nowMs += afterMs;
          allowed += (afterMs / 1000) * limits.perNetworkPerSecond;
          const member = fleet[worker % workers];
          assert.ok(member);
          if (act === 'end') member.races.shift()?.permit.end(nothing, nowMs);
          if (act === 'restart') {
            member.polite = new Politeness(limits, nowMs);
            member.races = [];
          }
          if (act === 'limits') {
            limits = { ...limits, perNetworkPerSecond: rate };
            for (const { polite } of fleet) polite.setLimits(limits, nowMs);
          }
          if (act !== 'ask') continue;
          const answer = member.polite.ask(addresses, nowMs);
          if (!answer.ok) {
            assert.ok(answer.againMs === null || answer.againMs > nowMs);
            continue;
          }
          const busy = member.races.flatMap((race) => race.addresses);
          for (const address of addresses) assert.ok(!busy.includes(address), `two races at ${address}`);
          member.races.push({ permit: answer, addresses });
          for (const network of new Set(addresses.map((address) => NETWORK_OF.get(address))))
            byNetwork.set(network, [...(byNetwork.get(network) ?? []), { atMs: nowMs, allowed }]);
        }
        for (const races of byNetwork.values()) assertWithin(races, workers);
      },
    ),
    { numRuns: 300 },
  );
});
