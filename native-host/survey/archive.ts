// A survey's archive as its readers see it: every line validated, each result of a vantage point once. In memory is one
// byte for each job and vantage point.
import { join } from 'node:path';
import * as v from 'valibot';
import { linesOf } from '../cli/input-lines.ts';
import { Complaint } from '../cli/usage.ts';
import { resultSchema, type Survey, type SurveyResult } from './result.ts';
import { readSurvey, type Segment, SURVEY_FILE, segmentsIn } from './segments.ts';
import { zstdFrames } from './zstd-frames.ts';

const MAX_LINE_CHARS = 16 * 1024 * 1024;
/** Named at most: a damaged disk could make as many as there are lines. */
const BAD_LINES_NAMED = 1000;
/** As many fit the column of their numbers. */
const MAX_JOBS = 2 ** 31 - 1;

/** A line that is no result of this survey, or a damaged frame after that line. */
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
  /** By job; 0: no result yet. A reader may put other values than 1 there. */
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

/** The result on a line, or why there is none. */
function readLine(text: string, { vantage }: Segment, { survey }: Archive): SurveyResult | string {
  const read = v.safeParse(lineSchema, text);
  if (!read.success) {
    const where = v.getDotPath(read.issues[0]);
    return `${where === null ? '' : `${where}: `}${read.issues[0].message}`.slice(0, 200);
  }
  const result = read.output;
  if (result.survey !== survey.survey) return `it belongs to the survey ${result.survey}`;
  if (result.vantage !== vantage) return `it belongs to the vantage point ${result.vantage}`;
  if (result.job > survey.list.jobs)
    return `job ${result.job} is not among the ${survey.list.jobs} of the list`;
  if (result.document.races.length !== 1)
    return `it has ${result.document.races.length} races instead of one`;
  return result;
}

/**
 * All results in the order of files and lines, each of a vantage point's jobs once: the first. Everything else is
 * counted in `tally`. Rejects with a Complaint if a file cannot be read.
 */
export async function* resultsOf(archive: Archive, tally: Tally): AsyncGenerator<SurveyResult> {
  for (const segment of archive.segments) {
    const { name, vantage } = segment;
    let line = 0;
    const bad = (reason: string): void => {
      tally.bad += 1;
      if (tally.badLines.length < BAD_LINES_NAMED) tally.badLines.push({ file: name, line, reason });
    };
    const of = tally.vantages.get(vantage) ?? {
      measured: 0,
      repeated: 0,
      jobs: new Uint8Array(archive.survey.list.jobs + 1),
    };
    tally.vantages.set(vantage, of);
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
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      throw new Complaint('bad-file', `cannot read ${join(archive.directory, name)}: ${code}`);
    }
  }
}

async function* decoded(frames: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const frame of frames) yield decoder.decode(frame, { stream: true });
  yield decoder.decode();
}
