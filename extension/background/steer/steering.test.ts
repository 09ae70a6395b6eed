// Steering against a fake browser with store and rules: the stored state and the rules stay in step.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Forecast } from '@photofinish/shared/port/wire';
import type { Origin } from '@photofinish/shared/web/origin';
import { ENDED_REQUEST } from '../../testing/samples.ts';
import { memoryStore } from '../../testing/storage.ts';
import type { EndedRequest } from '../observe/requests.ts';
import { asServed, openSteering, responseOf, type Steering } from './steering.ts';
import type { Rule } from './steering-state.ts';

const A = 'https://a.test' as Origin;
const REACHED: Forecast = {
  origin: A,
  reachable: { protocol: 'h3', basis: 'raced', ageMs: 0, fresh: true },
  expected: { protocol: 'h2', basis: 'observed' },
  hit: true,
};

async function choose(steering: Steering): Promise<void> {
  await steering.forecast([REACHED], 'home', false);
  await steering.choose(A, true, 'home');
}

function browser() {
  const store = memoryStore();
  const rules = new Map<number, Rule>();
  const told: boolean[] = [];
  let nowMs = 1000;
  let refuse = false;
  let asked = 0;
  return {
    store,
    rules,
    told,
    pass: (ms: number) => {
      nowMs += ms;
    },
    refuse: (on: boolean) => {
      refuse = on;
    },
    /** Whether the browser was asked about rules since the last call. */
    wasAsked: () => {
      const was = asked > 0;
      asked = 0;
      return was;
    },
    headers: () => [...rules.values()].map((rule) => rule.action.responseHeaders[0]?.value),
    open: () =>
      openSteering({
        store,
        rules: {
          getDynamicRules: async () => {
            asked += 1;
            return [...rules.values()];
          },
          updateDynamicRules: async ({ removeRuleIds, addRules }) => {
            asked += 1;
            if (refuse) throw new Error('the browser refuses');
            for (const id of removeRuleIds) rules.delete(id);
            for (const rule of addRules) {
              assert.ok(!rules.has(rule.id), 'a rule id is taken');
              rules.set(rule.id, rule);
            }
          },
        },
        advertised: async () => false,
        nowMs: () => nowMs,
        onChange: (steering) => told.push(steering),
      }),
  };
}

test('a choice with evidence sets one rule for exactly that origin, and a restart keeps it', async () => {
  const there = browser();
  const steering = await there.open();
  await choose(steering);
  const [rule] = there.rules.values();
  assert.equal(rule?.condition.urlFilter, '|https://a.test/');
  assert.deepEqual(there.headers(), ['h3=":443"; ma=3600']);
  there.rules.clear();
  const again = await there.open();
  assert.deepEqual(there.headers(), ['h3=":443"; ma=3600']);
  assert.equal(again.view(A, false).active?.direction, 'to-h3');
});

test('rules that the state does not contain are removed at the start', async () => {
  const there = browser();
  const steering = await there.open();
  await choose(steering);
  there.store.values.clear();
  await there.open();
  assert.equal(there.rules.size, 0);
});

test('a browser without rules is not asked about them, which would slow down its requests', async () => {
  const there = browser();
  await there.open();
  assert.equal(there.wasAsked(), true, 'there may be rules of a state that was lost');
  const steering = await there.open();
  await steering.forecast([REACHED], 'home', false);
  await steering.enable(false);
  await steering.enable(true);
  assert.equal(there.wasAsked(), false);
  await steering.choose(A, true, 'home');
  await there.open();
  assert.equal(there.wasAsked(), true);
  const again = await there.open();
  await again.choose(A, false, 'home');
  there.wasAsked();
  await there.open();
  assert.equal(there.rules.size, 0);
  assert.equal(there.wasAsked(), false);
});

test('rules that were not withdrawn in time are withdrawn at the next start', async () => {
  const there = browser();
  const steering = await there.open();
  await choose(steering);
  there.refuse(true);
  await assert.rejects(steering.choose(A, false, 'home'), /refuses/);
  there.refuse(false);
  assert.equal(there.rules.size, 1);
  await there.open();
  assert.equal(there.rules.size, 0);
});

test('the master switch withdraws what was seen with a clear, and a further answer ends that', async () => {
  const there = browser();
  const steering = await there.open();
  await choose(steering);
  const [altSvc = ''] = there.headers();
  steering.answered({ origin: A, h3: false, document: true, altSvc, atMs: 1000 });
  await steering.enable(false);
  assert.deepEqual(there.headers(), ['clear']);
  await steering.forecast([REACHED], 'home', false);
  assert.deepEqual(there.headers(), ['clear'], 'nothing begins while the switch is off');
  steering.answered({ origin: A, h3: true, document: true, altSvc: 'clear', atMs: 1000 });
  await steering.expire();
  assert.equal(there.rules.size, 0);
});

