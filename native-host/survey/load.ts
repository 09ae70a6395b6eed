// Loads a list into a survey's stream of jobs, in the order of a keyed permutation, so that neighbours in the list,
// often on one network, are not neighbours in time. An interrupted load resumes where the stream ends. Of ten million
// lines only every 256th position is kept, from which a line is found; and which lines repeat an earlier one.
import { createHash, hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { getDomain } from 'tldts';
import { MAX_LINE_CHARS } from '../cli/input-lines.ts';
import { Complaint, EXIT_FAILED } from '../cli/usage.ts';
import { headers, type JetStreamClient, type JetStreamManager } from './nats.ts';
import { type Job, readSurveyLine, type Survey } from './schema.ts';
import { isOvertaken, type SurveyNames, TODO_BUCKETS } from './streams.ts';

/** The halves of an index are then below 2^20, and all arithmetic is exact. */
export const MAX_PERMUTED = 2 ** 40;
/** SHA-256 yields eight keys of 32 bits. */
const ROUNDS = 8;

/** A keyed hash of 32 bits: MurmurHash3's finaliser between two additions of the key. */
function mixed(half: number, key: number): number {
  let hash = (half + key) | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) + key) >>> 0;
}

/**
 * A bijection on the whole numbers from 0 to `size` - 1, at most 2^40, the same on every machine for the same seed, as in
 * ZMap. It is computed per index: no list of ten million numbers is shuffled or stored. The order looks random but is
 * not secret. Throws a RangeError for another size, and for an index outside the range.
 *
 * A Feistel network over two halves whose ranges have about the square root of `size` (Black and Rogaway, Ciphers with
 * Arbitrary Finite Domains, 2002); the few results beyond the range are permuted again until they are within it.
 */
export function permutation(size: number, seed: string): (index: number) => number {
  if (!Number.isInteger(size) || size < 0 || size > MAX_PERMUTED)
    throw new RangeError(`a permutation has 0 to 2^40 elements, not ${size}`);
  const digest = createHash('sha256').update(seed).digest();
  const keys = Array.from({ length: ROUNDS }, (_, round) => digest.readInt32LE(4 * round));
  const lows = Math.max(1, Math.ceil(Math.sqrt(size)));
  const highs = Math.ceil(size / lows);

  function permuted(index: number): number {
    let low = index % lows;
    let high = (index - low) / lows;
    for (const [round, key] of keys.entries())
      if (round % 2 === 0) low = (low + mixed(high, key)) % lows;
      else high = (high + mixed(low, key)) % highs;
    return high * lows + low;
  }

  return (index) => {
    if (!Number.isInteger(index) || index < 0 || index >= size)
      throw new RangeError(`${index} is not an index below ${size}`);
    let place = permuted(index);
    while (place >= size) place = permuted(place);
    return place;
  };
}

/**
 * Which texts were there before, by 64 bits of their hash: ten million take 128 MB, a tenth of what a set of them would.
 * Two of so many share a hash in one of 370,000 lists.
 */
export class SeenTexts {
  readonly #mask: number;
  readonly #lows: Uint32Array;
  readonly #highs: Uint32Array;

  /** At most so many will be added. */
  constructor(most: number) {
    // At least a third stays free, so that few places have to be looked at.
    const size = 2 ** Math.ceil(Math.log2(1.5 * most + 1));
    this.#mask = size - 1;
    this.#lows = new Uint32Array(size);
    this.#highs = new Uint32Array(size);
  }

  /** Adds a text; whether it was there before. */
  add(text: string): boolean {
    const digest = hash('sha256', text, 'buffer');
    const low = digest.readUInt32LE();
    // A place that is free has zero.
    const high = digest.readUInt32LE(4) || 1;
    let place = low & this.#mask;
    while (this.#highs[place] !== 0) {
      if (this.#lows[place] === low && this.#highs[place] === high) return true;
      place = (place + 1) & this.#mask;
    }
    this.#lows[place] = low;
    this.#highs[place] = high;
    return false;
  }
}

/** Lines of a list by their index, a bit for each. */
export class LineSet {
  readonly #bits: Uint8Array;
  #size = 0;

  constructor(lines: number) {
    this.#bits = new Uint8Array(Math.ceil(lines / 8));
  }

  get size(): number {
    return this.#size;
  }

