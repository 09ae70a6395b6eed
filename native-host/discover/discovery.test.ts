import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { namesSchema } from '@photofinish/shared/race/discovered';
import type { Alternative } from '@photofinish/shared/web/alt-svc';
import { type OriginParts, parseOrigin } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import { addressPolicy } from '../address/guard.ts';
import { type Clock, systemClock } from '../clock.ts';
import { loadQuicAddon } from '../quic/addon.ts';
import { type DnsTestbed, dnsTestbed, type Script, zone } from '../testing/dns-server.ts';
import type { DnsClient } from './answer.ts';
import type { Discovery, DiscoveryQuery, DiscoveryUpdate, Endpoint } from './discoverer.ts';
import { type DiscoveryParts, openDiscoverer } from './discovery.ts';
import { openDns } from './dns.ts';
import { type Connectivity, RESOLUTION_DELAY_MS } from './resolution.ts';

const BOTH: Connectivity = { ipv6: true, ipv4: true, preferred: 'ipv6', nat64Prefix: null };
/** Public, and never connected to here. */
const [ONE, TWO, SIX] = ['1.1.1.1', '8.8.8.8', '2606:4700::1111'];

function origin(text: string): OriginParts {
  const parsed = parseOrigin(text);
  assert.ok(parsed.ok);
  return parsed.value;
}

function query(text: string, facts: Partial<DiscoveryQuery> = {}): DiscoveryQuery {
  return { origin: origin(text), alternatives: [], assumeH3: true, history: new Map(), ...facts };
}

function alternative(host: string, port: number): Alternative {
  return { alpn: 'h3', host, port, maxAgeSeconds: 60, persist: false };
}

/** The machine's clock, but an expired delay is withheld while `owes` is true; `pending` are the delays in progress. */
function patientClock(owes: () => boolean, pending: Set<object>): Clock {
  return {
    ...systemClock,
    after(delayMs, run) {
      const pass = (): void => {
        if (!pending.has(pass)) return;
        if (owes()) setImmediate(pass);
        else {
          pending.delete(pass);
          run();
        }
      };
      pending.add(pass);
      const forget = systemClock.after(delayMs, pass);
      return () => {
        pending.delete(pass);
        forget();
      };
    },
  };
}

/** Discovery with a real server and this machine's routes. A busy machine is not mistaken for a slow server. */
async function testbed(t: TestContext, script: Script, facts: Partial<DiscoveryParts> = {}) {
  const dns: DnsTestbed = await dnsTestbed(t, script);
  const underWay = new Set<string>();
  const delays = new Set<object>();
  const watched = (client: DnsClient): DnsClient => ({
    async ask(name, kind, signal) {
      const question = `${kind} ${name}`;
      underWay.add(question);
      const answer = await client.ask(name, kind, signal);
      underWay.delete(question);
      return answer;
    },
  });
  const owes = (): boolean => [...underWay].some((question) => !dns.held.has(question));
  const discovery = openDiscoverer({
    pins: new Map(),
    policy: addressPolicy([]),
    openDns: () => watched(openDns({ server: dns.server })),
    connectivity: async () => BOTH,
    nat64Prefix: async () => null,
    sourceFor: (destination) => loadQuicAddon().sourceAddressFor(destination),
    clock: patientClock(owes, delays),
    random: () => 0.5,
    ...facts,
  });
  const settle = (of: DiscoveryQuery): Promise<Discovery> =>
    discovery.settle(of, new AbortController().signal);
  /** Until every answer that is not held back has arrived. */
  const answered = async (): Promise<void> => {
    while (owes()) await nextTurn();
  };
  return { discovery, settle, answered, delays, ...dns };
}

const placesOf = (endpoints: readonly Endpoint[]) =>
  endpoints.map((e) => `${e.transport} ${e.address} ${e.port} ${e.host} ${e.source}`).toSorted();

function placesIn(found: Discovery): string[] {
  assert.ok(found.ok, JSON.stringify(found));
  v.parse(namesSchema, found.names);
  return placesOf(found.endpoints);
}

