// A job that a worker has taken: the message it must acknowledge, and what to race.
import * as v from 'valibot';
import { type Job, jobSchema, postponedSchema } from './job.ts';
import type { JsMsg } from './nats.ts';

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

/** A message's JSON; undefined if it is none, or if there is no message. */
export function jsonOf(message: Pick<JsMsg, 'json'> | null): unknown {
  try {
    return message?.json();
  } catch {
    return undefined;
  }
}

export function taskOf(message: JsMsg, from: JobSource): Task {
  const value = jsonOf(message);
  if (from === 'todo') {
    const read = v.safeParse(jobSchema, value);
    return { message, from, number: message.seq, job: read.success ? read.output : null };
  }
  const read = v.safeParse(postponedSchema, value);
  if (!read.success) return { message, from, number: message.seq, job: null };
  const { job: number, ...job } = read.output;
  return { message, from, number, job };
}
