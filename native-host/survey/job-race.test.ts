// One job against opt-out and budgets: nothing is used before both allow it, and every permit ends with its race.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt, OriginRace } from '@photofinish/shared/race/outcome';
import type { AttemptErrorCode } from '@photofinish/shared/race/terms';
import { attempt, comparison, originRace, trial } from '@photofinish/shared/testing/race-samples';
import { parseOrigin } from '@photofinish/shared/web/origin';
import { raceOrigin } from '../race/run.ts';
import type { RaceSpec, RunRace } from '../racer.ts';
import { arrange } from '../testing/race.ts';
import { virtualTime } from '../testing/virtual-time.ts';
import { type JobRaceParts, raceJob, surveySpec } from './job-race.ts';
import { optOut } from './opt-out.ts';
import type { Answer, Politeness } from './politeness.ts';

const QUIET = { isPaused: () => false, onChange: () => () => {} };
const CANCELLED = originRace([], { error: { code: 'cancelled', message: 'm' } });
const failed = (protocol: 'h3' | 'h2', code: AttemptErrorCode, over: Partial<Attempt> = {}): Attempt =>
  attempt({ protocol, outcome: 'failed', error: { code, message: 'm' }, ...over });
const UDP_SILENT = failed('h3', 'udp-timeout');
const NOTHING_REACHED = originRace([trial([UDP_SILENT, failed('h2', 'tcp-timeout')], null)]);

function specOf(host: string): RaceSpec {
  const parsed = parseOrigin(`https://${host}`);
  assert.ok(parsed.ok);
  const survey = { mode: 'race', trials: null, timeoutMs: 3000 } as const;
  return surveySpec(survey, { origin: parsed.value, mode: 'race' }, { network: 'net' });
}

/** A job at these addresses; what was asked for and what was raced, in order. */
async function run({
  addresses = ['192.0.2.1'],
  target = 'a.test',
  answers = [],
  optedOut = [],
  nat64Prefix = null,
  result = comparison([10], [20]),
}: {
  readonly addresses?: readonly string[];
  /** The host that the origin's HTTPS record names. */
  readonly target?: string;
  readonly answers?: readonly Answer[];
  readonly optedOut?: readonly string[];
  readonly nat64Prefix?: string | null;
  readonly result?: ReturnType<typeof originRace>;
}) {
  const events: string[] = [];
  const refused = optOut(optedOut);
  assert.ok(refused.ok);
  const next = answers.values();
  const permit: Answer = { ok: true, end: (isRefused) => void events.push(`ended, refused ${isRefused}`) };
  const politeness: Pick<Politeness, 'ask'> = {
    ask(asked) {
      events.push(`asked for ${asked.join()}`);
      return next.next().value ?? permit;
    },
  };
  const race: RunRace = async ({ mayUse }) => {
    events.push('looked up');
    for (const address of addresses)
      if (mayUse?.([{ host: target, address }], nat64Prefix) !== true) return CANCELLED;
    events.push('sent');
    return result;
  };
  const parts: JobRaceParts = {
    ...{ ...QUIET, race, clock: virtualTime().clock, optOut: () => refused.value },
    politeness,
  };
  return { outcome: await raceJob(parts, specOf('a.test')), events };
}

test('a host that opted out is not even looked up', async () => {
  assert.deepEqual(await run({ optedOut: ['a.test'] }), { outcome: { kind: 'opted-out' }, events: [] });
});

test('an address that opted out is neither sent anything nor given a budget', async () => {
  assert.deepEqual(await run({ optedOut: ['192.0.2.0/24'] }), {
    outcome: { kind: 'opted-out' },
    events: ['looked up'],
  });
});

test('nor is one that an HTTPS record names by a host that opted out', async () => {
  const named = { target: 'cdn.victim.test', optedOut: ['victim.test'] };
  assert.deepEqual(await run(named), { outcome: { kind: 'opted-out' }, events: ['looked up'] });
});