test('a rejected rule is reported, and rules follow the state again afterwards', async () => {
  const there = browser();
  const steering = await there.open();
  there.refuse(true);
  await assert.rejects(choose(steering), /refuses/);
  there.refuse(false);
  await steering.forecast([REACHED], 'home', false);
  await there.open();
  assert.equal(there.rules.size, 1);
});

test('a start with something steered reports it, because alarms end with the browser', async () => {
  const there = browser();
  await choose(await there.open());
  there.told.length = 0;
  await there.open();
  assert.deepEqual(there.told, [true]);
});

test('answers in flight when a rule ends still carry our clear', async () => {
  const there = browser();
  const steering = await there.open();
  await choose(steering);
  const [altSvc = ''] = there.headers();
  steering.answered({ origin: A, h3: true, document: true, altSvc, atMs: 1000 });
  await steering.choose(A, false, 'home');
  steering.answered({ origin: A, h3: true, document: true, altSvc: 'clear', atMs: 1000 });
  await steering.expire();
  assert.equal(there.rules.size, 0);
  assert.ok(steering.isOurs(A, 'clear') && steering.isOurs(A, altSvc));
  there.pass(10_000);
  assert.equal(steering.isOurs(A, 'clear') || steering.isOurs(A, altSvc), false);
});

test('exclusions are undone and forgotten, and a wipe forgets forecasts', async () => {
  const there = browser();
  const steering = await there.open();
  await choose(steering);
  await steering.exclude((origin) => origin !== A);
  assert.equal(there.rules.size, 1);
  await steering.exclude((origin) => origin === A);
  assert.equal(there.rules.size, 0);
  assert.equal(steering.view(A, false).chosen, false);
  assert.equal(steering.view(A, false).possible, 'to-h3');
  await steering.wipe();
  assert.equal(steering.view(A, false).possible, null);
});

test('invalid data in storage counts as nothing steered', async () => {
  const there = browser();
  there.store.values.set('steering', { revision: 1, value: { version: 9, chosen: 'no' } });
  const steering = await there.open();
  await steering.forecast([REACHED], 'home', false);
  assert.deepEqual(steering.view(A, false), {
    enabled: true,
    chosen: false,
    active: null,
    possible: 'to-h3',
    undone: null,
  });
});

// A header set by steering never counts as sent by the server, whatever state the background is in.

const OURS = 'h3=":443"; ma=3600';
const REQUEST: EndedRequest = {
  ...ENDED_REQUEST,
  documentId: null,
  kind: 'navigation',
  firstUrl: 'https://a.test/',
  url: 'https://a.test/',
  atMs: 5,
  protocol: 'h2',
  altSvc: null,
};
const steered = {
  isOurs: (origin: string, altSvc: string) => origin === 'https://a.test' && [OURS, 'clear'].includes(altSvc),
};
const altSvcOf = (more: Partial<EndedRequest>, steering: Parameters<typeof asServed>[1]) =>
  asServed({ ...REQUEST, ...more }, steering).altSvc;

test('our advertisement is recognised before the state is loaded, and from a cache', () => {
  assert.equal(altSvcOf({ altSvc: OURS }, null), null);
  assert.equal(altSvcOf({ altSvc: OURS }, steered), null);
  assert.equal(altSvcOf({ altSvc: OURS, fromCache: true }, steered), null);
  assert.equal(altSvcOf({ altSvc: 'clear', fromCache: true, url: 'https://b.test/' }, steered), null);
});

test('a clear is the server’s if nothing is steered, and so is what a server advertises', () => {
  assert.equal(altSvcOf({ altSvc: 'clear' }, steered), null);
  assert.equal(altSvcOf({ altSvc: 'clear' }, null), null);
  assert.equal(altSvcOf({ altSvc: 'clear', url: 'https://b.test/' }, steered), 'clear');
  assert.equal(altSvcOf({ altSvc: 'h3=":443"' }, steered), 'h3=":443"');
  assert.equal(altSvcOf({ altSvc: 'h3=":443"' }, null), 'h3=":443"');
  assert.equal(
    altSvcOf({ altSvc: OURS, url: 'https://b.test/' }, steered),
    OURS,
    'a server may send the same',
  );
  const forged = `${OURS}; photofinish=1`;
  assert.equal(altSvcOf({ altSvc: forged }, steered), forged, 'no mark makes a header ours');
});

test('steering receives answers over the network, with its own header', () => {
  const altSvc = OURS;
  assert.deepEqual(responseOf({ ...REQUEST, altSvc }), {
    origin: 'https://a.test',
    h3: false,
    document: true,
    altSvc,
    atMs: 5,
  });
  assert.equal(responseOf({ ...REQUEST, hop: true })?.document, false);
  assert.equal(responseOf({ ...REQUEST, fromCache: true }), null);
  assert.equal(responseOf({ ...REQUEST, protocol: null }), null);
});