function errorIn(found: Discovery): string {
  assert.ok(!found.ok, JSON.stringify(found));
  v.parse(namesSchema, found.names);
  return found.error.code;
}

test('addresses of both families and services are found, and what was learnt is recorded', async (t) => {
  const { settle } = await testbed(
    t,
    zone({
      'a.test': { A: [ONE], AAAA: [SIX], HTTPS: [{ target: 'svc.test', alpn: ['h3'], port: 8443 }] },
      'svc.test': { A: [TWO] },
    }),
  );
  const found = await settle(query('https://a.test'));
  assert.deepEqual(placesIn(found), [
    `h2 ${ONE} 443 a.test origin`,
    `h2 ${SIX} 443 a.test origin`,
    `h2 ${TWO} 8443 svc.test https-record`,
    `h3 ${TWO} 8443 svc.test https-record`,
  ]);
  const { addresses, services, lookups } = found.names;
  assert.deepEqual(addresses.map((a) => `${a.host} ${a.source} ${a.address} ${a.ttlSeconds}`).toSorted(), [
    `a.test a ${ONE} 300`,
    `a.test aaaa ${SIX} 300`,
    `svc.test a ${TWO} 300`,
  ]);
  assert.deepEqual(
    services.map((s) => [s.owner, s.target, s.port]),
    [['a.test', 'svc.test', 8443]],
  );
  assert.deepEqual(lookups.map((l) => `${l.name} ${l.kind} ${l.outcome} ${l.records}`).toSorted(), [
    'a.test A answered 1',
    'a.test AAAA answered 1',
    'a.test HTTPS answered 1',
    'svc.test A answered 1',
    'svc.test AAAA empty 0',
  ]);
});

test('of a zone with more addresses than a race tries the first are used, and the others counted', async (t) => {
  const many = (net: string): string[] => Array.from({ length: 40 }, (_, i) => `${net}.${i + 1}`);
  const { settle } = await testbed(
    t,
    zone({
      'a.test': { A: many('1.1.1'), HTTPS: [{ target: 'svc.test' }] },
      'svc.test': { A: many('8.8.8') },
    }),
  );
  const found = await settle(query('https://a.test', { assumeH3: false }));
  assert.equal(placesIn(found).length, 24);
  assert.equal(found.names.addresses.length, 32);
  assert.equal(found.names.untried, 80 - 24);
});

test('of more alternatives or names than a race tries the first are used, and the others counted', async (t) => {
  const { settle } = await testbed(t, zone({ 'a.test': { A: [ONE] } }));
  const alternatives = Array.from({ length: 10 }, (_, i) => alternative(`9.9.9.${i + 1}`, 443));
  const found = await settle(query('https://a.test', { alternatives }));
  assert.deepEqual(
    placesIn(found).slice(1),
    alternatives.slice(0, 8).map(({ host }) => `h3 ${host} 443 ${host} alt-svc`),
  );
  assert.equal(found.names.untried, 2);
  const HTTPS = Array.from({ length: 16 }, (_, i) => ({ target: `s${i}.test` }));
  const named = await testbed(t, zone({ 'a.test': { A: [ONE], HTTPS } }));
  // Two for each service and three for the origin, of which 32 are asked.
  assert.equal((await named.settle(query('https://a.test'))).names.untried, 3);
});

test('for an origin on a port blocked by browsers no question is asked', async (t) => {
  const { settle, asked } = await testbed(t, zone({ 'a.test': { A: [ONE] } }));
  for (const port of [22, 25, 6667]) {
    const found = await settle(query(`https://a.test:${port}`));
    assert.equal(errorIn(found), 'port-blocked');
  }
  const pinned = await testbed(t, zone({}), { pins: new Map([['a.test:25', ONE]]) });
  assert.equal(errorIn(await pinned.settle(query('https://a.test:25'))), 'port-blocked');
  assert.deepEqual([...asked, ...pinned.asked], []);
});

