// A session on a machine that moves between networks, in virtual time, with the real host cache.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { message } from '@photofinish/shared/language/message';
import type { SentReply } from '@photofinish/shared/port/reply';
import { WIRE_PROTOCOL } from '@photofinish/shared/port/wire';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Verdict } from '@photofinish/shared/race/verdict-schema';
import { verdictSaying } from '@photofinish/shared/testing/race-samples';
import * as v from 'valibot';
import { openHostCache } from '../cache/store.ts';
import type { NetworkFacts } from '../network/key.ts';
import { type NetworkSnapshot, recordOnlyOn, watchNetwork } from '../network/watch.ts';
import type { RaceReason } from '../race/budget.ts';
import { observation, race, trial, up } from '../testing/cache-samples.ts';
import { virtualTime } from '../testing/virtual-time.ts';
import { type RaceRunner, Session } from './session.ts';

const A = 'https://a.test';
const HOME: NetworkFacts = {
  gateway: '192.168.1.1',
  linkLayer: 'aa:aa:aa:aa:aa:aa',
  kind: 'wireless',
  ssid: 'home',
  tunnel: false,
};
const CAFE: NetworkFacts = { ...HOME, linkLayer: 'bb:bb:bb:bb:bb:bb', ssid: 'cafe' };
/** How long identifying the network takes. */
const EXAMINING_MS = 400;

async function conversation(t: TestContext, hello: object = { verdictData: true }) {
  const directory = await mkdtemp(join(tmpdir(), 'photofinish-'));
  const time = virtualTime();
  const { clock } = time;
  const cache = openHostCache({ path: join(directory, 'cache.db'), clock, sharedKey: (origin) => origin });
  t.after(async () => {
    cache.close();
    await rm(directory, { recursive: true });
  });
  let here = HOME;
  const network = watchNetwork({
    source: {
      snapshot: (): NetworkSnapshot => ({
        mark: here.ssid,
        route: here.linkLayer ?? '',
        facts: 'ask',
        goodForMs: null,
      }),
      async examine() {
        await new Promise<void>((done) => clock.after(EXAMINING_MS, done));
        return here;
      },
    },
    salt: new Uint8Array(32),
    clock,
  });
  const kept = recordOnlyOn(network, cache);
  const replies: SentReply[] = [];
  const shared: string[] = [];
  const races: (Pick<Parameters<RaceRunner>[0], 'signal' | 'onProgress'> & {
    finish: (change?: object) => void;
  })[] = [];
  const logged: [string, object | undefined][] = [];
  const budget = { reasons: [] as RaceReason[], calls: [] as string[], usedUp: false };
  let examinations = 0;
  const session = new Session({
    program: 'test/1',
    cache,
    network,
    budget: {
      take(reason) {
        if (budget.usedUp) return null;
        budget.reasons.push(reason);
        return {
          countAttempt: () => budget.calls.push('attempt'),
          release: () => budget.calls.push('release'),
        };
      },
    },
    // Ignores its signal, like a race that ends at that very moment.
    race: async ({ network: key, signal, onProgress }) => {
      const change = await new Promise<object | undefined>((finish) =>
        races.push({ finish, signal, onProgress }),
      );
      const record = race([trial(up('h3'))], { network: key });
      kept.recordRace(record);
      return {
        ...record,
        verdict: verdictSaying('h3-available', ''),
        ...change,
      } as unknown as OriginRace;
    },
    doctor: async () => {
      examinations += 1;
      await new Promise<void>((done) => clock.after(1000, done));
      return [];
    },
    share: ({ origin }) => shared.push(origin),
    send: (reply) => replies.push(reply),
    log: { write: (event, facts) => logged.push([event, facts]), digest: () => '', wipe: () => {} },
  });
  session.receive({ type: 'hello', id: 1, protocol: WIRE_PROTOCOL, program: 'test/1', ...hello });
  return {
    session,
    cache,
    races,
    logged,
    budget,
    replies,
    shared,
    examinations: () => examinations,
    epochMs: () => clock.epochMs(),
    pass: (ms: number) => time.run(new Promise<void>((done) => clock.after(ms, done))),
    carryTo(place: NetworkFacts) {
      here = place;
    },
    reply: (id: number) => replies.find((reply) => reply.id === id),
    observe: (id: number, protocol: 'h2' | 'h3', atMs: number) =>
      session.receive({
        type: 'observed',
        id,
        browser: 'chromium',
        observations: [observation({ protocol, atMs })],
      }),
    forecast: (id: number) =>
      session.receive({ type: 'forecast', id, browser: 'chromium', site: 'a.test', origins: [A] }),
    race: (id: number, facts: object = {}) =>
      session.receive({ type: 'race', id, origin: A, mode: 'race', reason: 'click', ...facts }),
  };
}

