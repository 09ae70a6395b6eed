import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '@photofinish/shared/port/reply';
import { MAX_INBOUND_BYTES, MAX_REPLY_BYTES, MAX_WHOLE_REPLY_BYTES } from '@photofinish/shared/port/wire';
import fc from 'fast-check';
import { createDeframer, frame, framesOf, type Inbound } from './framing.ts';

function raw(body: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(body.length);
  return Buffer.concat([length, body]);
}

/** Cuts bytes at the given positions, in any order. */
function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, n) => bytes.subarray(at[n], end));
}

function read(bytes: Buffer, cuts: readonly number[], maxBytes?: number): Inbound[] {
  const deframer = createDeframer(maxBytes);
  return pieces(bytes, cuts).flatMap((piece) => deframer.push(piece));
}

const cuts = fc.array(fc.nat());
const message = fc.jsonValue();

test('however the pipe splits them, the same messages are read in order', () => {
  fc.assert(
    fc.property(fc.array(message), cuts, (messages, at) => {
      const bytes = Buffer.concat(messages.map(frame));
      const values = read(bytes, at).map((inbound) => (inbound.kind === 'message' ? inbound.value : inbound));
      assert.deepEqual(values, JSON.parse(JSON.stringify(messages)));
    }),
  );
});

test('a frame that is not JSON in UTF-8 is reported, and the next one is read', () => {
  const broken = [
    Buffer.alloc(0),
    Buffer.from('{'),
    Buffer.from('{"a":1}}'),
    Buffer.from([0x22, 0xff, 0x22]),
    Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
  ];
  for (const body of broken) {
    const [first, second, ...rest] = read(Buffer.concat([raw(body), frame({ ok: 1 })]), []);
    assert.equal(first?.kind, 'bad-json', body.toString('hex'));
    assert.deepEqual(second, { kind: 'message', value: { ok: 1 } });
    assert.deepEqual(rest, []);
  }
});

test('random bytes never throw, and nothing is read after framing is lost', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (chunks) => {
      const deframer = createDeframer(16);
      const out = chunks.flatMap((chunk) => deframer.push(chunk));
      const lost = out.findIndex((inbound) => inbound.kind === 'too-large');
      assert.ok(lost === -1 || lost === out.length - 1);
    }),
  );
});

test('the limit is 1 MiB to the byte, reported before the body arrives', () => {
  const text = (bytes: number) => Buffer.from(`"${'a'.repeat(bytes - 2)}"`);
  assert.equal(read(raw(text(MAX_INBOUND_BYTES)), [])[0]?.kind, 'message');
  const over = raw(text(MAX_INBOUND_BYTES + 1)).subarray(0, 4);
  assert.deepEqual(read(over, []), [{ kind: 'too-large', bytes: MAX_INBOUND_BYTES + 1 }]);
  assert.deepEqual(read(Buffer.from([255, 255, 255, 255]), [])[0], { kind: 'too-large', bytes: 2 ** 32 - 1 });
});

test('a truncated frame gives nothing', () => {
  fc.assert(
    fc.property(message, fc.nat(), cuts, (value, lost, at) => {
      const whole = frame(value);
      assert.deepEqual(read(whole.subarray(0, lost % whole.length), at), []);
    }),
  );
});

function reply(message: string): Reply {
  return { id: Number.MAX_SAFE_INTEGER, type: 'error', code: 'internal', message };
}

/** What the browser would pass to the extension. */
function received(frames: readonly Buffer[]): Reply[] {
  return read(Buffer.concat(frames), [], 2 ** 31).map((inbound) => {
    assert.equal(inbound.kind, 'message');
    return (inbound as { value: Reply }).value;
  });
}

function joined(replies: readonly Reply[]): unknown {
  const data = replies.map((chunk, n) => {
    assert.ok(chunk.type === 'chunk');
    assert.deepEqual([chunk.seq, chunk.last], [n, n === replies.length - 1]);
    return chunk.data;
  });
  return JSON.parse(data.join(''));
}

test('a reply up to the limit is one frame; a larger one is split into chunks whose frames stay within the limit', () => {
  const room = MAX_REPLY_BYTES - Buffer.byteLength(JSON.stringify(reply('')));
  assert.equal(framesOf(reply('a'.repeat(room))).length, 1);
  const over = reply('a'.repeat(room + 1));
  const frames = framesOf(over);
  assert.ok(frames.length > 1);
  for (const bytes of frames) assert.ok(bytes.length - 4 <= MAX_REPLY_BYTES);
  assert.deepEqual(joined(received(frames)), over);
});

test('a reply too large to be reassembled is replaced by an error', () => {
  const room = MAX_WHOLE_REPLY_BYTES - Buffer.byteLength(JSON.stringify(reply('')));
  assert.deepEqual(joined(received(framesOf(reply('a'.repeat(room))))), reply('a'.repeat(room)));
  const [only, ...rest] = received(framesOf(reply('a'.repeat(room + 1))));
  assert.deepEqual(rest, []);
  assert.ok(only?.type === 'error');
  assert.deepEqual([only.id, only.code], [Number.MAX_SAFE_INTEGER, 'reply-too-large']);
});

test('chunks of any text: within the limit in bytes, reassembled exactly, no surrogate pair split', () => {
  const unit = fc.constantFrom('a', '"', '\\', '\n', 'é', '€', '😀', '\u2028', '\ud800', '\udc00', '\u0000');
  fc.assert(
    fc.property(
      fc.string({ unit, minLength: 100, maxLength: 600 }),
      fc.integer({ min: 150, max: 300 }),
      (text, max) => {
        const original = reply(text);
        const frames = framesOf(original, max);
        for (const bytes of frames) assert.ok(bytes.length - 4 <= max);
        const replies = received(frames);
        if (replies.length === 1) {
          assert.deepEqual(replies[0], original);
          return;
        }
        for (const chunk of replies) assert.ok(chunk.type === 'chunk' && chunk.data.isWellFormed());
        assert.deepEqual(joined(replies), original);
      },
    ),
  );
});