test('nor are records and alternatives followed there, and QUIC not to ports used for reflection attacks', async (t) => {
  const record = (port: number, priority: number) => ({ priority, target: 'svc.test', alpn: ['h3'], port });
  const { settle } = await testbed(
    t,
    zone({
      'a.test': { A: [ONE], HTTPS: [record(6667, 1), record(11211, 2), record(8443, 3)] },
      'svc.test': { A: [TWO] },
    }),
  );
  const alternatives = [alternative('', 25), alternative('', 11211), alternative('', 8443)];
  assert.deepEqual(placesIn(await settle(query('https://a.test', { alternatives }))), [
    `h2 ${ONE} 443 a.test origin`,
    `h2 ${TWO} 11211 svc.test https-record`,
    `h2 ${TWO} 8443 svc.test https-record`,
    `h3 ${ONE} 8443 a.test alt-svc`,
    `h3 ${TWO} 8443 svc.test https-record`,
  ]);
});

test('hints replace addresses that do not arrive, and are marked as hints', async (t) => {
  const { settle } = await testbed(t, (name, kind) => {
    if (name === 'svc.test') return 'silence';
    return { records: kind === 'HTTPS' ? [{ target: 'svc.test', alpn: ['h3'], hints: [TWO] }] : [] };
  });
  const found = await settle(query('https://a.test'));
  assert.deepEqual(placesIn(found), [
    `h2 ${TWO} 443 svc.test https-record`,
    `h3 ${TWO} 443 svc.test https-record`,
  ]);
  assert.deepEqual(found.names.addresses, [
    { host: 'svc.test', address: TWO, source: 'hint', ttlSeconds: 300 },
  ]);
});

test('a lost answer is not awaited, and is reported as missing', async (t) => {
  const { settle } = await testbed(t, (_, kind) =>
    kind === 'HTTPS' ? 'silence' : { records: kind === 'A' ? [ONE] : [] },
  );
  const found = await settle(query('https://a.test'));
  assert.deepEqual(placesIn(found), [`h2 ${ONE} 443 a.test origin`, `h3 ${ONE} 443 a.test origin`]);
  const [missing] = found.names.lookups.filter((lookup) => lookup.kind === 'HTTPS');
  assert.deepEqual([missing?.outcome, missing?.records, missing?.unanswered], ['failed', 0, true]);
});

test('no such name, no address, and a failing server are distinguished', async (t) => {
  const { settle } = await testbed(t, (name) => {
    if (name.endsWith('none.test')) return 'NXDOMAIN';
    return name.endsWith('failing.test') ? 'SERVFAIL' : { records: [] };
  });
  assert.equal(errorIn(await settle(query('https://none.test'))), 'no-address');
  assert.equal(errorIn(await settle(query('https://empty.test'))), 'no-address');
  assert.equal(errorIn(await settle(query('https://failing.test'))), 'dns-failed');
});

test('a cancelled discovery ends at once, with what it had learnt', async (t) => {
  const { discovery, received, answered } = await testbed(t, (_, kind) =>
    kind === 'A' ? { records: [] } : 'silence',
  );
  const abort = new AbortController();
  const settling = discovery.settle(query('https://a.test'), abort.signal);
  await received('A a.test');
  await answered();
  abort.abort();
  const found = await settling;
  assert.equal(errorIn(found), 'cancelled');
  assert.deepEqual(found.names.lookups.map(({ kind, outcome }) => `${kind} ${outcome}`).toSorted(), [
    'A empty',
    'AAAA failed',
    'HTTPS failed',
  ]);
  assert.equal(errorIn(await discovery.settle(query('https://a.test'), abort.signal)), 'cancelled');
});

