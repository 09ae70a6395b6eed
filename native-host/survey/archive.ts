// A survey's archive as its readers see it: every line validated, each result of a vantage point once. In memory is one
// byte for each job and vantage point.
import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { issueText, linesOf } from '../cli/input-lines.ts';
import { Complaint } from '../cli/usage.ts';
import { type DeadLine, deadLineSchema } from './job.ts';
import { resultSchema, type Survey, type SurveyResult } from './result.ts';
import { DEAD_FILE, readSurvey, type Segment, SURVEY_FILE, segmentsIn, zstdFrames } from './segments.ts';

const MAX_LINE_CHARS = 16 * 1024 * 1024;
/** Named at most: a damaged disk could make as many as there are lines. */
const BAD_LINES_NAMED = 1000;
const MOST_REASON_CHARS = 200;
/** As many fit the column of their numbers. */
const MAX_JOBS = 2 ** 31 - 1;

/** A line that is no result or job of this survey, or a damaged frame after that line. */
export interface BadLine {
  readonly file: string;
  readonly line: number;
  readonly reason: string;
}

export interface VantageTally {
  /** Results, each counted once. */
  measured: number;
  /** Results left out because they were there already. */
  repeated: number;
  /** Jobs without a result that were given up. */
  givenUp: number;
  /** By job; 0: neither a result nor given up yet. A reader may put other values than 1 there. */
  readonly jobs: Uint8Array;
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

export function emptyTally(): Tally {
  return { vantages: new Map(), bad: 0, badLines: [] };
}

/** How many jobs have no result from the vantage point. */
export function missingFrom({ survey }: Archive, { measured }: VantageTally): number {
  return survey.list.jobs - measured;
}

const lineSchema = v.pipe(v.string(), v.parseJson(), resultSchema);

function notListed(job: number, { list }: Survey): string {
  return `job ${job} is not among the ${list.jobs} of the list`;
}

/** The result on a line, or why there is none. */
function readLine(text: string, { vantage }: Segment, { survey }: Archive): SurveyResult | string {
  const read = v.safeParse(lineSchema, text);
  if (!read.success) return issueText(read.issues[0]).slice(0, MOST_REASON_CHARS);
  const result = read.output;
  if (result.survey !== survey.survey) return `it belongs to the survey ${result.survey}`;
  if (result.vantage !== vantage) return `it belongs to the vantage point ${result.vantage}`;
  if (result.job > survey.list.jobs) return notListed(result.job, survey);
  if (result.document.races.length !== 1)
    return `it has ${result.document.races.length} races instead of one`;
  return result;
}

function tallyOf(vantage: string, archive: Archive, { vantages }: Tally): VantageTally {
  const jobs = (): Uint8Array => new Uint8Array(archive.survey.list.jobs + 1);
  const of = vantages.get(vantage) ?? { measured: 0, repeated: 0, givenUp: 0, jobs: jobs() };
  vantages.set(vantage, of);
  return of;
}

function addBadLine(tally: Tally, file: string, line: number, reason: string): void {
  tally.bad += 1;
  if (tally.badLines.length < BAD_LINES_NAMED) tally.badLines.push({ file, line, reason });
}

/**
 * All results in the order of files and lines, each of a vantage point's jobs once: the first. Everything else is
 * counted in `tally`. Rejects with a Complaint if a file cannot be read.
 */
export async function* resultsOf(archive: Archive, tally: Tally): AsyncGenerator<SurveyResult> {
  for (const segment of archive.segments) {
    const { name, vantage } = segment;
    let line = 0;
    const bad = (reason: string): void => addBadLine(tally, name, line, reason);
    const of = tallyOf(vantage, archive, tally);
    const frames = zstdFrames(join(archive.directory, name), (at) =>
      bad(`the zstd frame at byte ${at} is damaged`),
    );
    try {
      for await (const text of linesOf(decoded(frames), MAX_LINE_CHARS)) {
        line += 1;
        const result = readLine(text, segment, archive);
        if (typeof result === 'string') bad(result);
        else if (of.jobs[result.job] !== 0) of.repeated += 1;
        else {
          of.jobs[result.job] = 1;
          of.measured += 1;
          yield result;
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
  const read = v.safeParse(deadTextSchema, text);
  if (!read.success) return issueText(read.issues[0]).slice(0, MOST_REASON_CHARS);
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
