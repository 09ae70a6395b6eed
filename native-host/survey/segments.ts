// The archive of a survey on disk: segments of compressed results, each written aside, synced and renamed, and
// `survey.json` beside them. The names tell what it has: a collector goes on after the last segment.
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import * as v from 'valibot';
import { issueText } from '../cli/input-lines.ts';
import { Complaint } from '../cli/usage.ts';
import { nameSchema, SURVEY_SCHEMA, type Survey, surveySchema } from './result.ts';

const SEGMENT = /^results-(.+)-(\d{1,15})-(\d{1,15})\.ndjson\.zst$/;
const UNFINISHED = '.part';
export const SURVEY_FILE = 'survey.json';
export const DEAD_FILE = 'dead.ndjson';

export interface Segment {
  readonly name: string;
  readonly vantage: string;
  /** Sequences of its first and last batch in the stream of results. */
  readonly first: number;
  readonly last: number;
}

export function segmentName({ vantage, first, last }: Omit<Segment, 'name'>): string {
  return `results-${vantage}-${first}-${last}.ndjson.zst`;
}

function segmentOf(name: string): Segment[] {
  const [, vantage = '', first, last] = SEGMENT.exec(name) ?? [];
  return v.is(nameSchema, vantage) ? [{ name, vantage, first: Number(first), last: Number(last) }] : [];
}

function byName(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** The segments in a directory, by vantage and sequence. Throws if it cannot be read. */
export function segmentsIn(dir: string): readonly Segment[] {
  return readdirSync(dir)
    .flatMap(segmentOf)
    .toSorted((a, b) => byName(a.vantage, b.vantage) || a.first - b.first || a.last - b.last);
}

/** Whether an error is of a file or disk, and not of a connection. */
export function isOfFiles(error: unknown): error is NodeJS.ErrnoException {
  return (
    error instanceof Error &&
    'syscall' in error &&
    'code' in error &&
    !/^E(CONN|PIPE|TIMEDOUT)/.test(String(error.code))
  );
}

function syncDirectory(dir: string): void {
  // Windows refuses to flush a directory, which no process can open for writing.
  if (process.platform === 'win32') return;
  const handle = openSync(dir, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

/** Writes a file so that under its name there is never a part of it, also after a power failure. */
export function writeWhole(dir: string, name: string, pieces: Iterable<Uint8Array>): void {
  const aside = join(dir, `${name}${UNFINISHED}`);
  const handle = openSync(aside, 'w');
  try {
    for (const piece of pieces) for (let at = 0; at < piece.length; ) at += writeSync(handle, piece, at);
    fsyncSync(handle);
  } catch (error) {
    // A disk that is full needs the room.
    rmSync(aside, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
  renameSync(aside, join(dir, name));
  syncDirectory(dir);
}

/** Whether a file is one that was being written aside: others in the directory are not ours to remove. */
function isUnfinished(file: string): boolean {
  if (!file.endsWith(UNFINISHED)) return false;
  const name = file.slice(0, -UNFINISHED.length);
  return name === SURVEY_FILE || name === DEAD_FILE || segmentOf(name).length > 0;
}

/** Makes the directory, and removes what an earlier collector did not finish. */
export function prepareArchive(dir: string): void {
  mkdirSync(dir, { recursive: true });
  for (const file of readdirSync(dir)) if (isUnfinished(file)) rmSync(join(dir, file));
}

/** The survey that the archive is of; null: there is no such file. Throws a Complaint if it cannot be read. */
export function readSurvey(dir: string): Survey | null {
  const path = join(dir, SURVEY_FILE);
  if (!existsSync(path)) return null;
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), surveySchema), readFileSync(path, 'utf8'));
  if (read.success) return read.output;
  throw new Complaint('bad-file', `${path} is not a ${SURVEY_SCHEMA} document: ${issueText(read.issues[0])}`);
}

export function writeSurvey(dir: string, survey: Survey): void {
  writeWhole(dir, SURVEY_FILE, [Buffer.from(`${JSON.stringify(survey, null, 2)}\n`)]);
}

// The layout of a zstd frame (RFC 8878 section 3.1).
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
 * The content of each zstd frame of a file: Node's decompressor ends, without an error, after the first one. `damaged` is called with the offset of a frame that cannot be read; after one whose end is
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