test("behind the network's own NAT64 prefix an address stands for the IPv4 address", async () => {
  const addresses = ['2001:db8:64::c000:201'];
  const behind = { addresses, optedOut: ['192.0.2.0/24'], nat64Prefix: '2001:db8:64::/96' };
  assert.deepEqual((await run(behind)).outcome, { kind: 'opted-out' });
  assert.equal((await run({ ...behind, nat64Prefix: null })).outcome.kind, 'raced');
});

/** The places to which HTTP/3 was sent when an answer names `victim.test`. */
async function sentFor(optedOut: readonly string[], victim: string, nat64Prefix: string | null = null) {
  const elsewhere = new Map([['victim.test', victim]]);
  const { time, transports, options } = arrange(
    [{ handshakeMs: null }],
    [{ handshakeMs: 5, altSvc: 'h3="victim.test:443"' }],
    { mode: 'alt-svc', timeoutMs: 500, dns: { addresses: ['198.51.100.1'], elsewhere, nat64Prefix } },
  );
  const list = optOut(optedOut);
  assert.ok(list.ok);
  const parts: JobRaceParts = {
    ...{ ...QUIET, clock: time.clock, optOut: () => list.value },
    race: (spec) => raceOrigin({ ...options, ...spec }),
    politeness: { ask: () => ({ ok: true, end: () => {} }) },
  };
  const outcome = await time.run(raceJob(parts, { ...specOf('a.test'), mode: 'alt-svc', timeoutMs: 500 }));
  assert.equal(outcome.kind, 'raced');
  return transports.h3.targets.map(({ address }) => address);
}

test('an alternative that an answer names is sent nothing if it opted out', async () => {
  assert.deepEqual(await sentFor([], '192.0.2.1'), ['192.0.2.1']);
  assert.deepEqual(await sentFor(['192.0.2.0/24'], '192.0.2.1'), []);
  assert.deepEqual(await sentFor(['victim.test'], '192.0.2.1'), []);
  const behind = '2001:db8:64::c000:201';
  assert.deepEqual(await sentFor(['192.0.2.0/24'], behind), [behind]);
  assert.deepEqual(await sentFor(['192.0.2.0/24'], behind, '2001:db8:64::/96'), []);
});

/** How a race under way ends that has found an address and followed an alternative, when the orders become these. */
async function interrupted({ list = [] as readonly string[], pause = false }) {
  const before = optOut([]);
  const after = optOut(list);
  assert.ok(before.ok && after.ok);
  let [inForce, isPaused] = [before.value, false];
  const looks = new Set<() => void>();
  const ended: string[] = [];
  const race: RunRace = async ({ mayUse, mayFollow, signal }) => {
    assert.equal(mayUse?.([{ host: 'a.test', address: '192.0.2.1' }], null), true);
    assert.equal(mayFollow?.('cdn.test', '198.51.100.1', null), true);
    [inForce, isPaused] = [after.value, pause];
    for (const look of looks) look();
    return signal?.aborted ? CANCELLED : comparison([10], [20]);
  };
  const politeness: JobRaceParts['politeness'] = {
    ask: () => ({ ok: true, end: (isRefused) => void ended.push(`refused ${isRefused}`) }),
  };
  const onChange = (look: () => void) => {
    looks.add(look);
    return () => looks.delete(look);
  };
  const parts = { race, politeness, onChange, isPaused: () => isPaused, optOut: () => inForce };
  const { kind } = await raceJob({ ...parts, clock: virtualTime().clock }, specOf('a.test'));
  assert.deepEqual(ended, [kind === 'raced' ? 'refused false' : 'refused null']);
  assert.equal(looks.size, 0, 'nothing is left that looks');
  return kind;
}

