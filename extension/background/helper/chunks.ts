// Puts long replies together again. The helper cuts what browsers would refuse to carry in one message.
import { MAX_WHOLE_REPLY_BYTES, type Reply } from '@photofinish/shared/port/wire';

type Chunk = Extract<Reply, { type: 'chunk' }>;

export type Reassembled =
  | { readonly state: 'more' }
  | { readonly state: 'whole'; readonly message: unknown }
  | { readonly state: 'broken'; readonly why: string };

/** One request's chunks, in order; a gap, a bad end or too much of it breaks the reply. */
export function createReassembly(): (chunk: Chunk) => Reassembled {
  const parts: string[] = [];
  let chars = 0;
  return ({ seq, last, data }) => {
    if (seq !== parts.length)
      return { state: 'broken', why: `received chunk ${seq} instead of ${parts.length}` };
    // A character is a byte at least.
    chars += data.length;
    if (chars > MAX_WHOLE_REPLY_BYTES) return { state: 'broken', why: 'the reply is too long' };
    parts.push(data);
    if (!last) return { state: 'more' };
    try {
      return { state: 'whole', message: JSON.parse(parts.join('')) };
    } catch {
      return { state: 'broken', why: 'the chunks do not make a JSON text' };
    }
  };
}
