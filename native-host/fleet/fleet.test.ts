// What is said of a connection; the bucket itself is tested with a real server in e2e/specs/fleet.spec.ts.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { OriginRace, Trial } from '@photofinish/shared/race/outcome';
import { verdictSaying } from '@photofinish/shared/testing/race-samples';
import type { Origin } from '@photofinish/shared/web/origin';
import { type HostCache, openHostCache } from '../cache/store.ts';
import type { NatsConnection } from '../survey/nats.ts';
import { down, race, trial, up } from '../testing/cache-samples.ts';
import { virtualTime } from '../testing/virtual-time.ts';
import { fleetKeys, HOUR_MS, readOutcome, writeOutcome } from './entry.ts';
import {
  BUCKET_CHECK_MS,
  type Bucket,
  type BucketChange,
  EMPTY_BUCKET_MS,
  type Fleet,
  logStatus,
  MAX_READY_MS,
  openFleet,
  RETRY_MS,
} from './fleet.ts';

type Status = ReturnType<NatsConnection['status']> extends AsyncIterable<infer Each> ? Each : never;

test('a connection that is lost and restored is logged, and each attempt in between is not', async () => {
  const said: unknown[] = [];
  async function* status(): AsyncGenerator<Status> {
    yield { type: 'disconnect', server: 'a.test:4222' };
    yield { type: 'reconnecting' };
    yield { type: 'reconnecting' };
    yield { type: 'reconnect', server: 'a.test:4222' };
    yield { type: 'ping', pendingPings: 1 };
  }
  await logStatus(
    { status },
    (...message) => said.push(message),
    () => said.push('reconnected'),
  );
  assert.deepEqual(said, [
    ['the connection is lost', true],
    ['the connection is restored', false],
    'reconnected',
  ]);
});

const A = 'https://a.test' as Origin;
const SALT = new Uint8Array(16).fill(3);
const START = 500_000 * HOUR_MS + 60_000;
const WORKS = [trial(up('h3'))];
const FAILS = [trial(down('h3', 'udp-timeout'), up('h2'))];

/** The bucket of a server that can be stopped. */
class SharedBucket {
  readonly puts: [key: string, value: string][] = [];
  up = true;
  /** Whether this machine may only read. */
  denies = false;
  /** If set, values are stored, and connections made, when it resolves. */
  gate: Promise<void> | null = null;
  /** Whether it is said which bucket it is. */
  tells = true;
  /** Calls back each of its clients, as after a lost connection. */
  readonly reconnected = new Set<() => void>();
  #values = new Map<string, Uint8Array | null>();
  #followers = new Set<(change: BucketChange | null) => void>();
  #generation: number | null = 1;
  #lastSequence = 0;