test('pins and literals cause no question', async (t) => {
  const pins = new Map([
    ['a.test:443', '127.0.0.2'],
    ['alt.test:8443', '127.0.0.3'],
  ]);
  const policy = addressPolicy(['127.0.0.0/8', '::1']);
  const openDns = () => assert.fail('DNS was opened');
  const { settle } = await testbed(t, () => 'silence', { pins, policy, openDns });
  const pinned = await settle(
    query('https://a.test', { alternatives: [alternative('', 8443), alternative('alt.test', 8443)] }),
  );
  assert.deepEqual(placesIn(pinned), [
    'h2 127.0.0.2 443 a.test origin',
    'h3 127.0.0.2 8443 a.test alt-svc',
    'h3 127.0.0.3 8443 alt.test alt-svc',
  ]);
  assert.deepEqual(
    pinned.names.addresses.map((a) => `${a.host} ${a.source} ${a.ttlSeconds}`),
    ['a.test pin null', 'alt.test pin null'],
  );
  const literal = await settle(query('https://[::1]:8443'));
  assert.deepEqual(placesIn(literal), ['h2 ::1 8443 ::1 origin', 'h3 ::1 8443 ::1 origin']);
  assert.deepEqual(literal.names.addresses, [
    { host: '::1', address: '::1', source: 'literal', ttlSeconds: null },
  ]);
});

test("a pin of an alternative's port is for that port of the origin's host alone", async (t) => {
  const pins = new Map([['a.test:8443', '127.0.0.2']]);
  const policy = addressPolicy(['127.0.0.0/8']);
  const { settle } = await testbed(t, zone({ 'a.test': { A: [ONE] } }), { pins, policy });
  const found = await settle(query('https://a.test', { alternatives: [alternative('', 8443)] }));
  assert.deepEqual(placesIn(found), [`h2 ${ONE} 443 a.test origin`, 'h3 127.0.0.2 8443 a.test alt-svc']);
  assert.deepEqual(
    found.names.addresses.map(({ address, source }) => `${address} ${source}`).toSorted(),
    ['127.0.0.2 pin', `${ONE} a`].toSorted(),
  );
});

test('the target of an HTTPS record can be pinned by its own port; a pin of another port has no effect', async (t) => {
  const script = zone({
    'a.test': { A: [ONE], HTTPS: [{ target: 'svc.test', alpn: ['h3'], port: 8443 }] },
    'svc.test': { A: [TWO] },
  });
  const facts = { policy: addressPolicy(['127.0.0.0/8']) };
  const near = await testbed(t, script, { ...facts, pins: new Map([['svc.test:8443', '127.0.0.2']]) });
  assert.ok(
    placesIn(await near.settle(query('https://a.test'))).includes('h3 127.0.0.2 8443 svc.test https-record'),
  );
  assert.ok(!near.asked.some((question) => question.endsWith('svc.test')));
  const far = await testbed(t, script, { ...facts, pins: new Map([['svc.test:9', '127.0.0.2']]) });
  const places = placesIn(await far.settle(query('https://a.test')));
  assert.ok(places.includes(`h3 ${TWO} 8443 svc.test https-record`), places.join());
});

test("a forbidden address of the origin's own host blocks it: A, AAAA, pin or literal", async (t) => {
  const names = {
    'private.test': { A: ['10.0.0.1'] },
    'mixed.test': { A: [ONE], AAAA: ['::1'] },
    'mixed4.test': { A: [ONE, '192.168.0.1'] },
    'mapped.test': { A: [ONE], AAAA: ['::ffff:127.0.0.1'] },
  };
  const pins = new Map([['pin.test:443', '169.254.169.254']]);
  const { settle } = await testbed(t, zone(names), { pins });
  const hosts = [...Object.keys(names), 'pin.test', '127.0.0.1', '[::1]', '[fe80::1]'];
  for (const host of hosts) assert.equal(errorIn(await settle(query(`https://${host}`))), 'blocked', host);
});