test('a forecast waits for the network, but not longer than it is useful; writes wait until the network is certain', async (t) => {
  const { pass, reply, forecast, observe, cache, epochMs } = await conversation(t);
  forecast(2);
  observe(3, 'h3', epochMs());
  await pass(149);
  assert.deepEqual([reply(2), reply(3)], [undefined, undefined]);
  await pass(2);
  const early = reply(2);
  assert.equal(early?.type, 'forecast');
  assert.equal('network' in early, false, 'not identified yet is no other network');
  assert.equal(cache.list().length, 0);
  await pass(EXAMINING_MS);
  assert.deepEqual(reply(3), { id: 3, type: 'observed', stored: 1 });
  forecast(4);
  const answer = reply(4);
  assert.equal(answer?.type === 'forecast' && answer.forecasts[0]?.expected.protocol, 'h3');
});

test('a wipe while the network is being identified also discards pending writes', async (t) => {
  const { session, pass, reply, observe, cache, epochMs } = await conversation(t);
  observe(2, 'h3', epochMs());
  session.receive({ type: 'wipe', id: 3 });
  await pass(EXAMINING_MS + 1);
  assert.deepEqual(reply(2), { id: 2, type: 'observed', stored: 0 });
  assert.equal(cache.list().length, 0);
});

test('a race whose network was left is cancelled with that reason, and recorded nowhere', async (t) => {
  const { pass, reply, race: start, races, carryTo, cache } = await conversation(t);
  start(2);
  await pass(EXAMINING_MS + 1);
  carryTo(CAFE);
  await pass(251);
  assert.equal(races[0]?.signal.aborted, true);
  races[0]?.finish();
  await pass(EXAMINING_MS + 1);
  assert.deepEqual(reply(2), {
    id: 2,
    type: 'error',
    code: 'cancelled',
    message: 'the network changed',
  });
  assert.equal(cache.list().length, 0);
});

test('nor is one recorded that ends before the change was noticed', async (t) => {
  const { pass, reply, race: start, races, carryTo, cache } = await conversation(t);
  start(2);
  await pass(EXAMINING_MS + 1);
  carryTo(CAFE);
  races[0]?.finish();
  await pass(1);
  const answer = reply(2);
  assert.deepEqual(answer?.type === 'error' && answer.code, 'cancelled');
  assert.equal(cache.list().length, 0);
});

/** What extensions that predate verdicts as data require of them. */
const OLD_VERDICT = v.strictObject({
  code: v.string(),
  text: v.string(),
  findings: v.array(v.strictObject({ code: v.string(), text: v.string() })),
});

test('a verdict is sent as data, and in words to an older extension', async (t) => {
  const verdict: Verdict = {
    code: 'h3-used',
    findings: [
      { code: 'h3-used', ...message('verdictUsed') },
      { code: 'h3-used', ...message('verdictUntriedAddresses', { count: 2 }) },
      { code: 'h3-available', ...message('verdictAvailable') },
    ],
  };
  const told = async (hello: object): Promise<unknown> => {
    const { pass, reply, race: start, races } = await conversation(t, hello);
    start(2);
    await pass(EXAMINING_MS + 1);
    races[0]?.finish({ verdict });
    await new Promise((resolve) => setImmediate(resolve));
    for (let turn = 0; reply(2) === undefined && turn < 1000; turn += 1) await pass(1);
    const answer = reply(2);
    return answer?.type === 'race' ? answer.verdict : answer;
  };
  assert.deepEqual(await told({ verdictData: true }), verdict);
  const old = await told({});
  assert.ok(v.is(OLD_VERDICT, old), JSON.stringify(old));
  assert.deepEqual(old, {
    code: 'h3-used',
    text: 'Reached over HTTP/3. 2 more addresses or alternatives were not tried: a race tries only a limited number.',
    findings: [{ code: 'h3-available', text: 'Supports HTTP/3 on this network.' }],
  });
});