test('a race under way ends when a pause begins, or somebody opts out to whom it sends', async () => {
  assert.equal(await interrupted({ list: ['b.test', '203.0.113.0/24'] }), 'raced');
  for (const entry of ['a.test', '192.0.2.0/24', 'cdn.test', '198.51.100.1'])
    assert.equal(await interrupted({ list: [entry] }), 'cancelled', entry);
  assert.equal(await interrupted({ pause: true }), 'cancelled');
});

test('without a budget the job is postponed until it may ask again, and nothing is sent', async () => {
  const answer = { ok: false, reason: 'network-budget', againMs: 1234 } as const;
  assert.deepEqual(await run({ answers: [answer] }), {
    outcome: { kind: 'postponed', againMs: 1234, backsOff: false },
    events: ['looked up', 'asked for 192.0.2.1'],
  });
});

test('a network that does not answer is told apart from one without a budget', async () => {
  const answer = { ok: false, reason: 'backing-off', againMs: 1234 } as const;
  const { outcome } = await run({ answers: [answer] });
  assert.deepEqual(outcome, { kind: 'postponed', againMs: 1234, backsOff: true });
});

test('a race gives its permit back, and says whether anything was reached', async () => {
  const reached = await run({});
  assert.equal(reached.outcome.kind, 'raced');
  assert.deepEqual(reached.events, ['looked up', 'asked for 192.0.2.1', 'sent', 'ended, refused false']);
  const refused = await run({ result: NOTHING_REACHED });
  assert.deepEqual(refused.outcome, { kind: 'raced', race: NOTHING_REACHED });
  assert.equal(refused.events.at(-1), 'ended, refused true');
});

test('a server that was heard has not refused, and UDP alone or a late machine does not show it', async () => {
  const ended = async (result: OriginRace) => (await run({ result })).events.at(-1);
  const rejected = failed('h2', 'certificate-invalid', { transportMs: 5 });
  assert.equal(await ended(originRace([trial([UDP_SILENT, rejected], null)])), 'ended, refused false');
  assert.equal(await ended(originRace([trial([UDP_SILENT], null)])), 'ended, refused null');
  const late = { ...trial([failed('h2', 'tcp-timeout')], null), disturbed: 'outcome' } as const;
  assert.equal(await ended(originRace([late])), 'ended, refused null');
});

test('a permit is given back also when a later look-up is refused', async () => {
  const events: string[] = [];
  const permit = { ok: true, end: () => void events.push('ended') } as const;
  const refusal = { ok: false, reason: 'address-busy', againMs: null } as const;
  const { outcome } = await run({ addresses: ['192.0.2.1', '192.0.2.2'], answers: [permit, refusal] });
  assert.deepEqual(outcome, { kind: 'postponed', againMs: null, backsOff: false });
  assert.deepEqual(events, ['ended']);
});

test('a race that was cancelled is no result', async () => {
  const { outcome, events } = await run({ result: CANCELLED });
  assert.deepEqual(outcome, { kind: 'cancelled' });
  assert.equal(events.at(-1), 'ended, refused null');
});

test('a race of a survey has the trials asked for in its own mode, and remembers nothing', () => {
  const parsed = parseOrigin('https://a.test');
  assert.ok(parsed.ok);
  const spec = (survey: 'race' | 'compare', trials: number | null, mode: 'race' | 'compare') => {
    const all = surveySpec(
      { mode: survey, trials, timeoutMs: 9 },
      { origin: parsed.value, mode },
      { network: 'n' },
    );
    assert.equal(all.memory, 'none');
    assert.equal(all.timeoutMs, 9);
    return [all.trials, all.pairs];
  };
  assert.deepEqual(spec('race', null, 'race'), [1, 1]);
  assert.deepEqual(spec('race', 5, 'race'), [5, 5]);
  assert.deepEqual(spec('compare', null, 'compare'), [15, 15]);
  assert.deepEqual(
    spec('race', 5, 'compare'),
    [15, 15],
    'a line with its own mode has the default of that mode',
  );
});