test('a forbidden hint, target or alternative is left out, and the race continues without it', async (t) => {
  const { settle } = await testbed(
    t,
    zone({
      'a.test': {
        A: [ONE],
        HTTPS: [
          { priority: 1, target: 'hinted.test', alpn: ['h3'], hints: ['127.0.0.1', TWO, '::1'] },
          { priority: 2, target: 'inner.test', alpn: ['h3'] },
          // Labels that look like an address, which need no question.
          { priority: 3, target: '127.0.0.1', alpn: ['h3'] },
        ],
      },
      'inner.test': { A: ['10.0.0.1'], AAAA: ['fd00::1'] },
      'alt.test': { A: ['192.168.0.1'] },
      'good.test': { A: ['9.9.9.9'] },
    }),
  );
  const alternatives = ['alt.test', '[::1]', '169.254.169.254', 'good.test'].map((host) =>
    alternative(host, 8443),
  );
  const found = await settle(query('https://a.test', { alternatives }));
  const addresses = new Set(placesIn(found).map((place) => place.split(' ')[1]));
  // The hints are replaced by the target's own answer, which is empty.
  assert.deepEqual([...addresses].toSorted(), [ONE, '9.9.9.9']);
  const notes = found.names.lookups.filter((lookup) => lookup.message !== undefined);
  assert.deepEqual(notes.map((lookup) => `${lookup.kind} ${lookup.name}`).toSorted(), [
    'A alt.test',
    'A inner.test',
    'AAAA inner.test',
    'HTTPS a.test',
  ]);
  for (const { message } of notes) assert.match(message ?? '', /is (loopback|private|unique-local)/);
  assert.ok(!JSON.stringify(found.names.addresses).match(/127\.|10\.|::1|fd00|192\.168/));
});

test('when the guard leaves nothing, that is the reason given', async (t) => {
  const { settle } = await testbed(
    t,
    zone({ 'a.test': { HTTPS: [{ priority: 0, target: 'inner.test' }] }, 'inner.test': { A: ['10.0.0.1'] } }),
  );
  assert.equal(errorIn(await settle(query('https://a.test'))), 'blocked');
});

test('an answer of 0.0.0.0 or :: gives no address, and a private one beside it remains forbidden', async (t) => {
  const { settle } = await testbed(
    t,
    zone({
      'blocked.test': { A: ['0.0.0.0'], AAAA: ['::'] },
      'half.test': { A: [ONE], AAAA: ['::'] },
      'inner.test': { A: ['0.0.0.0', '10.0.0.1'] },
    }),
  );
  const found = await settle(query('https://blocked.test'));
  assert.equal(errorIn(found), 'no-address');
  for (const { kind, message } of found.names.lookups)
    if (kind !== 'HTTPS') assert.match(message ?? '', /is no destination/);
  assert.ok(placesIn(await settle(query('https://half.test'))).length > 0);
  assert.equal(errorIn(await settle(query('https://inner.test'))), 'blocked');
});

test('rebinding: a name that was public a moment ago is checked again', async (t) => {
  const { settle } = await testbed(t, (_, kind, nth) =>
    kind === 'A' ? { records: [nth === 1 ? ONE : '127.0.0.1'] } : { records: [] },
  );
  const same = query('https://a.test');
  assert.equal(placesIn(await settle(same)).length, 2);
  assert.equal(errorIn(await settle(same)), 'blocked');
});

/** The updates of a discovery until a final one; the script is notified when there has been one. */
async function updatesUntil(
  t: TestContext,
  scriptOf: (first: Promise<void>) => Script,
  isLast: (update: DiscoveryUpdate) => boolean,
): Promise<DiscoveryUpdate[]> {
  const first = Promise.withResolvers<void>();
  const { discovery } = await testbed(t, scriptOf(first.promise));
  const updates: DiscoveryUpdate[] = [];
  await new Promise<void>((resolve) => {
    const live = discovery.begin(query('https://a.test'), (update) => {
      updates.push(update);
      first.resolve();
      if (!isLast(update)) return;
      live.cancel();
      resolve();
    });
    assert.deepEqual(updates, [], 'updates come after the call has returned');
  });
  return updates;
}

