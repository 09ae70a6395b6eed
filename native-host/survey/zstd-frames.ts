// The frames of a file of concatenated zstd frames (RFC 8878 section 3.1): Node's decompressor ends, without an error,
// after the first one.
import { open } from 'node:fs/promises';
import { zstdDecompressSync } from 'node:zlib';

const MAGIC = 0xfd2fb528;
const BLOCK_HEAD_BYTES = 3;
const CHECKSUM_BYTES = 4;
const RLE = 1;
const RESERVED = 3;
const MAX_FRAME_BYTES = 64 * 1024 * 1024;
const MAX_CONTENT_BYTES = 1024 * 1024 * 1024;

/** Length of a frame's header in bytes, from its descriptor (RFC 8878 section 3.1.1.1.1). */
function headBytes(descriptor: number): number {
  const single = (descriptor & 0x20) !== 0;
  const contentSize = [single ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const dictionary = [0, 1, 2, 4][descriptor & 3] ?? 0;
  return 4 + 1 + (single ? 0 : 1) + dictionary + contentSize;
}

/**
 * The content of each frame. `damaged` is called with the offset of a frame that cannot be read; after one whose end is
 * unknown nothing follows. Rejects with the system's error.
 */
export async function* zstdFrames(path: string, damaged: (atByte: number) => void): AsyncGenerator<Buffer> {
  const file = await open(path);
  const read = async (at: number, length: number): Promise<Buffer> => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
    return buffer.subarray(0, bytesRead);
  };
  /** The offset after the frame; null: there is no whole frame. */
  const endOf = async (start: number): Promise<number | null> => {
    const head = await read(start, 5);
    if (head.length < 5 || head.readUInt32LE() !== MAGIC) return null;
    const descriptor = head.readUInt8(4);
    for (let at = start + headBytes(descriptor); at - start < MAX_FRAME_BYTES; ) {
      const block = await read(at, BLOCK_HEAD_BYTES);
      if (block.length < BLOCK_HEAD_BYTES) return null;
      const bits = block.readUIntLE(0, BLOCK_HEAD_BYTES);
      const type = (bits >> 1) & 3;
      if (type === RESERVED) return null;
      at += BLOCK_HEAD_BYTES + (type === RLE ? 1 : bits >> 3);
      if ((bits & 1) === 1) return at + (descriptor & 4 ? CHECKSUM_BYTES : 0);
    }
    return null;
  };
  try {
    const { size } = await file.stat();
    for (let at = 0; at < size; ) {
      const end = await endOf(at);
      if (end === null || end > size) return damaged(at);
      let content: Buffer | null = null;
      try {
        content = zstdDecompressSync(await read(at, end - at), { maxOutputLength: MAX_CONTENT_BYTES });
      } catch {
        damaged(at);
      }
      if (content !== null) yield content;
      at = end;
    }
  } finally {
    await file.close();
  }
}
