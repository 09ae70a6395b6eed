// Arbitrary input on the helper's standard input, as bytes and as messages.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { replySchema, type SentReply } from '@photofinish/shared/port/reply';
import { WIRE_PROTOCOL } from '@photofinish/shared/port/wire';
import { inputs, mutatedBytes, mutatedJson } from '@photofinish/shared/testing/hostile';
import { REQUESTS } from '@photofinish/shared/testing/requests';
import fc from 'fast-check';
import * as v from 'valibot';

import { openHostCache } from '../cache/store.ts';
import { watchNetwork } from '../network/watch.ts';
import { virtualTime } from '../testing/virtual-time.ts';
import { createDeframer, frame, type Inbound } from './framing.ts';
import { Session } from './session.ts';

const MAX_BYTES = 400;
const raw = (length: number, body: string | Uint8Array): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(length);
  return Buffer.concat([head, Buffer.from(body as string)]);
};
const FRAMES = [
  Buffer.concat([frame({ type: 'stats', id: 1 }), frame({ type: 'wipe', id: 2 }), frame(null)]),
  frame('é\u0000\ud83d\ude00'),
  raw(0, ''),
  raw(2, '{}{}'),
  raw(3, new Uint8Array([0xff, 0xfe, 0xfd])),
  raw(4, new Uint8Array([0xed, 0xa0, 0x80, 0x22])),
  raw(MAX_BYTES, `"${'a'.repeat(MAX_BYTES - 2)}"`),
  raw(MAX_BYTES + 1, 'x'),
  raw(0xffffffff, '{}'),
  raw(300, '['.repeat(300)),
];

/** The result of a deframer for bytes that arrive in these pieces. */
function read(bytes: Uint8Array, cuts: readonly number[]): Inbound[] {
  const deframer = createDeframer(MAX_BYTES);
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return at.slice(1).flatMap((end, n) => deframer.push(bytes.subarray(at[n], end)));
}

test('for any bytes, however fragmented, the same frames are read, and nothing after one that is too large', () => {
  fc.assert(
    fc.property(mutatedBytes(FRAMES), fc.array(fc.nat(), { maxLength: 5 }), (bytes, cuts) => {
      const whole = read(bytes, []);
      assert.deepEqual(read(bytes, cuts), whole);
      const lost = whole.findIndex(({ kind }) => kind === 'too-large');
      assert.ok(lost === -1 || lost === whole.length - 1);
      assert.ok(whole.length <= bytes.length / 4);
    }),
    inputs(15_000),
  );
});

/** A helper's session with a real cache, and its replies. */
function open(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'photofinish-fuzz-'));
  const { clock } = virtualTime();
  const cache = openHostCache({ path: join(directory, 'cache.db'), clock });
  t.after(() => {
    cache.close();
    rmSync(directory, { recursive: true });
  });
  const facts = {
    gateway: '192.168.1.1',
    linkLayer: 'aa:aa:aa:aa:aa:aa',
    kind: 'wired',
    ssid: null,
    tunnel: false,
  };
  const network = watchNetwork({
    source: {
      snapshot: () => ({ mark: 'home', route: 'home', facts: facts as never, goodForMs: null }),
      examine: async () => facts as never,
    },
    salt: new Uint8Array(32),
    clock,
  });
  const replies: SentReply[] = [];
  const logged: unknown[] = [];
  const greeted = () => {
    const session = new Session({
      program: 'test/1',
      cache,
      network,
      budget: { take: () => ({ countAttempt: () => {}, release: () => {} }) },
      race: () => Promise.reject(new Error('no race here')),
      doctor: async () => [],
      send: (reply) => replies.push(reply),
      log: { write: (event) => logged.push(event), digest: () => '', wipe: () => {} },
    });
    session.receive({ type: 'hello', id: 0, protocol: WIRE_PROTOCOL, program: 'test/1' });
    replies.length = 0;
    return session;
  };
  return { greeted, replies };
}

test('any message is answered at most once, with a valid reply', async (t) => {
  const { greeted, replies } = open(t);
  await fc.assert(
    fc.asyncProperty(mutatedJson(REQUESTS), async (value) => {
      const session = greeted();
      session.receive(value);
      await session.end();
      assert.ok(replies.length <= 1, JSON.stringify(replies));
      for (const reply of replies) {
        assert.ok(v.is(replySchema, reply), JSON.stringify(reply));
        assert.ok(reply.type !== 'error' || reply.code !== 'internal', JSON.stringify(reply));
      }
    }),
    inputs(5000),
  );
});