for (const [what, change, where] of [
  ['a number that JSON would turn to null', { startDelayMs: Number.POSITIVE_INFINITY }, 'startDelayMs'],
  ['a text beyond its bound', { network: 'x'.repeat(129) }, 'network'],
  ['something missing', { summary: undefined }, 'summary'],
] as const)
  test(`a reply with ${what} is withheld and reported, and affects no other request`, async (t) => {
    const { pass, reply, race: start, races, forecast, logged } = await conversation(t);
    start(2);
    start(3);
    await pass(EXAMINING_MS + 1);
    races[0]?.finish(change);
    races[1]?.finish();
    await pass(1);
    const answer = reply(2);
    assert.deepEqual(answer?.type === 'error' && answer.code, 'bad-reply');
    assert.equal(reply(3)?.type, 'race');
    forecast(4);
    assert.equal(reply(4)?.type, 'forecast');
    const told = logged.filter(([event]) => event === 'bad-reply').map(([, facts]) => facts);
    assert.deepEqual(
      told.map((facts) => facts && 'where' in facts && facts.where),
      [where],
    );
  });

const STARTED = { event: 'started', contender: 'h3', trial: 1, trials: 1, atMs: 0 } as const;

test('a race takes its slot of the budget by its reason, counts each attempt that starts, and releases it once', async (t) => {
  const { pass, race: start, races, budget } = await conversation(t);
  start(2);
  start(3, { reason: 'navigation' });
  await pass(EXAMINING_MS + 1);
  assert.deepEqual(budget.reasons, ['click', 'navigation']);
  for (const event of ['started', 'failed', 'started'] as const) races[0]?.onProgress({ ...STARTED, event });
  assert.deepEqual(budget.calls, ['attempt', 'attempt']);
  races[0]?.finish();
  await pass(1);
  assert.deepEqual(budget.calls, ['attempt', 'attempt', 'release']);
});

test('with the budget used up nothing is raced', async (t) => {
  const { pass, reply, race: start, races, budget } = await conversation(t);
  budget.usedUp = true;
  start(2);
  await pass(EXAMINING_MS + 1);
  const answer = reply(2);
  assert.equal(answer?.type === 'error' && answer.code, 'too-many-races');
  assert.deepEqual(races, []);
});

test('an invalid progress event is left out, and its race continues', async (t) => {
  const { pass, replies, race: start, races } = await conversation(t);
  start(2);
  await pass(EXAMINING_MS + 1);
  races[0]?.onProgress({ ...STARTED, atMs: Number.POSITIVE_INFINITY });
  races[0]?.finish();
  await pass(1);
  assert.deepEqual(
    replies.filter(({ id }) => id === 2).map(({ type }) => type),
    ['race'],
  );
});

test('however many requests the doctor gets, there is one examination at a time, and each is answered', async (t) => {
  const { session, pass, replies, examinations } = await conversation(t);
  for (let id = 2; id < 42; id += 1) session.receive({ type: 'doctor', id });
  await pass(1001);
  assert.equal(examinations(), 1);
  assert.equal(replies.filter(({ type }) => type === 'doctor').length, 40);
  session.receive({ type: 'doctor', id: 50 });
  await pass(1001);
  assert.equal(examinations(), 2, 'whoever asks later gets what is true then');
});

test('a race is recorded under the network on which it ran', async (t) => {
  const { pass, reply, race: start, races, cache } = await conversation(t);
  start(2);
  await pass(EXAMINING_MS + 1);
  races[0]?.finish();
  await pass(1);
  assert.equal(reply(2)?.type, 'race');
  assert.equal(cache.list().length, 1);
});

test('an observation reported late is written under the network on which it was made', async (t) => {
  const { pass, reply, forecast, observe, carryTo, epochMs } = await conversation(t);
  forecast(2);
  await pass(EXAMINING_MS + 1);
  const atHomeMs = epochMs();
  carryTo(CAFE);
  await pass(1000);
  forecast(3);
  await pass(EXAMINING_MS + 1);
  observe(4, 'h3', atHomeMs);
  forecast(5);
  const inCafe = reply(5);
  assert.equal(inCafe?.type === 'forecast' && inCafe.forecasts[0]?.hit, false);
  carryTo(HOME);
  await pass(1000);
  forecast(6);
  await pass(EXAMINING_MS + 1);
  forecast(7);
  const atHome = reply(7);
  assert.equal(atHome?.type === 'forecast' && atHome.forecasts[0]?.expected.protocol, 'h3');
});

