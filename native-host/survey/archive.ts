// The archive of a survey on disk: `survey.json`, and segments of compressed results, each written to a temporary file,
// synced and renamed, whose names tell a collector where to resume. Reading validates every line, returns each result
// of a vantage point once, and keeps one byte in memory for each job and vantage point.
import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
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
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { issueText } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { linesOf } from '../cli/input-lines.ts';
import { Complaint } from '../cli/usage.ts';
import { makeDirectory } from '../paths.ts';
import { VantageEvidence } from './facts.ts';
import {
  type DeadLine,
  deadLineSchema,
  nameSchema,
  resultSchema,
  SURVEY_SCHEMA,
  type Survey,
  type SurveyResult,
  surveySchema,
} from './schema.ts';

const SEGMENT = /^results-(.+)-(\d{1,15})-(\d{1,15})\.ndjson\.zst$/;
const UNFINISHED = '.part';
export const SURVEY_FILE = 'survey.json';
export const DEAD_FILE = 'dead.ndjson';

interface Segment {
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

/** Writes a file atomically, even if the power fails. */
export function writeWhole(dir: string, name: string, pieces: Iterable<Uint8Array>): void {
  const aside = join(dir, `${name}${UNFINISHED}`);
  const handle = openSync(aside, 'w');
  try {
    for (const piece of pieces) for (let at = 0; at < piece.length; ) at += writeSync(handle, piece, at);
    fsyncSync(handle);
  } catch (error) {
    // A full disk needs the space.
    rmSync(aside, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
  renameSync(aside, join(dir, name));
  syncDirectory(dir);
}

/** Whether a file is a temporary one of ours: others in the directory must not be removed. */
function isUnfinished(file: string): boolean {
  if (!file.endsWith(UNFINISHED)) return false;
  const name = file.slice(0, -UNFINISHED.length);
  return name === SURVEY_FILE || name === DEAD_FILE || segmentOf(name).length > 0;
}

/** Makes the directory, and removes what an earlier collector did not finish. */
export function prepareArchive(dir: string): void {
  makeDirectory(dir);
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
/** A hundred times what a message carries: JSON never compresses so well, and it must fit a string. */
const MAX_CONTENT_BYTES = 128 * 1024 * 1024;

/** Length of a frame's header in bytes, from its descriptor (RFC 8878 section 3.1.1.1.1). */
function headBytes(descriptor: number): number {
  const single = (descriptor & 0x20) !== 0;
  const contentSize = [single ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const dictionary = [0, 1, 2, 4][descriptor & 3] ?? 0;
  return 4 + 1 + (single ? 0 : 1) + dictionary + contentSize;
}

/**
 * The content of each zstd frame of a file, because Node's decompressor ends without an error after the first one.
 * `damaged` is called with the offset of a frame that cannot be read; after one whose end is unknown nothing follows.
 * Rejects with the system's error.
 */
async function* zstdFrames(path: string, damaged: (atByte: number) => void): AsyncGenerator<Buffer> {
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

const MAX_LINE_CHARS = 16 * 1024 * 1024;
/** Maximum number of bad lines that are named: on a damaged disk every line may be one. */
const BAD_LINES_NAMED = 1000;
const MAX_REASON_CHARS = 200;
/** As many fit the column of their numbers. */
const MAX_JOBS = 2 ** 31 - 1;

/** A line that is not a result or job of this survey, or a damaged frame. */
export interface BadLine {
  readonly file: string;
  /** Null: a frame, in which no line can be counted; the reason gives its place. */
  readonly line: number | null;
  readonly reason: string;
}

/** For people. */
export function badLineText({ file, line, reason }: BadLine): string {
  return line === null ? `${file}: ${reason}` : `${file}, line ${line}: ${reason}`;
}

interface VantageTally {
  /** Results, each counted once. */
  measured: number;
  /** Results left out because they were there already. */
  repeated: number;
  /** Jobs without a result that were given up. */
  givenUp: number;
  /** By job; 0: neither a result nor given up yet. A reader may put other values than 1 there. */
  readonly jobs: Uint8Array;
  /** Of the results read so far, as far as the reader adds them. */
  readonly evidence: VantageEvidence;
}

/** A result, its race, and what was counted of its vantage point. */
interface ReadResult extends SurveyResult {
  readonly race: OriginRace;
  readonly of: VantageTally;
}

/** What was read so far. */
export interface Tally {
  readonly vantages: Map<string, VantageTally>;
  bad: number;
  readonly badLines: BadLine[];
}

export interface Archive {
  readonly directory: string;
  readonly survey: Survey;
  readonly segments: readonly Segment[];
}

/** Throws a Complaint that names the fault if the directory holds no archive. */
export function openArchive(directory: string): Archive {
  const notOne = (code: string): Complaint =>
    new Complaint(
      'bad-directory',
      `${directory} is not the archive of a survey: cannot read ${SURVEY_FILE} (${code})`,
    );
  let segments: readonly Segment[];
  let survey: Survey | null;
  try {
    segments = segmentsIn(directory);
    survey = readSurvey(directory);
  } catch (error) {
    if (error instanceof Complaint) throw error;
    throw notOne(String((error as NodeJS.ErrnoException).code));
  }
  if (survey === null) throw notOne('ENOENT');
  const { jobs } = survey.list;
  if (jobs > MAX_JOBS)
    throw new Complaint('bad-file', `${SURVEY_FILE} has ${jobs} jobs; ${MAX_JOBS} can be read`);
  return { directory, survey, segments };
}

/** How many jobs have no result from the vantage point. */
export function missingFrom({ survey }: Archive, { measured }: VantageTally): number {
  return survey.list.jobs - measured;
}

const lineSchema = v.pipe(v.string(), v.parseJson(), resultSchema);

function notListed(job: number, { list }: Survey): string {
  return `job ${job} is not among the ${list.jobs} of the list`;
}

/** The result on a line with its race, or why there is none. */
function readLine(text: string, { vantage }: Segment, { survey }: Archive): Omit<ReadResult, 'of'> | string {
  const read = v.safeParse(lineSchema, text, { abortEarly: true });
  if (!read.success) return issueText(read.issues[0]).slice(0, MAX_REASON_CHARS);
  const result = read.output;
  if (result.survey !== survey.survey) return `it belongs to the survey ${result.survey}`;
  if (result.vantage !== vantage) return `it belongs to the vantage point ${result.vantage}`;
  if (result.job > survey.list.jobs) return notListed(result.job, survey);
  const [race, ...more] = result.document.races;
  if (race === undefined || more.length > 0)
    return `it has ${result.document.races.length} races instead of one`;
  return { ...result, race };
}

function tallyOf(vantage: string, archive: Archive, { vantages }: Tally): VantageTally {
  const known = vantages.get(vantage);
  if (known !== undefined) return known;
  const jobs = new Uint8Array(archive.survey.list.jobs + 1);
  const of = { measured: 0, repeated: 0, givenUp: 0, jobs, evidence: new VantageEvidence() };
  vantages.set(vantage, of);
  return of;
}

/** Has every vantage point that the archive names: one without results is in none of its segments. */
export function emptyTally(archive: Archive): Tally {
  const tally: Tally = { vantages: new Map(), bad: 0, badLines: [] };
  for (const vantage of archive.survey.vantages ?? []) tallyOf(vantage, archive, tally);
  return tally;
}

function addBadLine(tally: Tally, file: string, line: number | null, reason: string): void {
  tally.bad += 1;
  if (tally.badLines.length < BAD_LINES_NAMED) tally.badLines.push({ file, line, reason });
}

/**
 * All results in the order of files and lines, each of a vantage point's jobs once: the first. Everything else is
 * counted in `tally`. Rejects with a Complaint if a file cannot be read.
 */
export async function* resultsOf(archive: Archive, tally: Tally): AsyncGenerator<ReadResult> {
  for (const segment of archive.segments) {
    const { name, vantage } = segment;
    let line = 0;
    const of = tallyOf(vantage, archive, tally);
    const frames = zstdFrames(join(archive.directory, name), (at) =>
      addBadLine(tally, name, null, `the zstd frame at byte ${at} is damaged`),
    );
    try {
      for await (const text of linesOf(decoded(frames), MAX_LINE_CHARS)) {
        line += 1;
        const result = readLine(text, segment, archive);
        if (typeof result === 'string') addBadLine(tally, name, line, result);
        else if (of.jobs[result.job] !== 0) of.repeated += 1;
        else {
          of.jobs[result.job] = 1;
          of.measured += 1;
          yield { ...result, of };
        }
      }
    } catch (error) {
      throw cannotRead(archive, name, error);
    }
  }
}

function cannotRead({ directory }: Archive, name: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  return new Complaint('bad-file', `cannot read ${join(directory, name)}: ${code}`);
}

const deadTextSchema = v.pipe(v.string(), v.parseJson(), deadLineSchema);

/** The job on a line, or why there is none. */
function readDead(text: string, { survey }: Archive): DeadLine | string {
  const read = v.safeParse(deadTextSchema, text, { abortEarly: true });
  if (!read.success) return issueText(read.issues[0]).slice(0, MAX_REASON_CHARS);
  return read.output.job > survey.list.jobs ? notListed(read.output.job, survey) : read.output;
}

/**
 * The jobs that were given up and have no result, each of a vantage point's once: with the first reason. `tally` is that
 * of all results, which have been read; everything else is counted in it. Rejects with a Complaint if the file cannot
 * be read; a collector that has not ended has written none.
 */
export async function* deadOf(archive: Archive, tally: Tally): AsyncGenerator<DeadLine> {
  const path = join(archive.directory, DEAD_FILE);
  if (!existsSync(path)) return;
  let line = 0;
  try {
    for await (const text of linesOf(createReadStream(path, 'utf8'), MAX_LINE_CHARS)) {
      line += 1;
      const dead = readDead(text, archive);
      if (typeof dead === 'string') {
        addBadLine(tally, DEAD_FILE, line, dead);
        continue;
      }
      const of = tallyOf(dead.vantage, archive, tally);
      if (of.jobs[dead.job] !== 0) continue;
      of.jobs[dead.job] = 1;
      of.givenUp += 1;
      yield dead;
    }
  } catch (error) {
    throw cannotRead(archive, DEAD_FILE, error);
  }
}

async function* decoded(frames: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const frame of frames) yield decoder.decode(frame, { stream: true });
  yield decoder.decode();
}
