// Native messaging's framing, pure: a 32-bit little-endian length and JSON in UTF-8, for any fragmentation by the pipe.
// Replies over the limit are sent as chunks, because browsers close the port at 1 MB.

import type { SentReply } from '@photofinish/shared/port/reply';
import {
  MAX_INBOUND_BYTES,
  MAX_REPLY_BYTES,
  MAX_WHOLE_REPLY_BYTES,
  WIRE_ERRORS,
} from '@photofinish/shared/port/wire';
import { messageOf } from '@photofinish/shared/web/untrusted';

const LENGTH_BYTES = 4;

export type Inbound =
  | { readonly kind: 'message'; readonly value: unknown }
  /** The frame was complete, but its content was not JSON in UTF-8; the next frame can be read. */
  | { readonly kind: 'bad-json'; readonly message: string }
  /** Framing can no longer be trusted; nothing more will be returned. */
  | { readonly kind: 'too-large'; readonly bytes: number };

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decode(body: Uint8Array): Inbound {
  try {
    return { kind: 'message', value: JSON.parse(utf8.decode(body)) };
  } catch (error) {
    return { kind: 'bad-json', message: messageOf(error) };
  }
}

/** Reads frames of at most `maxBytes`. */
export function createDeframer(maxBytes: number = MAX_INBOUND_BYTES) {
  // Parts of a frame are collected until it is complete: joining at every push would be quadratic.
  let parts: Uint8Array[] = [];
  let held = 0;
  let wanted: number | null = null;
  let lost = false;

  /** Removes `count` bytes from the front; the caller knows that they are there. */
  function take(count: number): Buffer {
    const [only] = parts;
    const all =
      parts.length === 1 && only !== undefined
        ? Buffer.from(only.buffer, only.byteOffset, only.length)
        : Buffer.concat(parts, held);
    parts = [all.subarray(count)];
    held -= count;
    return all.subarray(0, count);
  }

  function next(): Inbound | null {
    if (wanted === null && held >= LENGTH_BYTES) wanted = take(LENGTH_BYTES).readUInt32LE();
    if (wanted === null) return null;
    if (wanted > maxBytes) {
      lost = true;
      parts = [];
      return { kind: 'too-large', bytes: wanted };
    }
    if (held < wanted) return null;
    const body = take(wanted);
    wanted = null;
    return decode(body);
  }

  return {
    /** Accepts any bytes from the pipe and returns the messages completed by them, in order. */
    push(bytes: Uint8Array): Inbound[] {
      const out: Inbound[] = [];
      if (lost) return out;
      parts.push(bytes);
      held += bytes.length;
      for (let inbound = next(); inbound !== null; inbound = lost ? null : next()) out.push(inbound);
      return out;
    },
  };
}

/** A message as one frame. */
export function frame(message: unknown): Buffer {
  const text = JSON.stringify(message);
  const out = Buffer.allocUnsafe(LENGTH_BYTES + Buffer.byteLength(text));
  out.writeUInt32LE(out.length - LENGTH_BYTES, 0);
  out.write(text, LENGTH_BYTES, 'utf8');
  return out;
}

/** Space for everything around `data`, including the longest id and sequence number. */
const CHUNK_OVERHEAD_BYTES = 128;

/** Bytes of a code point inside a JSON string in UTF-8. JSON text itself contains no control characters. */
function encodedBytes(codePoint: number): number {
  if (codePoint === 0x22 || codePoint === 0x5c) return 2;
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}

/** Splits a text into slices that each encode to at most `maxBytes`, never between the halves of a surrogate pair. */
function slices(text: string, maxBytes: number): string[] {
  const out: string[] = [];
  let start = 0;
  let bytes = 0;
  for (let at = 0; at < text.length; ) {
    const codePoint = text.codePointAt(at) ?? 0;
    const size = encodedBytes(codePoint);
    if (bytes + size > maxBytes) {
      out.push(text.slice(start, at));
      start = at;
      bytes = 0;
    }
    bytes += size;
    at += codePoint > 0xffff ? 2 : 1;
  }
  out.push(text.slice(start));
  return out;
}

/**
 * The frames of a reply: one, or `chunk`s of its JSON text if it is over `maxBytes`. A reply too large for the
 * extension to reassemble is replaced by an error.
 */
export function framesOf(reply: SentReply, maxBytes: number = MAX_REPLY_BYTES): Buffer[] {
  const whole = frame(reply);
  if (whole.length - LENGTH_BYTES > MAX_WHOLE_REPLY_BYTES) {
    const message = `${WIRE_ERRORS['reply-too-large']}: ${whole.length} bytes`;
    return [frame({ id: reply.id, type: 'error', code: 'reply-too-large', message } satisfies SentReply)];
  }
  if (whole.length - LENGTH_BYTES <= maxBytes) return [whole];
  const data = slices(JSON.stringify(reply), maxBytes - CHUNK_OVERHEAD_BYTES);
  return data.map((slice, seq) =>
    frame({ id: reply.id, type: 'chunk', seq, last: seq === data.length - 1, data: slice }),
  );
}
