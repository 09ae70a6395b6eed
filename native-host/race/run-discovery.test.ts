// When a race looks up names, what its attempts report, and how it is cancelled; Happy Eyeballs v3 from the first query
// to the adopted protocol, with scripted answers and peers; and the look-up by itself. All in virtual time.
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DnsResults, ServiceRecord } from '@photofinish/shared/race/discovered';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { serviceRecord } from '@photofinish/shared/testing/race-samples';
import { parseAltSvc } from '@photofinish/shared/web/alt-svc';
import { parseOrigin } from '@photofinish/shared/web/origin';
import { addressPolicy } from '../address/guard.ts';
import { type Hints, NO_HINTS, NO_KNOWLEDGE, type PriorKnowledge } from '../cache/policy.ts';
import type { Answer, QueryKind } from '../discover/answer.ts';
import type { Discoverer, Discovery } from '../discover/discoverer.ts';
import { openDiscoverer } from '../discover/discovery.ts';
import { adopted, arrange, race } from '../testing/race.ts';
import { type Script, virtualTime } from '../testing/virtual-time.ts';
import { lookUp, MAX_CONCURRENT_LOOKUPS, notInTime } from './look-up.ts';
import { raceOrigin } from './run.ts';

test('names are looked up once before the trials, outside their time', async () => {
  const { result, discovery } = await race([{ handshakeMs: 60 }], [{ handshakeMs: 90 }], {
    trials: 3,
    dns: { takesMs: 100 },
  });
  assert.deepEqual(
    result.trials.map((t) => t.establishedMs),
    [60, 60, 60],
  );
  assert.equal(discovery.settled.length, 1);
  assert.equal(discovery.settled[0]?.assumeH3, true);
  assert.equal(result.atMs, 1_000_100);
});

test('nothing is looked up before the transports are loaded, or loading would count towards its time', async () => {
  const { time, options, discovery, transports } = arrange([], []);
  const h3 = { ...transports.h3, prepare: () => Promise.reject(new Error('no addon')) };
  const broken = raceOrigin({ ...options, transports: { ...transports, h3 } });
  await assert.rejects(time.run(broken), /no addon/);
  assert.equal(discovery.settled.length, 0);
});

test("a look-up that exceeds a trial's time-out is given up: an error and no trials", async () => {
  const { result, transports } = await race([], [], { dns: { takesMs: null }, timeoutMs: 500 });
  assert.deepEqual(result.error, {
    code: 'dns-failed',
    message: 'no answer within 500 ms',
  });
  assert.equal(result.trials.length, 0);
  assert.equal(transports.h3.targets.length, 0);
});

test('v3: names are looked up within each trial as part of its time, and HTTP/3 is assumed nowhere', async () => {
  const { result, discovery, transports } = await race([{ handshakeMs: 1 }], [{ handshakeMs: 60 }], {
    mode: 'v3',
    trials: 2,
    dns: { takesMs: 100 },
  });
  assert.deepEqual(
    result.trials.map((t) => [t.adopted, t.establishedMs]),
    [
      ['h2', 160],
      ['h2', 160],
    ],
  );
  assert.deepEqual([discovery.settled.length, discovery.begun.length], [0, 2]);
  assert.equal(discovery.begun[0]?.assumeH3, false);
  assert.equal(transports.h3.targets.length, 0);
  assert.equal(result.discovered.names?.addresses.length, 1);
});

test('v3: a known alternative is among the endpoints, one attempt at a time', async () => {
  const known = { ...NO_KNOWLEDGE, altSvc: parseAltSvc('h3=":4433"') };
  const { result, transports } = await race([{ handshakeMs: null }], [{ handshakeMs: 20 }], {
    mode: 'v3',
    memory: 'full',
    known,
  });
  assert.equal(transports.h3.targets[0]?.port, 4433);
  assert.deepEqual(adopted(result), ['h2']);
  assert.equal(result.trials[0]?.establishedMs, 270);
});

test('v3: a name without an endpoint, or without one in time, is an error and no trial', async () => {
  const none = await race([], [], { mode: 'v3', trials: 3, dns: { addresses: [] } });
  assert.deepEqual([none.result.error?.code, none.result.trials.length], ['no-address', 0]);
  const never = await race([], [], { mode: 'v3', dns: { takesMs: null } });
  assert.deepEqual([never.result.error?.code, never.result.trials.length], ['dns-failed', 0]);
});

