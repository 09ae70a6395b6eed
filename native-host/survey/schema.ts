// The schemas of a survey's messages and archive. A job is a line of the list, also when it is postponed or abandoned.
// A result is one line of the archive, which is these lines, compressed in batches; everything else is derived from
// them.
import { createHash } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { raceDocumentSchema } from '@photofinish/shared/race/outcome';
import { MODES } from '@photofinish/shared/race/terms';
import { parseOrigin } from '@photofinish/shared/web/origin';
import { count, MAX_LABEL_CHARS, text } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { type LineRequest, type ReadLine, readRaceLine } from '../cli/input-lines.ts';
import type { JsMsg } from './nats.ts';

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
  /** In an archive: the vantage points that its collector knew of, also those that it has no results from. */
  vantages: v.optional(v.array(nameSchema)),
});
export type Survey = v.InferOutput<typeof surveySchema>;

/** Results in a batch at most. */
export const MAX_BATCH = 200;
/** A server takes messages of up to 1 MiB unless it is configured otherwise. */
const MAX_BATCH_BYTES = 900_000;

/**
 * A message of results: their lines compressed as one zstd frame (RFC 8878), so that segments are batches in a row. Its
 * id follows from the jobs in it.
 */
function pack(results: readonly SurveyResult[]) {
  const [first] = results;
  const lines = results.map((result) => `${JSON.stringify(result)}\n`).join('');
  const jobs = results.map(({ job }) => job).join();
  const digest = createHash('sha256').update(`${first?.survey}/${first?.vantage}/${jobs}`).digest('hex');
  return { results, id: digest.slice(0, 32), bytes: zstdCompressSync(lines) };
}

/** Packs results; a batch that would be larger than a message may be is halved. */
export function batchesOf(results: readonly SurveyResult[]): readonly ReturnType<typeof pack>[] {
  if (results.length === 0) return [];
  const batch = results.length <= MAX_BATCH ? pack(results) : null;
  if (batch !== null && (batch.bytes.length <= MAX_BATCH_BYTES || results.length === 1)) return [batch];
  const half = results.length > MAX_BATCH ? MAX_BATCH : Math.ceil(results.length / 2);
  return [...batchesOf(results.slice(0, half)), ...batchesOf(results.slice(half))];
}

/** The modes of a survey: those that look names up before a trial, when the budget of a network can be asked for. */
export const SURVEY_MODES = MODES.filter((mode) => mode !== 'v3');
const modeSchema = v.picklist(SURVEY_MODES);

export const jobSchema = v.object({ origin: v.string(), mode: modeSchema });
export type Job = v.InferOutput<typeof jobSchema>;

/** A job in the stream `later`, with its sequence in the stream of jobs. */
export const postponedSchema = v.object({
  ...jobSchema.entries,
  job: v.pipe(v.number(), v.integer(), v.minValue(1)),
});

const DEAD_REASONS = ['opt-out', 'bad-job', 'no-answer'] as const;
/** A job that is given up, in the stream `dead`. The server adds its own advisories about deliveries. */
export const deadSchema = v.object({
  vantage: v.string(),
  job: v.number(),
  origin: v.optional(v.string()),
  reason: v.picklist(DEAD_REASONS),
});
export type DeadJob = v.InferOutput<typeof deadSchema>;

/** The server's own reason: delivered as often as may be, without a result. */
export const MAX_DELIVERIES_REASON = 'max-deliveries';
/** The same as a line of the archive, with what the server has told. */
export const deadLineSchema = v.object({
  ...deadSchema.entries,
  vantage: nameSchema,
  job: v.pipe(v.number(), v.integer(), v.minValue(1)),
  reason: v.picklist([...DEAD_REASONS, MAX_DELIVERIES_REASON]),
});
export type DeadLine = v.InferOutput<typeof deadLineSchema>;

/** The request of a job; null if its origin cannot be read. */
export function requestOf({ origin, mode }: Job): LineRequest | null {
  const parsed = parseOrigin(origin);
  return parsed.ok ? { origin: parsed.value, mode } : null;
}

/** A line of the list as `race -` reads it, if its mode is one of a survey's. */
export function readSurveyLine(line: string, mode: Job['mode']): ReadLine | null {
  const read = readRaceLine(line, mode, SURVEY_MODES);
  if (read === null || !read.ok || v.is(modeSchema, read.value.mode)) return read;
  const message = `mode ${read.value.mode} resolves names during a trial, when no budget can be checked`;
  return { ok: false, code: 'bad-line', message };
}

/** The streams that jobs are taken from. */
export type JobSource = 'todo' | 'later';

export interface Task {
  readonly message: JsMsg;
  readonly from: JobSource;
  /** Its sequence in the stream of jobs. */
  readonly number: number;
  /** Null: the message is no job. */
  readonly job: Job | null;
}

export function taskOf(message: JsMsg, from: JobSource): Task {
  if (from === 'todo') return { message, from, number: message.seq, job: valueIn(jobSchema, message.data) };
  const postponed = valueIn(postponedSchema, message.data);
  if (postponed === null) return { message, from, number: message.seq, job: null };
  const { job: number, ...job } = postponed;
  return { message, from, number, job };
}

/** The JSON in a value if it fits the schema, otherwise null. */
export function valueIn<T>(schema: v.GenericSchema<unknown, T>, bytes: Uint8Array): T | null {
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), new TextDecoder().decode(bytes), {
    abortEarly: true,
  });
  return read.success ? read.output : null;
}
