import type { NativePort } from '../../common/browser.ts';
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_REPLY_BYTES, MAX_WHOLE_REPLY_BYTES, WIRE_PROTOCOL } from '@photofinish/shared/port/wire';
import { writtenVerdictSchema } from '@photofinish/shared/race/verdict-schema';
import { inputs, mutatedJson } from '@photofinish/shared/testing/hostile';
import { REPORT_1 } from '@photofinish/shared/testing/reports';
import { verdictAsText } from '@photofinish/shared/verdict/verdict-text';
import type { Origin } from '@photofinish/shared/web/origin';
import fc from 'fast-check';
import * as v from 'valibot';
import { HelperError } from '../../common/helper/state.ts';
import type { HelperState } from '../../common/messages.ts';
import { HelperPort } from './port.ts';

const STATS = {
  type: 'stats',
  store: 'sqlite',
  storeReason: null,
  origins: 1,
  lookups: 0,
  hits: 0,
  races: 0,
  network: 'home',
} as const;
const HELLO = { id: 0, type: 'hello', protocol: WIRE_PROTOCOL, program: 'photofinish 1.0.0' } as const;

/** A port on virtual time, with the far end controlled by the test. */
function testbed() {
  const states: HelperState[] = [];
  const posted: { readonly type: string }[] = [];
  let timers: { dueMs: number; run: () => void }[] = [];
  let nowMs = 0;
  let connects = 0;
  let disconnects = 0;
  let isClosing = false;
  let receive: (message: unknown) => void = () => {};
  let close: (why: string | null) => void = () => {};
  const connect = (): NativePort => {
    connects += 1;
    return {
      postMessage: (message) => {
        if (isClosing) throw new Error('Attempting to use a disconnected port object');
        posted.push(message as { type: string });
      },
      disconnect: () => {
        disconnects += 1;
      },
      onMessage: (listen) => {
        receive = listen;
      },
      onDisconnect: (listen) => {
        close = listen;
      },
    };
  };
  const later = (delayMs: number, run: () => void) => {
    const timer = { dueMs: nowMs + delayMs, run };
    timers.push(timer);
    return () => {
      timers = timers.filter((t) => t !== timer);
    };
  };
  const port = new HelperPort({
    connect,
    clock: { later },
    program: 'test 1',
    onState: (s) => states.push(s),
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return {
    port,
    states,
    posted,
    connects: () => connects,
    /** How many ports the extension closed, which ends their helpers. */
    disconnects: () => disconnects,
    /** The port is closed, and the browser has not reported that yet. */
    beginClosing: () => {
      isClosing = true;
    },
    receive: async (message: unknown) => {
      receive(message);
      await turn();
    },
    close: async (why: string | null) => {
      close(why);
      await turn();
    },
    pass: async (ms: number) => {
      nowMs += ms;
      const due = timers.filter((t) => t.dueMs <= nowMs);
      timers = timers.filter((t) => t.dueMs > nowMs);
      for (const { run } of due) run();
      await turn();
    },
  };
}

const code = (expected: string) => (error: unknown) =>
  error instanceof HelperError && error.code === expected;
const ask = (b: ReturnType<typeof testbed>, timeoutMs = 1000) => {
  const asked = b.port.ask({ type: 'stats' }, { timeoutMs });
  asked.reply.catch(() => {});
  return asked;
};

test('requests are sent after hello without waiting for its answer', async () => {
  const b = testbed();
  b.port.connect();
  const { id, reply } = ask(b);
  assert.deepEqual(b.posted, [
    { ...HELLO, program: 'test 1', verdictData: true, sharedForecasts: true },
    { type: 'stats', id },
  ]);
  await b.receive(HELLO);
  assert.deepEqual(b.port.state, {
    state: 'ready',
    program: 'photofinish 1.0.0',
    network: 'unknown',
    networkName: null,
  });
  await b.receive({ ...STATS, id });
  assert.equal((await reply).type, 'stats');
});

test('a helper that is not installed is missing, and requests fail with that code', async () => {
  const b = testbed();
  b.port.connect();
  const { reply } = ask(b);
  await b.close('Specified native messaging host not found.');
  await assert.rejects(reply, code('helper-missing'));
  assert.equal(b.port.state.state, 'missing');
  await assert.rejects(ask(b).reply, code('helper-missing'));
});

test('a helper that exited is crashed, pending requests fail, and pauses between retries double', async () => {
  const b = testbed();
  b.port.connect();
  await b.receive(HELLO);
  const { reply } = ask(b);
  await b.close('Native host has exited.');
  await assert.rejects(reply, code('helper-disconnected'));
  assert.deepEqual(b.port.state, { state: 'crashed', message: 'Native host has exited.' });
  await b.pass(1000);
  assert.deepEqual([b.connects(), b.port.state.state], [2, 'connecting']);
  await b.close('Native host has exited.');
  await b.pass(1999);
  assert.equal(b.connects(), 2);
  await b.pass(1);
  assert.equal(b.connects(), 3);
});

test('a helper that ends soon after each hello is restarted less and less often, until one lasts a minute', async () => {
  const b = testbed();
  const end = () => b.close('Native host has exited.');
  /** Whether the helper is started once the pause has passed, and not before. */
  const restartsAfter = async (pauseMs: number) => {
    const before = b.connects();
    await b.pass(pauseMs - 1);
    const early = b.connects();
    await b.pass(1);
    return early === before && b.connects() === before + 1;
  };
  b.port.connect();
  for (const pauseMs of [1000, 2000, 4000, 8000]) {
    await b.receive(HELLO);
    await b.pass(500);
    await end();
    assert.ok(await restartsAfter(pauseMs), `after ${pauseMs} ms`);
  }
  await b.receive(HELLO);
  await b.pass(59_999);
  await end();
  assert.ok(await restartsAfter(16_000), 'a minute had not passed');
  await b.receive(HELLO);
  await b.pass(60_000);
  await end();
  assert.ok(await restartsAfter(1000), 'a minute had passed');
});

test('an ended connection does not shorten the pause after later ones', async () => {
  const b = testbed();
  b.port.connect();
  await b.receive(HELLO);
  await b.close('Native host has exited.');
  await b.pass(1000);
  await b.receive(HELLO);
  await b.pass(59_000);
  await b.close('Native host has exited.');
  await b.pass(1999);
  assert.equal(b.connects(), 2, 'the first one’s minute passed while the second was open');
});

test('the user can reconnect without waiting for the pause', async () => {
  const b = testbed();
  b.port.connect();
  const closed = b.close('Native host has exited.');
  b.port.connect();
  await closed;
  assert.deepEqual([b.connects(), b.disconnects()], [2, 0], 'the first failure does not end the second');
  await b.receive(HELLO);
  b.port.connect();
  await b.pass(10_000);
  assert.equal(b.connects(), 2, 'the pause that was left is called off, and one helper is enough');
  assert.equal(b.port.state.state, 'ready');
});

test('another version of the wire protocol is incompatible, whichever side notices', async () => {
  const theirs = testbed();
  theirs.port.connect();
  await theirs.receive({ ...HELLO, protocol: 2 });
  assert.partialDeepStrictEqual(theirs.port.state, { state: 'incompatible', older: 'extension' });
  const ours = testbed();
  ours.port.connect();
  await ours.receive({ id: 0, type: 'error', code: 'bad-protocol', message: 'update the older one' });
  assert.deepEqual(ours.port.state, { state: 'incompatible', message: 'update the older one' });
  assert.deepEqual([theirs.disconnects(), ours.disconnects()], [1, 1]);
});

test('a helper that never says hello counts as crashed', async () => {
  const b = testbed();
  b.port.connect();
  await b.pass(15_000);
  assert.deepEqual(b.port.state, {
    state: 'crashed',
    message: 'the helper did not respond within 15 s',
  });
  assert.equal(b.disconnects(), 1);
});

test('a request on a port that is closing fails at once', async () => {
  const b = testbed();
  b.port.connect();
  await b.receive(HELLO);
  b.beginClosing();
  await assert.rejects(ask(b).reply, code('internal'));
  assert.equal(b.port.state.state, 'ready', 'until the browser reports it');
});

test('an error reply rejects with the helper’s code', async () => {
  const b = testbed();
  b.port.connect();
  const { id, reply } = ask(b);
  await b.receive({ id, type: 'error', code: 'too-many-races', message: 'later' });
  await assert.rejects(reply, code('too-many-races'));
});

test('silence is a time-out, and progress is not silence', async () => {
  const b = testbed();
  b.port.connect();
  const reported: unknown[] = [];
  const { id, reply } = b.port.ask(
    { type: 'stats' },
    { timeoutMs: 1000, onProgress: (progress) => reported.push(progress) },
  );
  let hasFailed = false;
  reply.catch(() => {
    hasFailed = true;
  });
  await b.pass(900);
  const progress = { id, type: 'progress', event: 'started', contender: 'h3', trial: 1, trials: 3, atMs: 0 };
  await b.receive(progress);
  assert.deepEqual(reported, [progress]);
  await b.pass(900);
  assert.equal(hasFailed, false);
  await b.pass(100);
  await assert.rejects(reply, code('helper-timeout'));
});

test('a reply in chunks is reassembled', async () => {
  const b = testbed();
  b.port.connect();
  const { id, reply } = ask(b);
  const text = JSON.stringify({ ...STATS, id });
  await b.receive({ id, type: 'chunk', seq: 0, last: false, data: text.slice(0, 10) });
  await b.receive({ id, type: 'chunk', seq: 1, last: true, data: text.slice(10) });
  assert.equal((await reply).type, 'stats');
});

for (const [name, message] of Object.entries({
  'of no known type': { type: 'surprise' },
  'null in place of a number': { ...STATS, origins: null },
  'a code that is not known': { type: 'error', code: 'of-tomorrow', message: '' },
  'a chunk out of order': { type: 'chunk', seq: 1, last: false, data: '{' },
  'chunks that make no JSON': { type: 'chunk', seq: 0, last: true, data: '{' },
  'chunks of somebody else’s reply': {
    type: 'chunk',
    seq: 0,
    last: true,
    data: JSON.stringify({ ...STATS, id: 2 }),
  },
  'chunks inside chunks': {
    type: 'chunk',
    seq: 0,
    last: true,
    data: JSON.stringify({ id: 1, type: 'chunk', seq: 0, last: true, data: '' }),
  },
}))
  test(`a malformed reply fails only its own request: ${name}`, async () => {
    const b = testbed();
    b.port.connect();
    await b.receive(HELLO);
    const [first, second] = [ask(b), ask(b)];
    await b.receive({ ...message, id: first.id });
    await assert.rejects(first.reply, code('helper-bad-reply'));
    assert.equal(b.port.state.state, 'ready');
    await b.receive({ ...STATS, id: second.id });
    assert.equal((await second.reply).type, 'stats');
    assert.equal(b.connects(), 1);
  });

test('a reply longer than any allowed by the schema fails its own request, and its rest is dropped', async () => {
  const b = testbed();
  b.port.connect();
  await b.receive(HELLO);
  const { id, reply } = ask(b);
  const data = 'x'.repeat(MAX_REPLY_BYTES);
  for (let seq = 0; seq <= MAX_WHOLE_REPLY_BYTES / data.length + 2; seq += 1)
    await b.receive({ id, type: 'chunk', seq, last: false, data });
  await assert.rejects(reply, code('helper-bad-reply'));
  assert.equal(b.port.state.state, 'ready');
});

for (const [name, message] of Object.entries({
  'not an object': 'stray output',
  'without an id': { type: 'stats' },
  'with an id that no request has': { ...STATS, id: -1 },
  'an error about no request': { id: 0, type: 'error', code: 'bad-json', message: 'not JSON' },
}))
  test(`a message that violates the wire protocol ends the connection: ${name}`, async () => {
    const b = testbed();
    b.port.connect();
    await b.receive(HELLO);
    const { reply } = ask(b);
    await b.receive(message);
    await assert.rejects(reply, code('helper-bad-reply'));
    assert.deepEqual([b.port.state.state, b.disconnects()], ['crashed', 1]);
  });

test('a malformed hello ends the connection, and so does another reply in its place', async () => {
  for (const message of [
    { ...HELLO, program: '' },
    { ...STATS, id: HELLO.id },
  ]) {
    const b = testbed();
    b.port.connect();
    await b.receive(message);
    assert.deepEqual([b.port.state.state, b.disconnects()], ['crashed', 1]);
  }
});

test('a reply without a pending request is dropped', async () => {
  const b = testbed();
  b.port.connect();
  await b.receive(HELLO);
  for (const late of [STATS, { type: 'error', code: 'internal', message: '' }]) {
    await b.receive({ ...late, id: 99 });
    assert.equal(b.port.state.state, 'ready');
  }
});

test('without the user’s consent the port is closed and stays closed, until requested again', async () => {
  const { port, states, receive, close, connects, disconnects, pass } = testbed();
  port.connect();
  await receive(HELLO);
  const { reply } = port.ask({ type: 'stats' }, { timeoutMs: 1000 });
  port.forbid();
  assert.equal(disconnects(), 1);
  await assert.rejects(reply, code('helper-disconnected'));
  assert.deepEqual(states.at(-1), { state: 'not-asked' });
  await close(null);
  await pass(3_600_000);
  assert.deepEqual([connects(), port.state.state], [1, 'not-asked']);
  port.connect();
  await receive(HELLO);
  assert.deepEqual([connects(), port.state.state], [2, 'ready']);
  await close(null);
  port.forbid();
  await pass(3_600_000);
  assert.deepEqual([connects(), port.state.state], [2, 'not-asked'], 'it was about to be opened again');
});

test('a connection opened by the user begins with the shortest pause again', async () => {
  const { port, close, connects, pass } = testbed();
  port.connect();
  await close(null);
  await pass(1000);
  await close(null);
  port.connect();
  await close(null);
  await pass(1000);
  assert.equal(connects(), 4);
});

test('an older helper sends verdicts as text: they become data with the same text', async () => {
  const b = testbed();
  b.port.connect();
  await b.receive(HELLO);
  const asked = b.port.ask(
    { type: 'race', origin: 'https://a.test' as Origin, mode: 'race', reason: 'click' },
    { timeoutMs: 1000 },
  );
  const [old] = REPORT_1.sites[0]?.origins[0]?.races ?? [];
  assert.ok(old);
  await b.receive({ ...old, id: asked.id, type: 'race' });
  const race = await asked.reply;
  assert.ok(race.type === 'race' && v.is(writtenVerdictSchema, race.verdict));
  assert.deepEqual(verdictAsText(race.verdict), old.verdict);
});

// Messages on the native port if the helper is replaced, confused or cut off: the extension reports that and keeps
// working.

const forecast = {
  origin: 'https://a.test',
  reachable: { protocol: 'h3', basis: 'raced', ageMs: 5, fresh: true },
  expected: { protocol: 'h2', basis: 'observed' },
  hit: true,
};
const chunks = [
  { id: 1, type: 'chunk', seq: 0, last: false, data: '{"id":1,"type":"wipe",' },
  { id: 1, type: 'chunk', seq: 1, last: true, data: '"wiped":3}' },
];
const REPLIES = [
  HELLO,
  { id: 1, type: 'forecast', forecasts: [forecast], network: 'net-1d44ea1a8671e8f3' },
  { id: 1, type: 'progress', event: 'adopted', contender: 'h3', trial: 1, trials: 3, atMs: 1.5 },
  { id: 1, type: 'wipe', wiped: 3 },
  { id: 0, type: 'error', code: 'bad-json', message: 'x' },
  { id: 1, type: 'error', code: 'internal', message: 'x' },
  ...chunks,
];
const message = fc.oneof(mutatedJson(REPLIES), fc.constantFrom(...REPLIES));

test('for any messages in any order nothing throws, and every request is answered or rejected', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 5 }), async (messages) => {
      let receive: (message: unknown) => void = () => {};
      let close: (why: string | null) => void = () => {};
      const port = new HelperPort({
        connect: () => ({
          postMessage: () => {},
          disconnect: () => {},
          onMessage: (listen) => {
            receive = listen;
          },
          onDisconnect: (listen) => {
            close = listen;
          },
        }),
        clock: { later: () => () => {} },
        program: 'test 1',
        onState: () => {},
      });
      port.connect();
      receive(HELLO);
      const { reply } = port.ask({ type: 'wipe' }, { timeoutMs: 1000 });
      const ended = reply.then(
        (answer) => answer.type,
        (error: unknown) => error,
      );
      for (const each of messages) receive(structuredClone(each));
      close('the helper has ended');
      const end = await ended;
      assert.ok(typeof end === 'string' || end instanceof HelperError, String(end));
    }),
    inputs(10_000),
  );
});
