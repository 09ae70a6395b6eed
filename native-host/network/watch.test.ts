import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { UNIDENTIFIED } from '@photofinish/shared/web/network-name';
import fc from 'fast-check';
import { virtualTime } from '../testing/virtual-time.ts';
import { type NetworkFacts, networkKey } from './key.ts';
import { type NetworkSnapshot, type NetworkSource, namedNetwork, watchNetwork } from './watch.ts';

const SALT = new Uint8Array(32).fill(1);
const HOME: NetworkFacts = {
  gateway: '192.168.1.1',
  linkLayer: 'aa:aa:aa:aa:aa:aa',
  kind: 'wired',
  ssid: '',
  tunnel: false,
};
const CAFE: NetworkFacts = { ...HOME, linkLayer: 'bb:bb:bb:bb:bb:bb' };
const keyOf = (facts: NetworkFacts | null) => networkKey(facts, SALT);

/** A machine that moves between networks: what a glance shows, what an examination finds and how long it takes. */
function machine() {
  const time = virtualTime();
  const here = {
    snapshot: {} as NetworkSnapshot,
    found: HOME as NetworkFacts | null | 'nothing',
    takesMs: 100,
    snapshots: 0,
    examinations: 0,
  };
  const source: NetworkSource = {
    snapshot() {
      here.snapshots += 1;
      return here.snapshot;
    },
    async examine() {
      here.examinations += 1;
      const { found } = here;
      await new Promise<void>((done) => time.clock.after(here.takesMs, done));
      if (found === 'nothing') throw new Error('no command answers');
      return found;
    },
  };
  const seen = (facts: NetworkFacts | null, mark = JSON.stringify(facts)): void => {
    here.snapshot = { mark, route: `${facts?.gateway}`, facts, goodForMs: null };
  };
  const hidden = (mark: string, route: string, goodForMs: number | null = null): void => {
    here.snapshot = { mark, route, facts: 'ask', goodForMs };
  };
  const changes: [string, string][] = [];
  seen(HOME);
  const pass = (ms: number): Promise<void> =>
    time.run(new Promise<void>((done) => time.clock.after(ms, done)));
  const network = watchNetwork({
    source,
    salt: SALT,
    clock: time.clock,
    onChange: (from, to) => changes.push([from, to]),
  });
  return { here, seen, hidden, network, time, pass, changes };
}

test('what a glance shows is known and certain at once', () => {
  const { network, here } = machine();
  assert.equal(network.key(), keyOf(HOME));
  assert.equal(network.settledKey(), keyOf(HOME));
  assert.deepEqual(network.facts(), HOME);
  assert.equal(here.examinations, 0);
});

test('a snapshot is valid for 250 ms; a change is noticed after that', async () => {
  const { network, here, seen, pass, changes } = machine();
  network.key();
  seen(CAFE);
  const before = here.snapshots;
  await pass(249);
  assert.equal(network.key(), keyOf(HOME));
  assert.equal(here.snapshots, before);
  await pass(1);
  assert.equal(network.key(), keyOf(CAFE));
  assert.deepEqual(changes, [[keyOf(HOME), keyOf(CAFE)]]);
});

test('without watchers it looks only on demand, however long that takes', async () => {
  const { network, here, pass } = machine();
  network.key();
  const before = here.snapshots;
  await pass(3_600_000);
  assert.equal(here.snapshots, before);
});

test('watchers are notified once when the network was left, within 250 ms, and polling ends with the last', async () => {
  const { network, here, seen, pass } = machine();
  const key = await network.settled();
  let left = 0;
  const stop = network.watch(key, () => {
    left += 1;
  });
  await pass(1000);
  assert.equal(left, 0);
  seen(CAFE);
  await pass(251);
  assert.equal(left, 1);
  seen(HOME);
  await pass(1000);
  assert.equal(left, 1);
  const stopSecond = network.watch(await network.settled(), () => assert.fail('it was stopped'));
  stop();
  stopSecond();
  const before = here.snapshots;
  seen(CAFE);
  await pass(1000);
  assert.equal(here.snapshots, before);
});