const isFailure = (update: DiscoveryUpdate): boolean => update.type === 'failed';

test('rebinding: a late forbidden address ends a discovery on which a race is already running', async (t) => {
  const updates = await updatesUntil(
    t,
    (first) => (_, kind) => {
      if (kind === 'A') return { records: [ONE] };
      return kind === 'AAAA' ? { records: ['::1'], after: first } : { records: [] };
    },
    isFailure,
  );
  assert.equal(updates[0]?.type, 'endpoints');
  const last = updates.at(-1);
  assert.equal(last?.type === 'failed' && last.error.code, 'blocked');
});

test('rebinding: an expired answer is requested again, and the new one checked', async (t) => {
  const updates = await updatesUntil(
    t,
    () => (_, kind, nth) =>
      kind === 'A' ? { records: [nth === 1 ? ONE : '127.0.0.1'], ttl: 0 } : { records: [] },
    isFailure,
  );
  assert.equal(updates[0]?.type, 'endpoints');
  const last = updates.at(-1);
  assert.equal(last?.type === 'failed' && last.error.code, 'blocked');
});

test('lists grow with the answers, the last one is final, and nothing is delivered after cancelling', async (t) => {
  const updates = await updatesUntil(
    t,
    (first) => (_, kind) => {
      if (kind === 'AAAA') return { records: [SIX], after: first };
      return { records: kind === 'A' ? [ONE] : [] };
    },
    (update) => update.type === 'endpoints' && update.final,
  );
  const lists = updates.map((update) =>
    update.type === 'endpoints' ? placesOf(update.endpoints).length : 0,
  );
  assert.deepEqual(lists, [2, 4]);
  const { discovery, settle, asked } = await testbed(t, () => ({ records: [] }));
  discovery.begin(query('https://a.test'), () => assert.fail('it was cancelled')).cancel();
  // Asked later and answered: an answer to the first would have been received before.
  await settle(query('https://b.test'));
  assert.deepEqual(asked.toSorted(), ['A b.test', 'AAAA b.test', 'HTTPS b.test']);
});

test("alternatives on the origin's own host are followed without a question, others through DNS and guard", async (t) => {
  const { discovery, settle, asked } = await testbed(
    t,
    zone({
      'a.test': { A: [ONE], HTTPS: [{ target: 'svc.test' }] },
      'svc.test': { A: ['9.9.9.9'] },
      'alt.test': { A: [TWO] },
      'rebound.test': { A: ['127.0.0.1'] },
    }),
  );
  const of = query('https://a.test', { assumeH3: false });
  const follow = async (alternatives: Alternative[], signal = new AbortController().signal) =>
    placesOf((await discovery.follow(of.origin, alternatives, signal)).endpoints);
  await settle(of);
  const before = asked.length;
  assert.deepEqual(await follow([alternative('', 8443), alternative('a.test', 9443)]), [
    `h3 ${ONE} 8443 a.test alt-svc`,
    `h3 ${ONE} 9443 a.test alt-svc`,
  ]);
  assert.equal(asked.length, before);
  const others = ['alt.test', 'rebound.test', 'none.test', '[::1]'].map((host) => alternative(host, 8443));
  assert.deepEqual(await follow(others), [`h3 ${TWO} 8443 alt.test alt-svc`]);
  assert.deepEqual(await follow([alternative('rebound.test', 1)]), []);
  assert.deepEqual(await follow([alternative('alt.test', 1)], AbortSignal.abort()), []);
});

test("the origin's own host is looked up again to follow an alternative if it had no address", async (t) => {
  const { discovery, settle } = await testbed(t, (name, kind, nth) => {
    if (kind === 'HTTPS') return { records: name === 'a.test' ? [{ target: 'svc.test' }] : [] };
    return { records: kind === 'A' && (name === 'svc.test' || nth > 1) ? [ONE] : [] };
  });
  const of = query('https://a.test');
  assert.deepEqual(placesIn(await settle(of)), [`h2 ${ONE} 443 svc.test https-record`]);
  const { signal } = new AbortController();
  const { endpoints } = await discovery.follow(of.origin, [alternative('', 8443)], signal);
  assert.deepEqual(placesOf(endpoints), [`h3 ${ONE} 8443 a.test alt-svc`]);
});

