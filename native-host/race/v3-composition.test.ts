// Happy Eyeballs v3 from the first question to the adopted protocol, in virtual time: real resolution and race
// together, with scripted answers and peers. Each is tested separately; this tests their interplay.
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceRecord } from '@photofinish/shared/race/discovered';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { serviceRecord } from '@photofinish/shared/testing/race-samples';
import { parseAltSvc } from '@photofinish/shared/web/alt-svc';
import { addressPolicy } from '../address/guard.ts';
import { type Hints, NO_HINTS, NO_KNOWLEDGE, type PriorKnowledge } from '../cache/policy.ts';
import type { Answer, QueryKind } from '../discover/answer.ts';
import { openDiscovering } from '../discover/discovery.ts';
import { arrange } from '../testing/race.ts';
import type { Script } from '../testing/virtual-time.ts';
import { raceOrigin } from './run.ts';

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
  const discovery = openDiscovering({
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