test('having no route counts as a network of its own', async () => {
  const { network, seen, pass } = machine();
  await network.settled();
  seen(null);
  await pass(250);
  assert.equal(network.key(), 'offline');
});

test('where a snapshot does not suffice, nothing is known until the examination has answered', async () => {
  const { network, hidden, time } = machine();
  hidden('wlan0', 'wlan0');
  assert.equal(network.key(), null);
  assert.equal(network.settledKey(), null);
  assert.equal(await time.run(network.settled()), keyOf(HOME));
  assert.equal(network.settledKey(), keyOf(HOME));
  assert.equal(time.clock.nowMs(), 100);
});

test('it is examined once while the mark is unchanged, and again when that is no longer reliable', async () => {
  const { network, here, hidden, pass, time } = machine();
  hidden('wlan0', '', 5000);
  await time.run(network.settled());
  await pass(4000);
  network.key();
  assert.equal(here.examinations, 1);
  await pass(1000);
  here.found = CAFE;
  // The old key stays valid and certain until the answer disproves it.
  assert.equal(network.settledKey(), keyOf(HOME));
  assert.equal(here.examinations, 2);
  await pass(100);
  assert.equal(network.settledKey(), keyOf(CAFE));
});

test('a key stays valid for reading, not for writing, while the same route is examined again', async () => {
  const { network, here, hidden, pass, time } = machine();
  hidden('wlan0 1', 'wlan0');
  await time.run(network.settled());
  here.found = CAFE;
  hidden('wlan0 2', 'wlan0');
  await pass(250);
  assert.equal(network.key(), keyOf(HOME));
  assert.equal(network.settledKey(), null);
  assert.equal(network.isStill(keyOf(HOME)), false);
  assert.equal(await time.run(network.settled()), keyOf(CAFE));
});

test('on another route there is no key until it is known, and watchers are notified at once', async () => {
  const { network, here, hidden, pass, time } = machine();
  hidden('wlan0', 'wlan0');
  let left = false;
  network.watch(await time.run(network.settled()), () => {
    left = true;
  });
  here.found = CAFE;
  here.takesMs = 1000;
  hidden('wlan1', 'wlan1');
  await pass(251);
  assert.equal(left, true);
  assert.equal(network.key(), null);
});

test('a gateway that stops answering is the same gateway; silence of another one is not', async () => {
  const { network, here, seen, hidden, pass, changes } = machine();
  await network.settled();
  here.found = { ...HOME, linkLayer: null };
  hidden('unresolved', HOME.gateway);
  await pass(250);
  network.key();
  await pass(100);
  assert.equal(network.settledKey(), keyOf(HOME));
  seen(HOME);
  await pass(250);
  assert.equal(network.settledKey(), keyOf(HOME));
  assert.deepEqual(changes, []);
  here.found = { ...HOME, gateway: '10.0.0.1', linkLayer: null };
  hidden('unresolved', '10.0.0.1');
  await pass(250);
  network.key();
  await pass(100);
  assert.equal(network.settledKey(), keyOf(here.found));
});

test('results found while the machine moved are attributed to neither network', async () => {
  const { network, here, hidden, pass, time } = machine();
  hidden('wlan0', 'wlan0');
  network.key();
  here.found = CAFE;
  hidden('wlan1', 'wlan1');
  // The first examination answers for a network already left.
  const key = await time.run(network.settled());
  assert.equal(key, keyOf(CAFE));
  assert.equal(here.examinations, 2);
  await pass(1000);
  assert.equal(network.key(), keyOf(CAFE));
});

test('where no command answers, the network is unidentified, and nothing is recorded for it', async () => {
  const { network, here, hidden, time } = machine();
  here.found = 'nothing';
  hidden('en0', '');
  assert.equal(await time.run(network.settled()), UNIDENTIFIED);
  assert.equal(network.isStill(UNIDENTIFIED), false);
  const nowhere = watchNetwork({ source: null, salt: SALT, clock: time.clock });
  assert.equal(nowhere.key(), UNIDENTIFIED);
  assert.equal(nowhere.isStill(UNIDENTIFIED), false);
});