test('a network is named, and its name is found again from another network, until removed or wiped', async (t) => {
  const { session, pass, reply, forecast, carryTo } = await conversation(t);
  const networksIn = (id: number) => {
    const answer = reply(id);
    assert.equal(answer?.type, 'networks');
    return answer.networks;
  };
  session.receive({ type: 'networks', id: 2 });
  await pass(EXAMINING_MS + 1);
  const [home] = networksIn(2);
  assert.deepEqual(networksIn(2), [{ network: home?.network, name: null, current: true }]);

  session.receive({ type: 'name-network', id: 3, network: home?.network, name: ' Home ' });
  assert.deepEqual(networksIn(3), [{ network: home?.network, name: 'Home', current: true }]);

  carryTo(CAFE);
  await pass(1000);
  forecast(4);
  await pass(EXAMINING_MS + 1);
  session.receive({ type: 'networks', id: 5 });
  const inCafe = networksIn(5);
  assert.deepEqual(inCafe[0], { network: home?.network, name: 'Home', current: false });
  assert.deepEqual([inCafe[1]?.name, inCafe[1]?.current], [null, true]);

  session.receive({ type: 'name-network', id: 6, network: inCafe[1]?.network, name: 'Cafe' });
  session.receive({ type: 'name-network', id: 7, network: home?.network, name: null });
  assert.deepEqual(networksIn(7), [{ network: inCafe[1]?.network, name: 'Cafe', current: true }]);
  session.receive({ type: 'wipe', id: 8 });
  session.receive({ type: 'networks', id: 9 });
  assert.deepEqual(networksIn(9), [{ network: inCafe[1]?.network, name: null, current: true }]);
});

test('having no network, and one that cannot be identified, have no name', async (t) => {
  const { session, reply } = await conversation(t);
  for (const [index, network] of ['offline', 'unidentified'].entries()) {
    session.receive({ type: 'name-network', id: 2 + index, network, name: 'Home' });
    const answer = reply(2 + index);
    assert.equal(answer?.type === 'error' && answer.code, 'bad-network');
  }
});

test('an outcome is shared only if the message allows it, and the machine is still on its network', async (t) => {
  const c = await conversation(t);
  /** Runs the race to its reply, which waits for modules to be loaded. */
  const raced = async (id: number, facts: object, before = () => {}): Promise<void> => {
    c.race(id, facts);
    await c.pass(EXAMINING_MS + 1);
    before();
    c.races.at(-1)?.finish();
    for (let turn = 0; c.reply(id) === undefined && turn < 1000; turn += 1) await c.pass(1);
    assert.notEqual(c.reply(id), undefined);
  };
  await raced(2, {});
  assert.deepEqual(c.shared, []);
  await raced(3, { share: true });
  assert.deepEqual(c.shared, [A]);
  await raced(4, { share: true }, () => c.carryTo(CAFE));
  assert.deepEqual(c.shared, [A]);
});

for (const [what, advertised, bases] of [
  ['nothing', false, ['shared', 'none']],
  ['an expired advertisement', true, ['shared', 'advertised']],
] as const)
  test(`shared races are told only to an extension that supports it; another gets ${what}`, async (t) => {
    for (const [hello, basis] of [
      [{ sharedForecasts: true }, bases[0]],
      [{}, bases[1]],
    ] as const) {
      const c = await conversation(t, hello);
      await c.pass(2 * EXAMINING_MS);
      const observations = [observation({ atMs: c.epochMs(), altSvc: 'h3=":443"; ma=1' })];
      if (advertised) c.session.receive({ type: 'observed', id: 2, browser: 'chromium', observations });
      const outcome = { key: A, atMs: c.epochMs(), h3Failure: null, tcpProtocol: null };
      c.cache.recordShared([{ key: A, outcome }], {});
      await c.pass(2000);
      c.forecast(3);
      await c.pass(2 * EXAMINING_MS);
      const reply = c.reply(3);
      assert.equal(reply?.type === 'forecast' && reply.forecasts[0]?.reachable.basis, basis);
    }
  });
