// What a worker of a survey measured: one line of the archive, written by workers and read by the collector and the
// export. The archive is these lines; everything else is derived from them.
import { raceDocumentSchema } from '@photofinish/shared/race/outcome';
import { MODES } from '@photofinish/shared/race/terms';
import { MAX_LABEL_CHARS, text } from '@photofinish/shared/web/bounds';
import * as v from 'valibot';

/** A survey's and a vantage point's name: part of stream names, subjects and file names. */
export const nameSchema = v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,31}$/));

export const RESULT_SCHEMA = 'photofinish.survey-result/1';
export const resultSchema = v.object({
  schema: v.literal(RESULT_SCHEMA),
  survey: nameSchema,
  vantage: nameSchema,
  /** The job's sequence in the stream of jobs: with the vantage it identifies the result. */
  job: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** The worker's program, `photofinish/VERSION`. */
  program: text(MAX_LABEL_CHARS),
  /** The document that `photofinish race --json` prints, with one race. */
  document: raceDocumentSchema,
});
export type SurveyResult = v.InferOutput<typeof resultSchema>;

export const SURVEY_SCHEMA = 'photofinish.survey/1';
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** What a survey is: stored with its streams, and as `survey.json` beside the archive. */
export const surveySchema = v.object({
  schema: v.literal(SURVEY_SCHEMA),
  survey: nameSchema,
  /** Milliseconds since the epoch. */
  createdAtMs: count,
  /** The list: how many lines hold a job, how many could not be read, and the SHA-256 of its bytes in hexadecimal. */
  list: v.object({ jobs: count, badLines: count, sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)) }),
  /** Keys the order of the jobs. */
  seed: text(MAX_LABEL_CHARS),
  mode: v.picklist(MODES),
  /** Trials, or pairs at most, of each job; null: the default of its mode. */
  trials: v.nullable(v.pipe(count, v.minValue(1), v.maxValue(100_000))),
  /** Limit of one trial. */
  timeoutMs: v.pipe(count, v.minValue(1)),
  /** Origins that every vantage reaches over HTTP/3: while one does not, a vantage writes nothing. */
  canaries: v.array(text(MAX_LABEL_CHARS * 4)),
  /** Who is responsible, as in the User-Agent of every request; null: not given. */
  contact: v.nullable(text(MAX_LABEL_CHARS * 2)),
  /** Races a second for each /24 and /48, and in total, by all vantages together; total 0: without limit. */
  perNetworkPerSecond: v.pipe(v.number(), v.minValue(0.001), v.maxValue(1000)),
  totalPerSecond: v.pipe(v.number(), v.minValue(0), v.maxValue(100_000)),
});
export type Survey = v.InferOutput<typeof surveySchema>;
