// A job of a survey as it travels: what a line of the list becomes, what a postponed or abandoned one carries, and the
// message that a worker owes an answer. Validated where it leaves the server.
import { MODES } from '@photofinish/shared/race/terms';
import { parseOrigin } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import { type LineRequest, type ReadLine, readRaceLine } from '../cli/input-lines.ts';
import type { JsMsg } from './nats.ts';
import { nameSchema } from './result.ts';
import { valueIn } from './streams.ts';

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
export const DELIVERED_TOO_OFTEN = 'max-deliveries';
/** The same as a line of the archive, with what the server has told. */
export const deadLineSchema = v.object({
  ...deadSchema.entries,
  vantage: nameSchema,
  job: v.pipe(v.number(), v.integer(), v.minValue(1)),
  reason: v.picklist([...DEAD_REASONS, DELIVERED_TOO_OFTEN]),
});
export type DeadLine = v.InferOutput<typeof deadLineSchema>;

/** The request of a job; null if its origin cannot be read. */
export function requestOf({ origin, mode }: Job): LineRequest | null {
  const parsed = parseOrigin(origin);
  return parsed.ok ? { origin: parsed.value, mode } : null;
}

/** A line of the list as `race -` reads it, if its mode is one of a survey's. */
export function readSurveyLine(line: string, mode: Job['mode']): ReadLine | null {
  const read = readRaceLine(line, mode);
  if (read === null || !read.ok || v.is(modeSchema, read.value.mode)) return read;
  const message = `mode ${read.value.mode} looks names up during a trial, when no budget can be asked for`;
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