  readonly connect = async (reconnected: () => void): Promise<Bucket> => {
    this.reconnected.add(reconnected);
    if (this.gate !== null) await this.gate;
    if (!this.up) throw new Error('no server');
    const { promise: left, resolve: leave } = Promise.withResolvers<null>();
    return {
      follow: async () => this.#changes(left),
      put: async (key, value) => {
        if (this.gate !== null) await this.gate;
        if (!this.up) throw new Error('no server');
        if (this.denies) throw new Error('no permission');
        this.puts.push([key, value]);
        this.change(key, new TextEncoder().encode(value));
      },
      state: async () => {
        if (!this.up || !this.tells) throw new Error('no server');
        if (this.#generation === null) return null;
        const [created, lastSequence] = [`${this.#generation}`, this.#lastSequence];
        return { created, lastSequence, values: this.#values.size };
      },
      close: async () => leave(null),
    };
  };

  change(key: string, value: Uint8Array | null, waiting = 0): void {
    this.#values.set(key, value);
    this.#lastSequence += 1;
    for (const follower of this.#followers) follower({ key, value, waiting });
  }

  /** Deleted, and made anew if there is another generation: who follows it hears nothing of that. */
  replace(generation: number | null): void {
    this.#generation = generation;
    this.#lastSequence = 0;
    this.#values = new Map();
    this.#followers = new Set();
  }

  stop(): void {
    this.up = false;
    for (const follower of this.#followers) follower(null);
  }

  async *#changes(left: Promise<null>): AsyncGenerator<BucketChange> {
    const followers = this.#followers;
    const { size } = this.#values;
    const queue: (BucketChange | null)[] = [...this.#values].map(([key, value], index) => ({
      ...{ key, value },
      waiting: size - index - 1,
    }));
    let wake = (): void => {};
    const follower = (change: BucketChange | null): void => {
      queue.push(change);
      wake();
    };
    followers.add(follower);
    void left.then(follower);
    try {
      for (;;) {
        const change = queue.shift();
        if (change === null) return;
        if (change !== undefined) yield change;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      followers.delete(follower);
    }
  }
}

interface Machine {
  readonly cache: HostCache;
  readonly fleet: Fleet;
  readonly said: string[];
  /** A race of its own, filed and shared. */
  race(trials: Trial[], facts?: Partial<OriginRace>): void;
  reachable(): string;
}

async function testbed(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'photofinish-'));
  const saltFile = join(directory, 'salt');
  writeFileSync(saltFile, SALT, { mode: 0o600 });
  const time = virtualTime(START);
  const { clock } = time;
  const bucket = new SharedBucket();
  const opened: HostCache[] = [];
  t.after(async () => {
    for (const cache of opened) cache.close();
    await rm(directory, { recursive: true });
  });
  const machine = (name: string, { network = 'fleet', publish = true } = {}): Machine => {
    let fleet: Fleet | undefined;
    const cache = openHostCache({
      path: join(directory, `${name}.db`),
      clock,
      sharedKey: (origin) => fleet?.keyOf(origin) ?? null,
    });
    opened.push(cache);
    const said: string[] = [];
    const files = { credsFile: null, nkeyFile: null, caFile: null, saltFile };
    const opening = openFleet({
      settings: { server: 'nats://127.0.0.1:1', bucket: 'b', network, publish, ...files },
      cache,
      clock,
      log: (words) => said.push(words),
      connect: bucket.connect,
    });
    fleet = opening;
    return {
      ...{ cache, fleet: opening, said },
      race(trials, facts = {}) {
        const record = race(trials, { network: 'home', ...facts });
        if (record.error === undefined) cache.recordRace(record);
        opening.share({ ...record, verdict: verdictSaying('h3-available', '') });
      },
      reachable() {
        const [forecast] = cache.forecast({
          network: 'home',
          browser: 'firefox',
          site: 'a.test',
          origins: [A],
        });
        return `${forecast?.reachable.protocol} ${forecast?.reachable.basis}`;
      },
    };
  };
  const pass = (ms = 1) => time.run(new Promise<void>((done) => clock.after(ms, done)));
  return { bucket, machine, pass, clock };
}

test('what one machine raced is forecast by another, until that has raced itself', async (t) => {
  const { machine, pass } = await testbed(t);
  const [a, b] = [machine('a'), machine('b')];
  await pass();
  assert.equal(b.reachable(), 'unknown none');
  a.race(FAILS);
  await pass();
  assert.equal(a.reachable(), 'h2 raced');
  assert.equal(b.reachable(), 'h2 shared');
  assert.equal(b.cache.recall('home', A)?.hints.shared?.h3Failure, 'udp-timeout');
  b.race(WORKS);
  assert.equal(b.reachable(), 'h3 raced');
  a.race(FAILS);
  await pass();
  assert.equal(b.reachable(), 'h3 raced');
});

test('shared outcomes are counted apart, are no records of this machine, and are wiped with them', async (t) => {
  const { machine, pass } = await testbed(t);
  const [a, b] = [machine('a'), machine('b')];
  await pass();
  a.race(WORKS);
  await pass();
  assert.deepEqual([b.cache.stats().shared, b.cache.stats().origins], [1, 0]);
  assert.deepEqual([b.cache.list(), b.cache.show(A).hosts], [[], []]);
  b.cache.wipe();
  assert.deepEqual([b.cache.stats().shared, b.reachable()], [0, 'unknown none']);
  a.race(WORKS, { origin: 'https://b.test' as Origin });
  await pass();
  assert.deepEqual([b.cache.stats().shared, b.reachable()], [1, 'unknown none'], 'for good');
});

test("a machine's own outcome does not come back as another's, and what comes with it is stored", async (t) => {
  const { bucket, machine, pass } = await testbed(t);
  const [a, b] = [machine('a'), machine('b')];
  await pass();
  a.race(WORKS);
  await pass();
  assert.deepEqual([a.cache.stats().shared, b.cache.stats().shared], [0, 1]);
  a.cache.wipe();
  const [[key = '', value = ''] = []] = bucket.puts;
  b.race(WORKS, { origin: 'https://b.test' as Origin });
  bucket.change(key, new TextEncoder().encode(value));
  await pass();
  assert.equal(a.reachable(), 'unknown none');
  assert.equal(a.cache.stats().shared, 1, "the other machine's");
  b.race(FAILS);
  await pass();
  assert.equal(a.reachable(), 'h2 shared', 'another outcome under the same key is no echo');
  bucket.change(key, null);
  await pass();
  assert.equal(a.reachable(), 'unknown none', 'nor is that it is withdrawn');
});

test('an outcome is published once an hour for each origin, whatever it is', async (t) => {
  const { bucket, machine, pass } = await testbed(t);
  const a = machine('a');
  await pass();
  a.race(WORKS);
  await pass();
  a.race(FAILS);
  await pass();
  assert.equal(bucket.puts.length, 1);
  a.race(WORKS, { origin: 'https://b.test' as Origin });
  assert.equal(bucket.puts.length, 2);
  await pass(HOUR_MS);
  a.race(FAILS);
  await pass();
  assert.equal(bucket.puts.length, 3);
});

test('what another machine said within the same hour is not repeated', async (t) => {
  const { bucket, machine, pass } = await testbed(t);
  const [a, b] = [machine('a'), machine('b')];
  await pass();
  a.race(WORKS);
  await pass();
  b.race(WORKS);
  assert.equal(bucket.puts.length, 1);
  b.race(FAILS);
  assert.equal(bucket.puts.length, 2, 'a contradiction is news');
  await pass(HOUR_MS);
  a.race(FAILS);
  assert.equal(bucket.puts.length, 3, 'and so is that it still holds');
});

test('a publication that fails is reported once, and the next race publishes', async (t) => {
  const { bucket, machine, pass } = await testbed(t);
  const a = machine('a');
  await pass();
  bucket.denies = true;
  for (const _ of [1, 2]) {
    a.race(WORKS);
    await pass();
  }
  assert.deepEqual(a.said.slice(1), ['outcomes are not shared now: no permission']);
  bucket.denies = false;
  a.race(WORKS);
  assert.equal(bucket.puts.length, 1);
});

test('what proves nothing that lasts is not published', async (t) => {
  const { bucket, machine, pass } = await testbed(t);
  const a = machine('a');
  await pass();
  const packets = { sent: 20, lost: 2 };
  const lossy = { ...down('h3', 'udp-timeout'), packets };
  a.race([trial(up('h2'))]);
  a.race([trial(down('h3', 'udp-timeout'), down('h2', 'tcp-timeout'))]);
  a.race([trial(down('h3', 'goaway'), up('h2'))]);
  a.race([trial(up('h3', { packets, outcome: 'failed', error: lossy.error }), up('h2'))]);
  a.race([{ ...trial(up('h3')), disturbed: 'outcome' }]);
  a.race(WORKS, { memory: 'none' });
  a.race(WORKS, { error: { code: 'cancelled', message: '' } });
  await pass();
  assert.deepEqual(bucket.puts, []);
});

test('a failure on a network that blocks UDP is not published as one of the host', async (t) => {
  const { bucket, machine, pass } = await testbed(t);
  const a = machine('a');
  await pass();
  a.race(FAILS, { otherHosts: { failedHosts: 2, reachedHosts: 0 } });
  assert.equal(bucket.puts.length, 0);
  a.race(FAILS, { otherHosts: { failedHosts: 2, reachedHosts: 1 } });
  assert.equal(bucket.puts.length, 1, 'others are reached over UDP');
  a.race(WORKS, { origin: 'https://b.test' as Origin, otherHosts: { failedHosts: 2, reachedHosts: 0 } });
  assert.equal(bucket.puts.length, 2, 'it works all the same');
});

test('without "publish" a machine only reads', async (t) => {
  const { bucket, machine, pass } = await testbed(t);
  const [a, b] = [machine('a'), machine('b', { publish: false })];
  await pass();
  b.race(FAILS);
  a.race(WORKS, { origin: 'https://b.test' as Origin });
  await pass();
  assert.deepEqual(
    bucket.puts.map(([key]) => key),
    [a.fleet.keyOf('https://b.test' as Origin)],
  );
  assert.equal(b.cache.stats().shared, 1);
});

test('machines with different labels share nothing', async (t) => {
  const { machine, pass } = await testbed(t);
  const [a, b] = [machine('a', { network: 'office' }), machine('b', { network: 'home' })];
  await pass();
  a.race(WORKS);
  await pass();
  assert.equal(b.reachable(), 'unknown none');
  assert.deepEqual([b.cache.stats().shared, b.cache.stats().sharedRefused], [0, 1]);
});

test('what is no outcome is refused and counted, and changes nothing; what is withdrawn is gone', async (t) => {
  const { bucket, machine, pass, clock } = await testbed(t);
  const [a, b] = [machine('a'), machine('b')];
  await pass();
  a.race(WORKS);
  await pass();
  const [[key = '', value = ''] = []] = bucket.puts;
  bucket.change(key, new TextEncoder().encode('{"h3":"failed"}'), 1);
  bucket.change('fleet.other', new TextEncoder().encode(value));
  await pass();
  assert.deepEqual([b.reachable(), b.cache.stats().sharedRefused], ['h3 shared', 2]);
  const outcome = { key, h3Failure: 'udp-timeout', tcpProtocol: 'h2' } as const;
  const fails = (atMs: number, salt: Uint8Array): Uint8Array =>
    new TextEncoder().encode(writeOutcome({ ...outcome, atMs }, fleetKeys(salt, 'fleet').sign));
  bucket.change(key, fails(START - 60_000, new Uint8Array(16)));
  await pass();
  assert.deepEqual(
    [b.reachable(), b.cache.stats().sharedRefused],
    ['h3 shared', 3],
    'forged without the salt',
  );
  bucket.change(key, fails(START - 60_000 - 24 * HOUR_MS, SALT));
  bucket.change(key, fails(START - 60_000 + HOUR_MS, SALT));
  await pass();
  assert.deepEqual(b.cache.sharedStats(), {
    outcomes: 1,
    newestAtMs: START - 60_000,
    refused: { malformed: 2, unauthenticated: 1, outdated: 1, ahead: 1 },
  });
  const bytes = fails(START - 60_000 - HOUR_MS, SALT);
  assert.equal(typeof readOutcome(key, bytes, clock.epochMs(), fleetKeys(SALT, 'fleet').sign), 'object');
  bucket.change(key, bytes);
  await pass();
  assert.equal(b.reachable(), 'h3 shared', 'an earlier race replaces no later one');
  bucket.change(key, null);
  await pass();
  assert.equal(b.reachable(), 'unknown none');
});

test('a server that is away is told once, and asked again; what was learnt is still there', async (t) => {
  const { bucket, machine, pass } = await testbed(t);
  const [a, b] = [machine('a'), machine('b')];
  await pass();
  a.race(WORKS);
  await pass();
  bucket.stop();
  await pass(3 * RETRY_MS);
  assert.equal(b.reachable(), 'h3 shared');
  assert.deepEqual(b.said.slice(1), [
    'outcomes are not shared now: the bucket cannot be followed any more',
    'outcomes are not shared now: no server',
  ]);
  a.race(FAILS, { origin: 'https://b.test' as Origin });
  bucket.up = true;
  await pass(RETRY_MS);
  assert.equal(b.said.at(-1), 'outcomes are shared');
  a.race(FAILS, { origin: 'https://b.test' as Origin });
  assert.equal(bucket.puts.length, 2);
});

test('a bucket that is deleted, made anew or restored is left for the one that has its name', async (t) => {
  const { bucket, machine, pass } = await testbed(t);
  const [a, b] = [machine('a'), machine('b')];
  await pass();
  const learns = async (host: string): Promise<boolean> => {
    const before = b.cache.stats().shared;
    a.race(WORKS, { origin: `https://${host}` as Origin });
    await pass();
    return b.cache.stats().shared > before;
  };
  assert.equal(await learns('a.test'), true);
  await pass(2 * BUCKET_CHECK_MS);
  assert.deepEqual(b.said, ['outcomes are shared'], 'it is the same one');
  bucket.replace(2);
  assert.equal(await learns('b.test'), false);
  await pass(BUCKET_CHECK_MS + RETRY_MS);
  assert.equal(b.cache.stats().shared, 2, 'what it holds is copied');
  assert.deepEqual(b.said.slice(1), [
    'outcomes are not shared now: the bucket cannot be followed any more',
    'outcomes are shared',
  ]);
  assert.equal(await learns('c.test'), true);
  bucket.replace(2);
  for (const reconnected of bucket.reconnected) reconnected();
  await pass(RETRY_MS);
  assert.equal(await learns('d.test'), true, 'a lower sequence, seen after a lost connection');
  bucket.replace(null);
  await pass(BUCKET_CHECK_MS);
  assert.match(b.said.at(-1) ?? '', /^outcomes are not shared now/);
  bucket.up = false;
  await pass(RETRY_MS);
  bucket.up = true;
  bucket.replace(3);
  await pass(RETRY_MS);
  assert.equal(await learns('e.test'), true);
});

test('a server that does not say which bucket it has is followed all the same', async (t) => {
  const { bucket, machine, pass } = await testbed(t);
  bucket.tells = false;
  const [a, b] = [machine('a'), machine('b')];
  await pass(2 * BUCKET_CHECK_MS);
  a.race(WORKS);
  await pass();
  assert.equal(b.reachable(), 'h3 shared');
});

test('a process that is about to race waits for what the bucket holds, and for no more', async (t) => {
  const { bucket, machine, pass, clock } = await testbed(t);
  const readyMs = async (fleet: Fleet): Promise<number> => {
    const sinceMs = clock.nowMs();
    let tookMs = Number.NaN;
    void fleet.ready().then(() => {
      tookMs = clock.nowMs() - sinceMs;
    });
    await pass(2 * MAX_READY_MS);
    return tookMs;
  };
  const a = machine('a');
  assert.equal(await readyMs(a.fleet), EMPTY_BUCKET_MS, 'an empty bucket');
  a.race(WORKS);
  a.race(FAILS, { origin: 'https://b.test' as Origin });
  await pass();
  const b = machine('b');
  assert.equal(await readyMs(b.fleet), 0);
  assert.equal(b.cache.stats().shared, 2);
  bucket.up = false;
  assert.equal(await readyMs(machine('c').fleet), 0, 'the server is away');
  bucket.gate = new Promise(() => {});
  assert.equal(await readyMs(machine('d').fleet), MAX_READY_MS, 'the server is silent');
});

test('a bucket is not empty because its first value waits until this process gets a processor', async (t) => {
  const teacher = await testbed(t);
  const a = teacher.machine('a');
  await teacher.pass();
  a.race(WORKS);
  a.race(WORKS, { origin: 'https://b.test' as Origin });
  await teacher.pass();
  const { bucket, machine, pass, clock } = await testbed(t);
  const { fleet, cache } = machine('b');
  await pass(0);
  // The timer of an event loop that was held up runs before it reads its sockets.
  const arrives = (index: number) => {
    const [key, value] = teacher.bucket.puts[index] ?? ['', ''];
    bucket.change(key, new TextEncoder().encode(value), 1 - index);
  };
  const late = () => setImmediate(() => arrives(0));
  clock.after(EMPTY_BUCKET_MS - clock.nowMs(), late);
  clock.after(EMPTY_BUCKET_MS - clock.nowMs() + 100, () => arrives(1));
  let shared = Number.NaN;
  void fleet.ready().then(() => {
    shared = cache.stats().shared;
  });
  await pass(2 * EMPTY_BUCKET_MS);
  assert.equal(shared, 2);
});

test('a process that ends waits for its publications, says nothing of it, and follows no longer', async (t) => {
  const { bucket, machine, pass, clock } = await testbed(t);
  const [a, b] = [machine('a'), machine('b')];
  await pass();
  const { promise, resolve } = Promise.withResolvers<void>();
  bucket.gate = promise;
  a.race(WORKS);
  clock.after(50, resolve);
  const closed = a.fleet.close();
  await pass(50);
  await closed;
  await pass();
  assert.equal(b.reachable(), 'h3 shared');
  b.race(FAILS, { origin: 'https://b.test' as Origin });
  await pass(2 * RETRY_MS);
  assert.equal(a.cache.stats().shared, 0);
  assert.deepEqual(a.said, ['outcomes are shared']);
});

test('a process that ends before its publications are stored says so', async (t) => {
  const { bucket, machine, pass } = await testbed(t);
  const a = machine('a');
  await pass();
  bucket.gate = new Promise(() => {});
  a.race(WORKS);
  const closed = a.fleet.close();
  await pass(2000);
  await closed;
  assert.deepEqual(a.said.slice(1), ['outcomes not published, as the server does not answer: 1']);
});