test('a look-up of alternatives is bounded by the deadline, and so is the answer held for it', async () => {
  const { result, endedMs } = await race(
    [{ handshakeMs: 5 }],
    [{ handshakeMs: 5, altSvc: 'h3="elsewhere.test:443"' }],
    { mode: 'alt-svc', timeoutMs: 700, dns: { followMs: null } },
  );
  assert.deepEqual(adopted(result), ['h2']);
  assert.equal(endedMs, 700);
});

test('newly advertised alternatives are looked up before the next trial, with memory full', async () => {
  const { result, discovery } = await race(
    [{ handshakeMs: 1, refusal: 'udp-refused' }, { handshakeMs: 9 }],
    [{ handshakeMs: 5, altSvc: 'h3="elsewhere.test:443"' }],
    { memory: 'full', trials: 3, dns: { elsewhere: new Map([['elsewhere.test', '127.0.0.9']]) } },
  );
  assert.deepEqual(adopted(result), ['h2', 'h3', 'h3']);
  assert.equal(discovery.settled.length, 2);
  assert.deepEqual(
    result.trials[1]?.attempts.map((a) => [a.address, a.host, a.source]),
    [['127.0.0.9', 'elsewhere.test', 'alt-svc']],
  );
});

test('attempts report their round trip, and packets even when they were cancelled', async () => {
  const { result } = await race(
    [
      { handshakeMs: 300, packets: { sent: 4, lost: 1 } },
      { handshakeMs: 30, packets: { sent: 3, lost: 0 } },
    ],
    [{ handshakeMs: 500 }],
    { hedge: true },
  );
  assert.deepEqual(
    result.trials[0]?.attempts.map((a) => [a.protocol, a.fresh, a.outcome, a.rttMs, a.packets]),
    [
      ['h3', undefined, 'cancelled', undefined, { sent: 4, lost: 1 }],
      ['h2', undefined, 'cancelled', undefined, undefined],
      ['h3', true, 'adopted', 30, { sent: 3, lost: 0 }],
    ],
  );
});

test('packets are counted until the answer, and for an attempt ended before its handshake was reported', async () => {
  const inOneInstant = [
    { handshakeMs: 61, packets: { sent: 4, lost: 0 }, packetsInAll: { sent: 9, lost: 2 } },
    { handshakeMs: 10, packets: { sent: 3, lost: 0 } },
  ];
  const dns = { addresses: ['127.0.0.1', '127.0.0.2'] };
  const packetsBeside = async (h2Ms: number) => {
    const { result } = await race(inOneInstant, [{ handshakeMs: h2Ms }], { attemptDelayMs: 51, dns });
    const h3 = result.trials[0]?.attempts.filter((a) => a.protocol === 'h3');
    return h3?.map((a) => [a.address, a.outcome, a.packets]);
  };
  assert.deepEqual(await packetsBeside(500), [
    ['127.0.0.1', 'adopted', { sent: 9, lost: 2 }],
    ['127.0.0.2', 'cancelled', { sent: 3, lost: 0 }],
  ]);
  assert.deepEqual(await packetsBeside(20), [
    ['127.0.0.1', 'established-late', { sent: 4, lost: 0 }],
    ['127.0.0.2', 'cancelled', { sent: 3, lost: 0 }],
  ]);
});

test('the first sign of life is timed by the transport, not by when a busy event loop received it', async () => {
  const { result } = await race([{ handshakeMs: 40, transportMs: 39, sawLifeMs: 18 }], [{ handshakeMs: 90 }]);
  assert.equal(result.trials[0]?.attempts[0]?.transportMs, 18);
});

test('a sign of life prevents the hedged QUIC attempt', async () => {
  const { transports } = await race([{ handshakeMs: 300, transportMs: 150 }], [{ handshakeMs: 500 }], {
    hedge: true,
  });
  assert.equal(transports.h3.targets.length, 1);
});

test('when both are reported at the same instant, the one established first is adopted, in either order', async () => {
  const dns = { addresses: ['127.0.0.1', '127.0.0.2'] };
  for (const reportedLateMs of [1, 15]) {
    const h3First = await race([{ handshakeMs: 60, reportedLateMs }], [{ handshakeMs: 60 }], {
      mode: 'naive',
    });
    assert.deepEqual(adopted(h3First.result), ['h3']);
    // The timer of the second address is set later than TCP's, so that TCP is reported first.
    const h3: Script[] = [
      { handshakeMs: 20, refusal: 'udp-refused' },
      { handshakeMs: 40, reportedLateMs },
    ];
    const h2First = await race(h3, [{ handshakeMs: 60 }], { mode: 'naive', dns });
    assert.deepEqual(adopted(h2First.result), ['h3']);
  }
  const h2Earlier = await race([{ handshakeMs: 60, reportedLateMs: 1 }], [{ handshakeMs: 48 }], {
    tcpAttemptDelayMs: 10,
  });
  assert.deepEqual(adopted(h2Earlier.result), ['h2']);
});