  has(index: number): boolean {
    return ((this.#bits[Math.floor(index / 8)] ?? 0) & (1 << (index % 8))) !== 0;
  }

  add(index: number): void {
    if (this.has(index)) return;
    const byte = Math.floor(index / 8);
    this.#bits[byte] = (this.#bits[byte] ?? 0) | (1 << (index % 8));
    this.#size += 1;
  }
}

/** Where a job stood in the order, for a load that goes on. */
const POSITION_HEADER = 'Photofinish-Position';
/** Published and not acknowledged at a time: the round trip to the server is paid once for so many. */
const MAX_IN_FLIGHT = 256;
const PUBLISH_TIMEOUT_MS = 10_000;
/** Attempts without any progress before the error is the user's. */
const MAX_FRUITLESS = 3;

interface Load {
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly names: SurveyNames;
  readonly survey: Pick<Survey, 'seed'> & { readonly mode: Job['mode'] };
  readonly lines: Lines;
  /** Lines whose job is that of an earlier line. */
  readonly repeated: LineSet;
  readonly signal: AbortSignal;
  readonly progress: (position: number) => void;
}

/** The bucket of a host: that of its registrable domain, so that one owner's hosts are on one subject. */
export function bucketOf(host: string): number {
  const owner = getDomain(host, { allowPrivateDomains: true }) ?? host;
  return createHash('sha256').update(owner).digest().readUInt32BE() % TODO_BUCKETS;
}

interface LoadPoint {
  readonly position: number;
  readonly sequence: number;
}

/** The position after that of the stream's last job, and the sequence of that job. */
async function loadedSoFar({ manager, names }: Load): Promise<LoadPoint> {
  const { state } = await manager.streams.info(names.streams.todo);
  if (state.last_seq === 0) return { position: 0, sequence: 0 };
  const last = await manager.streams.getMessage(names.streams.todo, { seq: state.last_seq });
  const position = Number.parseInt(last?.header.get(POSITION_HEADER) ?? '', 10);
  if (!Number.isSafeInteger(position))
    throw new Complaint('bad-survey', `the stream ${names.streams.todo} holds messages that are not jobs`);
  return { position: position + 1, sequence: state.last_seq };
}

/** Publishes from a point on; resolves with the error that stopped it, or null at the end of the list. */
async function publishFrom(load: Load, { position, sequence }: LoadPoint): Promise<unknown> {
  const { client, names, survey, lines, repeated, signal } = load;
  const order = permutation(lines.count, survey.seed);
  const inFlight = new Set<Promise<void>>();
  let failure: unknown = null;
  let expected = sequence;
  const publish = async (at: number, { origin, mode }: Job, host: string): Promise<void> => {
    const header = headers();
    header.set(POSITION_HEADER, String(at));
    // A second load of the same survey at the same time would mix two orders.
    const expect = { lastSequence: expected };
    expected += 1;
    try {
      await client.publish(names.todoSubject(bucketOf(host)), JSON.stringify({ origin, mode }), {
        headers: header,
        msgID: `${names.survey}.${at}`,
        timeout: PUBLISH_TIMEOUT_MS,
        expect,
      });
    } catch (error) {
      // What follows a message that was not stored is out of order for the server, and refused before that one times out.
      if (failure === null || isOvertaken(failure)) failure = error;
    }
  };
  for (let at = position; at < lines.count && failure === null && !signal.aborted; at += 1) {
    const index = order(at);
    if (repeated.has(index)) continue;
    const line = readSurveyLine(await lines.line(index), survey.mode);
    if (line === null || !line.ok) continue;
    const { origin, mode } = line.value;
    const published = publish(at, { origin: origin.origin, mode: mode as Job['mode'] }, origin.host);
    inFlight.add(published);
    void published.then(() => inFlight.delete(published));
    if (inFlight.size >= MAX_IN_FLIGHT) await Promise.race(inFlight);
    if (at % 1000 === 0) load.progress(at);
  }
  await Promise.all(inFlight);
  return failure;
}

/**
 * Loads what is not loaded yet; a server that is away is waited for. Throws a Complaint if another load is under way,
 * and the server's error if it takes no more, for example because its disk is full.
 */
export async function loadList(load: Load): Promise<void> {
  for (let fruitless = 0; !load.signal.aborted; ) {
    const from = await loadedSoFar(load);
    const failure = await publishFrom(load, from);
    if (failure === null) return;
    const { sequence } = await loadedSoFar(load);
    fruitless = sequence > from.sequence ? 0 : fruitless + 1;
    if (fruitless < MAX_FRUITLESS) continue;
    if (isOvertaken(failure))
      throw new Complaint('bad-survey', 'another load of this survey is under way', EXIT_FAILED);
    throw failure;
  }
}

/** The lines of a file that must not change while it is open. */
export type Lines = Awaited<ReturnType<typeof openLines>>;

const LINES_PER_MARK = 256;
const READ_BYTES = 256 * 1024;
/** Lines are read from a mark on: at once if they are of usual length. */
const BLOCK_BYTES = 16 * 1024;
/** A character is at most three bytes of UTF-8, or four bytes are two; the excess shows that the line is too long. */
const MAX_LINE_BYTES = 3 * (MAX_LINE_CHARS + 2);
const LINE_FEED = 10;

async function identity(handle: FileHandle) {
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

async function indexOf(handle: FileHandle) {
  const hash = createHash('sha256');
  /** Where every 256th line begins. */
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
export async function openLines(path: string) {
  const handle = await open(path, 'r');
  try {
    const before = await identity(handle);
    if (!(await handle.stat()).isFile()) throw new Error(`${path} is not a regular file`);
    const { count, sha256, marks } = await indexOf(handle);

    async function assertUnchanged(): Promise<void> {
      const now = await identity(handle);
      if (now.size !== before.size || now.mtimeNs !== before.mtimeNs)
        throw new Error(
          `${path} changed while it was being read; start again with a list that does not change`,
        );
    }

    await assertUnchanged();
    return {
      count,
      /** Of the file's bytes, in hexadecimal. */
      sha256,
      /**
       * The line with this index, from 0, without its line feed or CRLF; of one with more than MAX_LINE_CHARS characters
       * only a prefix that is longer than that. Rejects if the file has changed, and with a RangeError for no such line.
       */
      async line(index: number): Promise<string> {
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