test('a command that fails once changes nothing', async () => {
  const { network, here, hidden, pass, time, changes } = machine();
  hidden('en0', '', 5000);
  await time.run(network.settled());
  here.found = 'nothing';
  await pass(5000);
  network.key();
  await pass(200);
  assert.equal(network.settledKey(), keyOf(HOME));
  assert.deepEqual(changes, []);
});

test('nobody waits longer than the time allowed', async () => {
  const { network, here, hidden, time } = machine();
  here.takesMs = 60_000;
  hidden('en0', '');
  assert.equal(await time.run(network.settled(150)), UNIDENTIFIED);
  assert.equal(time.clock.nowMs(), 150);
  assert.equal(await time.run(network.settled()), UNIDENTIFIED);
  assert.equal(time.clock.nowMs(), 3150);
});

test('a network that is identified late was not left, and another one is noticed', async () => {
  const { network, here, hidden, pass } = machine();
  hidden('home', 'home');
  here.takesMs = 3500;
  let left = 0;
  const settled = network.settled();
  await pass(3000);
  assert.equal(await settled, UNIDENTIFIED);
  network.watch(UNIDENTIFIED, () => {
    left += 1;
  });
  await pass(2000);
  assert.equal(network.settledKey(), keyOf(HOME));
  assert.equal(left, 0);
  hidden('cafe', 'cafe');
  await pass(500);
  assert.equal(left, 1);
});

test('late reports belong to the network of their time, from the moment the previous one was left', async () => {
  const { network, here, hidden, pass, time } = machine();
  hidden('wlan0', 'wlan0');
  const startMs = time.clock.epochMs();
  assert.equal(network.keyAt(startMs), UNIDENTIFIED);
  await time.run(network.settled());
  await pass(1000);
  here.found = CAFE;
  hidden('wlan1', 'wlan1');
  network.key();
  const leftMs = time.clock.epochMs();
  assert.equal(network.keyAt(leftMs), UNIDENTIFIED);
  await time.run(network.settled());
  assert.equal(network.keyAt(leftMs - 1), keyOf(HOME));
  assert.equal(network.keyAt(leftMs), keyOf(CAFE));
  assert.equal(network.keyAt(leftMs + 3_600_000), keyOf(CAFE));
  assert.equal(network.keyAt(startMs - 1000), keyOf(HOME), 'a page that was loading when the helper started');
  assert.equal(network.keyAt(startMs - 3_600_000), UNIDENTIFIED, 'the machine may have been anywhere');
});

test('a user-defined name stands for any network', async () => {
  const network = namedNetwork('lab');
  assert.deepEqual([network.key(), network.settledKey(), await network.settled()], ['lab', 'lab', 'lab']);
  assert.equal(network.isStill('lab'), true);
});

test('however the machine moves, a certain key is that of its current network, and each move is reported', async () => {
  const networks = [HOME, CAFE, { ...HOME, tunnel: true }, null];
  const step = fc.record({ to: fc.nat(networks.length - 1), asks: fc.boolean(), restMs: fc.nat(600) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const { network, here, seen, hidden, pass } = machine();
      let at = await network.settled();
      for (const [n, { to, asks, restMs }] of steps.entries()) {
        const facts = networks[to] ?? null;
        here.found = facts;
        if (asks) hidden(`step ${n}`, `${to}`);
        else seen(facts);
        let left = false;
        const stop = network.watch(at, () => {
          left = true;
        });
        await pass(251 + restMs);
        const settled = network.settledKey();
        if (settled !== null) assert.equal(settled, keyOf(facts));
        if (settled !== null && settled !== at) assert.equal(left, true);
        stop();
        await pass(200);
        await setImmediate();
        at = network.settledKey() ?? at;
      }
    }),
    { numRuns: 60 },
  );
});