test("the record contains the abort's own reason", async () => {
  const abort = new AbortController();
  const { time, options } = arrange([{ handshakeMs: 50 }], [{ handshakeMs: 50 }], { signal: abort.signal });
  time.clock.after(20, () => abort.abort(new Error('the network changed')));
  const changed = await time.run(raceOrigin(options));
  assert.deepEqual(changed.error, { code: 'cancelled', message: 'the network changed' });
  const plain = await race([], [], { signal: AbortSignal.abort() });
  assert.equal(plain.result.error?.message, 'the race was cancelled');
});

test('an abort during the look-up ends the race there', async () => {
  const abort = new AbortController();
  const { time, transports, options } = arrange([{ handshakeMs: 5 }], [{ handshakeMs: 5 }], {
    signal: abort.signal,
    dns: { takesMs: null },
  });
  time.clock.after(20, () => abort.abort());
  const result = await time.run(raceOrigin(options));
  assert.deepEqual([result.error?.code, result.trials.length], ['cancelled', 0]);
  assert.equal(time.clock.nowMs(), 20);
  assert.equal(transports.h3.targets.length, 0);
});

/** Public addresses, which the guard accepts; nothing is ever sent. */
const [V4, V6, V6_MORE, V4_SERVICE] = ['1.1.1.1', '2606:4700::1111', '2606:4700::1001', '8.8.8.8'];
const NEVER: Script = { handshakeMs: null };

interface Reply {
  readonly atMs: number;
  readonly addresses?: readonly string[];
  readonly services?: readonly Partial<ServiceRecord>[];
}

interface Testbed {
  /** By `KIND name`, times from the question on; answered at once with nothing by default. */
  readonly dns: Readonly<Record<string, Reply>>;
  /** In the order of the attempts, the last one repeating. */
  readonly h3?: readonly Script[];
  readonly h2?: readonly Script[];
  readonly known?: PriorKnowledge;
}

function answerOf(name: string, kind: QueryKind, { addresses = [], services = [] }: Reply): Answer {
  if (kind !== 'HTTPS')
    return { ok: true, kind, addresses: addresses.map((address) => ({ address, ttlSeconds: 300 })) };
  const offer = { alpn: ['h3', 'h2'] };
  return { ok: true, kind, services: services.map((own) => serviceRecord(name, { ...offer, ...own })) };
}

async function play({ dns, h3 = [NEVER], h2 = [NEVER], known }: Testbed) {
  const memory = known === undefined ? 'none' : 'hints';
  const { time, options } = arrange([...h3], [...h2], { mode: 'v3', memory, ...(known && { known }) });
  const { clock } = time;
  const cancelled: string[] = [];
  const discovery = openDiscoverer({
    pins: new Map(),
    policy: addressPolicy([]),
    openDns: () => ({
      ask: (name, kind, signal) =>
        new Promise((resolve) => {
          const reply = dns[`${kind} ${name}`] ?? { atMs: 0 };
          clock.after(reply.atMs, () => resolve(answerOf(name, kind, reply)));
          signal.addEventListener('abort', () => cancelled.push(`${kind} ${name}`));
        }),
    }),
    connectivity: async () => ({ ipv6: true, ipv4: true, preferred: 'ipv6', nat64Prefix: null }),
    nat64Prefix: async () => null,
    sourceFor: (destination) => (destination.includes(':') ? '2001:db8::1' : '192.0.2.1'),
    clock,
    random: () => 0.5,
  });
  const race = await time.run(raceOrigin({ ...options, discovery }));
  return { race, cancelled };
}

const attempts = (race: OriginRace): string[] =>
  (race.trials[0]?.attempts ?? []).map(
    (a) => `${a.protocol} ${a.address} ${a.port} ${a.startedMs} ${a.outcome}`,
  );

// HTTPS records of origins on other ports have a different owner name (RFC 9460 section 9.1).
const HTTPS = 'HTTPS _8443._https.a.test';