test('a lost look-up of one alternative does not delay the others', async (t) => {
  const { discovery } = await testbed(t, (name, kind) => {
    if (name === 'lost.test') return 'silence';
    return name.endsWith('alt.test') ? { records: kind === 'A' ? [TWO] : [] } : { records: [] };
  });
  const alternatives = [alternative('lost.test', 1), alternative('alt.test', 8443)];
  const of = query('https://a.test');
  const { endpoints } = await discovery.follow(of.origin, alternatives, new AbortController().signal);
  assert.deepEqual(placesOf(endpoints), [`h3 ${TWO} 8443 alt.test alt-svc`]);
});

test('following ends with its signal, and reports its questions', async (t) => {
  const { discovery, received } = await testbed(t, (name) =>
    name === 'a.test' ? { records: [] } : 'silence',
  );
  const abort = new AbortController();
  const following = discovery.follow(origin('https://a.test'), [alternative('alt.test', 1)], abort.signal);
  await received('A alt.test');
  abort.abort();
  const { endpoints, names } = await following;
  assert.deepEqual(endpoints, []);
  assert.ok(names.lookups.some((lookup) => lookup.name === 'alt.test' && lookup.unanswered === true));
});

test('once all is answered no delay is awaited', async (t) => {
  const clock = { ...systemClock, after: () => () => {} };
  const { settle, discovery } = await testbed(t, zone({ 'a.test': { A: [ONE] } }), { clock });
  const of = query('https://a.test');
  assert.equal(placesIn(await settle(of)).length, 2);
  const { signal } = new AbortController();
  const { endpoints } = await discovery.follow(of.origin, [alternative(TWO, 443)], signal);
  assert.deepEqual(placesOf(endpoints), [`h3 ${TWO} 443 ${TWO} alt-svc`]);
});

test('a discovery that has ended leaves no delay and no listener', async (t) => {
  let held = Promise.withResolvers<void>();
  const { discovery, received, answered, delays } = await testbed(t, (_, kind) => {
    if (kind === 'A') return { records: [ONE], after: held.promise };
    return { records: kind === 'AAAA' ? [SIX] : [] };
  });
  const of = query('https://a.test');
  for (const [last, begin] of [
    ['A a.test', (signal: AbortSignal) => discovery.settle(of, signal)],
    ['A b.test', (signal: AbortSignal) => discovery.follow(of.origin, [alternative('b.test', 443)], signal)],
  ] as const) {
    held = Promise.withResolvers();
    const { signal } = new AbortController();
    const ending = begin(signal);
    await received(last);
    await answered();
    held.resolve();
    await ending;
    assert.deepEqual([delays.size, getEventListeners(signal, 'abort').length], [0, 0]);
  }
});

test('alternatives elsewhere are followed over the families of this machine', async (t) => {
  const script = zone({ 'a.test': { A: [ONE], AAAA: [SIX] }, 'alt.test': { A: [TWO], AAAA: [SIX] } });
  const on = async (connectivity: Connectivity) => {
    const { discovery, settle, asked } = await testbed(t, script, {
      connectivity: async () => connectivity,
      sourceFor: (to) => (to.includes(':') === connectivity.ipv6 ? '2001:db8::2' : null),
    });
    const of = query('https://a.test');
    await settle(of);
    const follow = async (...alternatives: Alternative[]) =>
      placesOf((await discovery.follow(of.origin, alternatives, new AbortController().signal)).endpoints);
    return { follow, asked };
  };
  const only6 = await on({ ...BOTH, ipv4: false, nat64Prefix: '64:ff9b::/96' });
  assert.deepEqual(await only6.follow(alternative(TWO, 443)), ['h3 64:ff9b::808:808 443 8.8.8.8 alt-svc']);
  const only4 = await on({ ...BOTH, ipv6: false, preferred: 'ipv4' });
  assert.deepEqual(await only4.follow(alternative('alt.test', 443)), [`h3 ${TWO} 443 alt.test alt-svc`]);
  assert.ok(!only4.asked.includes('AAAA alt.test'));
});

