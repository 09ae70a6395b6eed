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
import { join } from 'node:path';
import * as v from 'valibot';
import { issueText } from '../cli/issue-text.ts';
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
