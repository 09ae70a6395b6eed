// The streams of one survey on a JetStream server, and what their settings promise: names, subjects, retention.
//
//   S-todo     every job once; kept, because every vantage point reads the whole list
//   S-result   what workers measured, in batches; kept until the archive has it
//   S-later    jobs whose network had no budget; each leaves with its result
//   S-dead     jobs that were given up, with the reason
//   KV_S       the survey itself, opt-out, budget, pause, and the workers announced
import * as v from 'valibot';
import {
  AckPolicy,
  type Consumer,
  DiscardPolicy,
  errors,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  type JsMsg,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from './nats.ts';
import { nameSchema } from './schema.ts';

/** Buckets of the hash of a registrable domain, as the last token of a job's subject. */
export const TODO_BUCKETS = 64;
/** A job that is neither acknowledged nor reported as in progress for this long goes to another worker. */
export const ACK_WAIT_MS = 60_000;
/**
 * Deliveries after which a job is given up: by then it was with as many workers that died. Where workers are killed every
 * half minute, chance alone would bring one job in ten thousand to five.
 */
const MAX_DELIVERIES = 10;
/** Jobs of one vantage that may be unacknowledged: those being raced, and results that await the next canary. */
export const MAX_UNACKNOWLEDGED = 2000;
/** Within this time a message published again is recognised by its id. */
const DUPLICATE_WINDOW_MS = 600_000;

export type SurveyNames = ReturnType<typeof namesOf>;

export function namesOf(survey: string) {
  const stream = (kind: string): string => `${survey}-${kind}`;
  const subject = (kind: string) => (last: string | number) => `survey.${survey}.${kind}.${last}`;
  return {
    survey,
    bucket: survey,
    streams: {
      todo: stream('todo'),
      result: stream('result'),
      later: stream('later'),
      dead: stream('dead'),
    },
    /** By bucket. */
    todoSubject: subject('todo'),
    /** By vantage, as the others. */
    resultSubject: subject('result'),
    laterSubject: subject('later'),
    deadSubject: subject('dead'),
  } as const;
}

type NewStream = Partial<StreamConfig> & { readonly name: string };

function configsOf(names: SurveyNames, replicas: number): readonly NewStream[] {
  const { todo, result, later, dead } = names.streams;
  const stream = (name: string, retention: RetentionPolicy, ...subjects: string[]): NewStream => ({
    name,
    subjects,
    retention,
    storage: StorageType.File,
    num_replicas: replicas,
    discard: DiscardPolicy.New,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
  });
  // The server reports the jobs that it no longer delivers, because a killed worker cannot.
  const advisories = [todo, later].map((name) => `$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.${name}.*`);
  return [
    stream(todo, RetentionPolicy.Limits, names.todoSubject('*')),
    // The collector removes what it has on disk.
    stream(result, RetentionPolicy.Limits, names.resultSubject('*')),
    stream(later, RetentionPolicy.Workqueue, names.laterSubject('*')),
    stream(dead, RetentionPolicy.Limits, names.deadSubject('*'), ...advisories),
  ];
}

/** Creates the streams; those that exist are left as they are. */
export async function createStreams(
  manager: JetStreamManager,
  names: SurveyNames,
  replicas: number,
): Promise<void> {
  for (const config of configsOf(names, replicas)) await manager.streams.add(config);
}

/** The consumer of one vantage, of jobs or of postponed jobs; all its workers share it. */
export async function vantageConsumer(
  manager: JetStreamManager,
  { streams, laterSubject }: SurveyNames,
  from: 'todo' | 'later',
  vantage: string,
): Promise<void> {
  await manager.consumers.add(streams[from], {
    durable_name: vantage,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ACK_WAIT_MS),
    max_deliver: MAX_DELIVERIES,
    max_ack_pending: MAX_UNACKNOWLEDGED,
    ...(from === 'later' && { filter_subject: laterSubject(vantage) }),
  });
}

/** Whether a survey of that name exists. */
export async function exists(manager: JetStreamManager, { streams }: SurveyNames): Promise<boolean> {
  for await (const name of manager.streams.names()) if (name === streams.todo) return true;
  return false;
}

/** The names of the vantage points that have read from the list. */
export async function vantagesOf(manager: JetStreamManager, { streams }: SurveyNames): Promise<string[]> {
  const names: string[] = [];
  // Other readers of the stream have consumers too, and a name becomes part of a file's.
  for await (const { name, config } of manager.consumers.list(streams.todo))
    if (config.durable_name === name && v.is(nameSchema, name)) names.push(name);
  return names.toSorted();
}

/**
 * Why a survey's server does not answer. It never acknowledges a message that it cannot write, for example because its
 * disk is full, but says so when asked to remove something: so it is asked to remove nothing. Otherwise the error
 * itself.
 */
export async function causeOf(
  error: unknown,
  manager: JetStreamManager,
  { bucket, streams }: SurveyNames,
): Promise<unknown> {
  if (!(error instanceof errors.TimeoutError)) return error;
  // No stream has messages of that subject.
  const nothing = { filter: 'none' };
  const causes = await Promise.all(
    [...Object.values(streams), `KV_${bucket}`].map((stream) =>
      manager.streams.purge(stream, nothing).then(
        () => null,
        (reason: unknown) => reason,
      ),
    ),
  );
  return causes.find((reason) => reason instanceof JetStreamApiError) ?? error;
}

/** Whether somebody else wrote first. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence;
}

/**
 * What a consumer has, up to a number of messages within a time; ends at once when the signal is aborted. By itself the
 * client waits for a server that is away, and beyond the time.
 */
export async function* fetched(
  consumer: Consumer,
  options: { readonly max_messages: number; readonly expires: number },
  signal: AbortSignal,
): AsyncGenerator<JsMsg> {
  if (signal.aborted) return;
  const messages = await consumer.fetch(options);
  const stop = (): void => messages.stop();
  signal.addEventListener('abort', stop, { once: true });
  // Aborted while it was asked for.
  if (signal.aborted) stop();
  try {
    yield* messages;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