test('a pin is used whatever its family, though an alternative is elsewhere', async (t) => {
  const { settle } = await testbed(t, zone({ 'alt.test': { AAAA: [SIX] } }), {
    pins: new Map([['a.test:443', ONE]]),
    connectivity: async () => ({ ...BOTH, ipv4: false }),
  });
  const found = await settle(query('https://a.test', { alternatives: [alternative('alt.test', 443)] }));
  assert.deepEqual(placesIn(found), [`h2 ${ONE} 443 a.test origin`, `h3 ${SIX} 443 alt.test alt-svc`]);
});

test("behind the network's own NAT64 prefix the guard checks the IPv4 address", async (t) => {
  const connectivity = async (): Promise<Connectivity> => ({
    ipv6: true,
    ipv4: false,
    preferred: 'ipv6',
    nat64Prefix: '64:ff9b:1:2::/96',
  });
  const { settle } = await testbed(
    t,
    zone({
      'a.test': { A: [ONE] },
      'dns64.test': { AAAA: ['64:ff9b:1:2::808:808'] },
      'inner.test': { AAAA: ['64:ff9b:1:2::a00:1'] },
    }),
    { connectivity, sourceFor: (to) => (to.includes(':') ? '2001:db8::2' : null) },
  );
  const made = await settle(query('https://a.test'));
  assert.ok(made.ok);
  assert.equal(made.nat64Prefix, '64:ff9b:1:2::/96');
  const places = placesIn(made);
  assert.ok(
    places.every((place) => place.includes('64:ff9b:1:2::101:101')),
    places.join(),
  );
  assert.deepEqual(
    made.names.addresses.map((a) => `${a.source} ${a.address} ${a.ttlSeconds}`),
    [`a ${ONE} 300`, 'nat64 64:ff9b:1:2::101:101 300'],
  );
  assert.equal(placesIn(await settle(query('https://dns64.test'))).length, 2);
  assert.equal(errorIn(await settle(query('https://inner.test'))), 'blocked');
});

test('where IPv4 also has a route, nothing behind the NAT64 prefix that the guard forbids is connected to', async (t) => {
  const inner = '2001:67c:64::a00:1';
  const asked: string[] = [];
  const known = Promise.withResolvers<string>();
  const { settle, discovery, answered } = await testbed(
    t,
    zone({
      'a.test': { A: [ONE], AAAA: [SIX] },
      'inner.test': { A: [ONE], AAAA: [inner] },
    }),
    {
      nat64Prefix: () => {
        asked.push('prefix');
        return known.promise;
      },
    },
  );
  const held = settle(query('https://inner.test'));
  const other = settle(query('https://a.test'));
  await answered();
  await new Promise((resolve) => setTimeout(resolve, 3 * RESOLUTION_DELAY_MS));
  known.resolve('2001:67c:64::/96');
  assert.equal(errorIn(await held), 'blocked');
  assert.ok(placesIn(await other).includes(`h2 ${SIX} 443 a.test origin`));
  assert.equal(errorIn(await settle(query(`https://[${inner}]`))), 'blocked');
  const { endpoints } = await discovery.follow(
    origin('https://1.1.1.1'),
    [alternative(`[${inner}]`, 8443), alternative('inner.test', 8443)],
    new AbortController().signal,
  );
  assert.ok(!placesOf(endpoints).join().includes(inner));
  const before = asked.length;
  assert.equal(errorIn(await settle(query('https://[::1]'))), 'blocked');
  assert.equal(asked.length, before, 'nothing is asked about what is forbidden anyway');
});