test('HTTPS, AAAA and A in time: HTTP/3 over IPv6 first, and its time counts from the first question', async () => {
  const { race } = await play({
    dns: {
      [HTTPS]: { atMs: 20, services: [{ target: 'a.test' }] },
      'AAAA a.test': { atMs: 10, addresses: [V6] },
      'A a.test': { atMs: 15, addresses: [V4] },
    },
    h3: [{ handshakeMs: 30 }],
  });
  assert.deepEqual(attempts(race), [`h3 ${V6} 8443 20 adopted`]);
  assert.equal(race.trials[0]?.establishedMs, 50);
});

test('an HTTPS record after the resolution delay: HTTP/3 joins the list behind those already started', async () => {
  const { race } = await play({
    dns: {
      [HTTPS]: { atMs: 120, services: [{ target: 'a.test' }] },
      'AAAA a.test': { atMs: 10, addresses: [V6] },
      'A a.test': { atMs: 15, addresses: [V4] },
    },
    h3: [{ handshakeMs: 30 }],
  });
  const [first, second] = attempts(race);
  assert.equal(first, `h2 ${V6} 8443 60 cancelled`);
  assert.match(second ?? '', /^h3 .* 310 adopted$/);
});

test('IPv6 black-holed for both protocols: both are established on IPv4', async () => {
  const { race } = await play({
    dns: {
      [HTTPS]: { atMs: 5, services: [{ target: 'a.test' }] },
      'AAAA a.test': { atMs: 5, addresses: [V6] },
      'A a.test': { atMs: 5, addresses: [V4] },
    },
    h3: [NEVER, { handshakeMs: 30 }],
  });
  const tried = attempts(race);
  assert.equal(tried[0], `h3 ${V6} 8443 5 cancelled`);
  assert.match(tried.at(-1) ?? '', new RegExp(`^h3 ${V4} .* adopted$`));
});

test('a better list arrives while the first attempt hangs: it reorders only endpoints not yet started', async () => {
  const { race } = await play({
    dns: {
      'AAAA a.test': { atMs: 200, addresses: [V6, V6_MORE] },
      'A a.test': { atMs: 5, addresses: [V4] },
    },
    h2: [NEVER, { handshakeMs: 20 }],
  });
  assert.deepEqual(attempts(race), [`h2 ${V4} 8443 55 cancelled`, `h2 ${V6} 8443 305 adopted`]);
});

test('a service on another port and host is tried there with its protocol, and nowhere else', async () => {
  const { race } = await play({
    dns: {
      [HTTPS]: {
        atMs: 1,
        services: [{ target: 'svc.test', port: 4433, alpn: ['h3'], noDefaultAlpn: true }],
      },
      'A svc.test': { atMs: 1, addresses: [V4_SERVICE] },
      'A a.test': { atMs: 9, addresses: [V4] },
    },
    h3: [{ handshakeMs: 1, refusal: 'udp-refused' }],
    h2: [{ handshakeMs: 10 }],
  });
  const tried = attempts(race);
  assert.ok(tried[0]?.startsWith(`h3 ${V4_SERVICE} 4433`), tried.join());
  assert.equal(tried.filter((one) => one.startsWith('h3')).length, 1);
  assert.match(tried.at(-1) ?? '', new RegExp(`^h2 ${V4} 8443 .* adopted$`));
  const [first] = race.trials[0]?.attempts ?? [];
  assert.deepEqual([first?.host, first?.source], ['svc.test', 'https-record']);
});

for (const alternative of ['elsewhere.test:443', ':4433'])
  test(`HTTP/3 known to be broken at ${alternative} costs the origin's own addresses nothing`, async () => {
    const startsAt = async (h3Broken: Hints['h3Broken']): Promise<string | undefined> => {
      const { race } = await play({
        dns: {
          [HTTPS]: { atMs: 5 },
          'AAAA a.test': { atMs: 10, addresses: [V6] },
          'AAAA elsewhere.test': { atMs: 900, addresses: [V6_MORE] },
          'HTTPS elsewhere.test': { atMs: 900 },
          'HTTPS _4433._https.a.test': { atMs: 900 },
        },
        h2: [{ handshakeMs: 20 }],
        known: {
          ...NO_KNOWLEDGE,
          altSvc: parseAltSvc(`h3="${alternative}"`),
          hints: { ...NO_HINTS, h3Broken },
        },
      });
      return attempts(race).find((one) => one.startsWith('h2'));
    };
    assert.equal(
      await startsAt({ untilMs: Number.MAX_SAFE_INTEGER, code: 'udp-timeout' }),
      `h2 ${V6} 8443 10 adopted`,
    );
    // If it may work, the draft's resolution delay is spent on it.
    assert.match((await startsAt(null)) ?? '', /^h2 \S+ 8443 (60|310) /);
  });

