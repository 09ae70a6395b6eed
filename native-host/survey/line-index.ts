// A list of a survey, of which the lines are read in another order than the file's. Of ten million lines only every
// 256th position is kept; a line is found from there.
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { MAX_LINE_CHARS } from '../cli/input-lines.ts';

/** The lines of a file that must not change while it is open. */
export interface Lines {
  readonly count: number;
  /** Of the file's bytes, in hexadecimal. */
  readonly sha256: string;
  /**
   * The line with this index, from 0, without its line feed or CRLF; of one with more than MAX_LINE_CHARS characters
   * only a prefix that is longer than that. Rejects if the file has changed, and with a RangeError for no such line.
   */
  line(index: number): Promise<string>;
  close(): Promise<void>;
}

const LINES_PER_MARK = 256;
const READ_BYTES = 256 * 1024;
/** Lines are read from a mark on: at once if they are of usual length. */
const BLOCK_BYTES = 16 * 1024;
/** A character is at most three bytes of UTF-8, or four bytes are two; the excess shows that the line is too long. */
const MAX_LINE_BYTES = 3 * (MAX_LINE_CHARS + 2);
const LINE_FEED = 10;

interface Identity {
  readonly size: bigint;
  readonly mtimeNs: bigint;
}

async function identity(handle: FileHandle): Promise<Identity> {
  const { size, mtimeNs } = await handle.stat({ bigint: true });
  return { size, mtimeNs };
}

/** The bytes from `position` on, until the caller stops or the file ends. */
async function* bytesFrom(handle: FileHandle, position: number, most: number): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(most);
  for (let at = position; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, most, at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

interface Index {
  readonly count: number;
  readonly sha256: string;
  /** Where every 256th line begins. */
  readonly marks: readonly number[];
}

async function indexOf(handle: FileHandle): Promise<Index> {
  const hash = createHash('sha256');
  const marks = [0];
  let count = 0;
  let at = 0;
  let lineAt = 0;
  for await (const bytes of bytesFrom(handle, 0, READ_BYTES)) {
    hash.update(bytes);
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, end + 1)) {
      count += 1;
      lineAt = at + end + 1;
      if (count % LINES_PER_MARK === 0) marks.push(lineAt);
    }
    at += bytes.length;
  }
  // The last line may lack its line feed.
  if (at > lineAt) count += 1;
  return { count, sha256: hash.digest('hex'), marks };
}

/** The bytes of the line that is `skipped` lines after a position, at most MAX_LINE_BYTES, without its line feed. */
async function lineAfter(handle: FileHandle, position: number, skipped: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  let missing = skipped;
  for await (const bytes of bytesFrom(handle, position, BLOCK_BYTES)) {
    let from = 0;
    for (; missing > 0; missing -= 1) {
      const end = bytes.indexOf(LINE_FEED, from);
      if (end === -1) break;
      from = end + 1;
    }
    if (missing > 0) continue;
    const end = bytes.indexOf(LINE_FEED, from);
    const part = bytes.subarray(from, end === -1 ? bytes.length : end);
    // The buffer is read into again.
    parts.push(Buffer.from(part.subarray(0, MAX_LINE_BYTES - length)));
    length += part.length;
    if (end !== -1 || length >= MAX_LINE_BYTES) break;
  }
  return Buffer.concat(parts);
}

/** Rejects if the file cannot be read, is no regular file, or changes while it is being read. */
export async function openLines(path: string): Promise<Lines> {
  const handle = await open(path, 'r');
  try {
    const before = await identity(handle);
    if (!(await handle.stat()).isFile()) throw new Error(`${path} is not a regular file`);
    const { count, sha256, marks } = await indexOf(handle);

    async function assertUnchanged(): Promise<void> {
      const now = await identity(handle);
      if (now.size !== before.size || now.mtimeNs !== before.mtimeNs)
        throw new Error(
          `${path} changed while it was being read; start again with a list that stays as it is`,
        );
    }

    await assertUnchanged();
    return {
      count,
      sha256,
      async line(index) {
        if (!Number.isInteger(index) || index < 0 || index >= count)
          throw new RangeError(`${path} has no line with index ${index}`);
        const mark = marks[Math.floor(index / LINES_PER_MARK)] ?? 0;
        const bytes = await lineAfter(handle, mark, index % LINES_PER_MARK);
        await assertUnchanged();
        return bytes.toString('utf8').replace(/\r$/, '');
      },
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}