test('a race that is over no longer waits for names', async () => {
  const { race, cancelled } = await play({
    dns: { [HTTPS]: { atMs: 9000 }, 'A a.test': { atMs: 5, addresses: [V4] } },
    h2: [{ handshakeMs: 20 }],
  });
  assert.equal(race.trials[0]?.establishedMs, 75);
  assert.ok(cancelled.includes(HTTPS));
});

test('all questions without an answer: no trial, and the error says so', async () => {
  const { race } = await play({ dns: {} });
  assert.deepEqual([race.error?.code, race.trials.length], ['no-address', 0]);
});

const NOBODY_LATE = { worstMs: 0, totalMs: 0 };

function lookups(
  ...outcomes: readonly (readonly ['A' | 'AAAA' | 'HTTPS', 'empty' | 'failed'])[]
): DnsResults {
  return {
    addresses: [],
    services: [],
    lookups: outcomes.map(([kind, outcome]) => ({ name: 'a.test', kind, tookMs: 3, outcome, records: 0 })),
  };
}

test('a name without addresses in DNS is reported as such, whatever else was not answered', () => {
  const code = (names: DnsResults): string => notInTime('a.test', names, 3000, NOBODY_LATE).code;
  assert.equal(code(lookups(['A', 'empty'], ['AAAA', 'empty'], ['HTTPS', 'failed'])), 'no-address');
  assert.equal(code(lookups(['A', 'empty'], ['AAAA', 'failed'], ['HTTPS', 'empty'])), 'dns-failed');
  assert.equal(code(lookups(['HTTPS', 'empty'])), 'dns-failed');
  assert.equal(code(lookups()), 'dns-failed');
});

/** Runs many look-ups that take this long; returns how each ended, and the maximum that ran concurrently. */
async function many(count: number, takesMs: number | null, timeoutMs: number) {
  const { clock, run } = virtualTime();
  const parsed = parseOrigin('a.test');
  assert.ok(parsed.ok);
  const query = { origin: parsed.value, alternatives: [], assumeH3: true, history: new Map() };
  let [running, most] = [0, 0];
  const discovery = {
    settle: (_query, signal) =>
      new Promise<Discovery>((resolve) => {
        running += 1;
        most = Math.max(most, running);
        const end = (code: 'no-address' | 'cancelled') => {
          running -= 1;
          resolve({ ok: false, error: { code, message: code }, names: lookups() });
        };
        if (takesMs !== null) clock.after(takesMs, () => end('no-address'));
        else signal.addEventListener('abort', () => end('cancelled'), { once: true });
      }),
  } as Discoverer;
  const options = { discovery, timeoutMs, clock };
  const settled = await run(Promise.all(Array.from({ length: count }, () => lookUp(query, options))));
  return {
    codes: new Set(settled.map((one) => (one.ok ? 'ok' : one.error.code))),
    most,
    endedMs: clock.nowMs(),
  };
}

test('two hundred dead names: concurrency is bounded, and waiting for a slot uses no time-out', async () => {
  const { codes, most, endedMs } = await many(200, 1000, 3000);
  assert.deepEqual([...codes], ['no-address'], 'the last ones began after 6 s, and had their own 3 s');
  assert.equal(most, MAX_CONCURRENT_LOOKUPS);
  assert.equal(endedMs, 7000);
});

test('a resolver that answers none of them is reported as such', async () => {
  const { codes } = await many(200, null, 3000);
  assert.deepEqual([...codes], ['dns-failed']);
});

test('a look-up waiting for its slot ends with its signal', async () => {
  const { clock, run } = virtualTime();
  const parsed = parseOrigin('a.test');
  assert.ok(parsed.ok);
  const query = { origin: parsed.value, alternatives: [], assumeH3: true, history: new Map() };
  const stop = new AbortController();
  const discovery = {
    settle: (_query, signal) =>
      new Promise<Discovery>((resolve) => {
        const error = { code: 'cancelled', message: 'given up' } as const;
        const end = () => resolve({ ok: false, error, names: lookups() });
        if (signal.aborted) end();
        else signal.addEventListener('abort', end, { once: true });
      }),
  } as Discoverer;
  const options = { discovery, timeoutMs: 60_000, clock, signal: stop.signal };
  clock.after(10, () => stop.abort());
  const all = Array.from({ length: 2 * MAX_CONCURRENT_LOOKUPS }, () => lookUp(query, options));
  await run(Promise.all(all));
  assert.equal(clock.nowMs(), 10);
});
