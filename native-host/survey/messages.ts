// The messages of a worker: the jobs that it pulls as it has capacity, from the list and postponed ones; and the
// results, postponed and abandoned jobs that it publishes. Publishing is retried until the server has stored it, and
// only then is the job acknowledged.

import { type OriginRace, RACE_SCHEMA } from '@photofinish/shared/race/outcome';
import { PROGRAM } from '../version.ts';
import type { Troubles } from './connect.ts';
import { type Consumer, headers, type JetStreamClient, type JetStreamManager, type JsMsg } from './nats.ts';
import {
  batchesOf,
  type DeadJob,
  type JobSource,
  RESULT_SCHEMA,
  type SurveyResult,
  type Task,
} from './schema.ts';
import { fetched, type SurveyNames } from './streams.ts';
import type { WorkerParts } from './worker.ts';

const FETCH_MS = 1000;
const RETRY_MS = 1000;
/** While more jobs than that are postponed, no further ones are taken from the list. */
const MAX_POSTPONED = 1000;

interface IntakeParts
  extends Pick<WorkerParts, 'names' | 'vantage' | 'drains' | 'control' | 'pace' | 'clock'> {
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  /** How many more jobs may be pulled. */
  readonly room: (from: JobSource) => number;
  readonly take: (message: JsMsg, from: JobSource) => void;
  /** Called when something was pulled, or nothing is left. */
  readonly changed: () => void;
  /** Waits for a change, at most that long. */
  readonly pause: (atMostMs: number) => Promise<void>;
  /** Aborted when the worker ends. */
  readonly ending: AbortSignal;
  readonly troubles: Troubles;
}

export class Intake {
  readonly #parts: IntakeParts;
  #postponedCount = 0;
  #postponedAtMs = Number.NEGATIVE_INFINITY;
  /** The streams that had nothing when last asked. */
  readonly #nothingPulled = new Set<JobSource>();

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /** Whether neither stream had anything when last asked. */
  get isEmpty(): boolean {
    return this.#nothingPulled.size === 2;
  }

  /** Pulls until the worker ends or, if it drains, until nothing is left. */
  async run(): Promise<void> {
    await Promise.all([this.#pull('todo'), this.#pull('later')]);
  }

  async #pull(from: JobSource): Promise<void> {
    const { names, vantage, drains, client, pace, room, pause, take, changed } = this.#parts;
    const { ending, troubles } = this.#parts;
    const what = from === 'todo' ? 'jobs could not be pulled' : 'postponed jobs could not be pulled';
    let consumer: Consumer | null = null;
    while (!ending.aborted) {
      const most = room(from);
      // In batches: each question costs a round trip.
      if (most < (from === 'todo' ? pace.limit() : 1)) {
        await pause(FETCH_MS);
        continue;
      }
      try {
        consumer ??= await client.consumers.get(names.streams[from], vantage);
        if (from === 'todo' && (await this.#postponed()) > MAX_POSTPONED) {
          await pause(FETCH_MS);
          continue;
        }
        let pulled = 0;
        for await (const message of fetched(consumer, { max_messages: most, expires: FETCH_MS }, ending)) {
          pulled += 1;
          take(message, from);
        }
        if (ending.aborted) return;
        troubles.over(what);
        if (pulled > 0) this.#nothingPulled.clear();
        else this.#nothingPulled.add(from);
        changed();
        if (pulled === 0 && drains && (await this.#isDone())) return;
      } catch (error) {
        if (ending.aborted) return;
        troubles.begun(what, error);
        consumer = null;
        await pause(RETRY_MS);
      }
    }
  }

  /** How many jobs were postponed, as of the last second. */
  async #postponed(): Promise<number> {
    const { names, vantage, clock, manager } = this.#parts;
    if (clock.nowMs() - this.#postponedAtMs >= FETCH_MS) {
      this.#postponedAtMs = clock.nowMs();
      const { num_pending } = await manager.consumers.info(names.streams.later, vantage);
      this.#postponedCount = num_pending;
    }
    return this.#postponedCount;
  }

  /** Whether nothing is left for this vantage, for any of its workers. */
  async #isDone(): Promise<boolean> {
    const { names, vantage, control, manager } = this.#parts;
    const jobs = control.state().survey?.list.jobs ?? Number.POSITIVE_INFINITY;
    const [todo, later, stream] = await Promise.all([
      manager.consumers.info(names.streams.todo, vantage),
      manager.consumers.info(names.streams.later, vantage),
      manager.streams.info(names.streams.todo),
    ]);
    return (
      stream.state.messages >= jobs &&
      [todo, later].every(({ num_pending, num_ack_pending }) => num_pending + num_ack_pending === 0)
    );
  }
}

const PUBLISH_TIMEOUT_MS = 10_000;

const keyOf = (from: JobSource, number: number) => `${from} ${number}`;

interface OutboxParts {
  readonly client: JetStreamClient;
  readonly names: SurveyNames;
  readonly vantage: string;
  /** Repeats an action until it succeeds; false if the worker ends before. */
  readonly insist: (what: string, run: () => Promise<unknown>) => Promise<boolean>;
}

/** A race and the job it was for. */
export interface JobResult {
  readonly job: Task;
  readonly result: OriginRace;
}

export class Outbox {
  readonly #parts: OutboxParts;
  /** By stream and job: after an outage of the server a job is delivered again that is still held. */
  readonly #owed = new Map<string, Set<JsMsg>>();

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /**
   * From now on the message is to be acknowledged. False if its job is held already, as delivered before or as postponed:
   * one race answers all its messages. But a job that comes back as postponed is to be raced although its message from
   * the list is still held: the answer to its postponement was late.
   */
  owe({ from, number, message }: Task): boolean {
    // nats-server 2.15 stores when the message was published as the time of its delivery, so that one that restarts would
    // deliver at once what is a minute old. This corrects it.
    message.working();
    const key = keyOf(from, number);
    const before = this.#owed.get(key);
    if (before === undefined) this.#owed.set(key, new Set([message]));
    else before.add(message);
    return before === undefined && (from === 'later' || !this.#owed.has(keyOf('later', number)));
  }

  owes({ from, number, message }: Task): boolean {
    return this.#owed.get(keyOf(from, number))?.has(message) === true;
  }

  /** Tells the server that everything taken is still worked on. */
  stillWorking(): void {
    for (const messages of this.#owed.values()) for (const message of messages) message.working();
  }

  /** Gives everything back, for another worker. */
  letGo(): void {
    for (const messages of this.#owed.values()) for (const message of messages) message.nak();
    this.#owed.clear();
  }

  #acknowledge(number: number, streams: readonly JobSource[] = ['todo', 'later']): void {
    for (const from of streams) {
      const key = keyOf(from, number);
      for (const message of this.#owed.get(key) ?? []) message.ack();
      this.#owed.delete(key);
    }
  }

  #send(what: string, subject: string, id: string, value: object): Promise<boolean> {
    const { client, insist } = this.#parts;
    const options = { msgID: id, timeout: PUBLISH_TIMEOUT_MS };
    return insist(what, () => client.publish(subject, JSON.stringify(value), options));
  }

  async giveUp({ number, job }: Task, reason: DeadJob['reason']): Promise<void> {
    const { names, vantage } = this.#parts;
    const dead: DeadJob = { vantage, job: number, ...(job !== null && { origin: job.origin }), reason };
    const id = `dead.${vantage}.${number}`;
    if (await this.#send('a job could not be given up', names.deadSubject(vantage), id, dead))
      this.#acknowledge(number);
  }

  async postpone({ number, job, from }: Task): Promise<void> {
    const { names, vantage } = this.#parts;
    const id = `later.${vantage}.${number}`;
    const postponed = { ...job, job: number };
    if (await this.#send('a job could not be postponed', names.laterSubject(vantage), id, postponed))
      this.#acknowledge(number, [from]);
  }

  #resultOf({ job, result: race }: JobResult): SurveyResult {
    const { names, vantage } = this.#parts;
    const { mode, memory, startDelayMs } = race;
    return {
      schema: RESULT_SCHEMA,
      ...{ survey: names.survey, vantage, job: job.number, program: PROGRAM },
      document: { schema: RACE_SCHEMA, mode, memory, startDelayMs, races: [race] },
    };
  }

  /** Stores results in batches; `stored` is called with the size of each. */
  async publish(measured: readonly JobResult[], stored: (results: number) => void): Promise<void> {
    const { client, names, vantage, insist } = this.#parts;
    // Of a job that came from the list and as postponed, the first result answers both.
    const owed = measured.filter(({ job }) => this.owes(job));
    const single = [...new Map(owed.map((each) => [each.job.number, each])).values()];
    for (const { id, bytes, results } of batchesOf(single.map((each) => this.#resultOf(each)))) {
      const header = headers();
      header.set('Content-Encoding', 'zstd');
      const options = { msgID: id, headers: header, timeout: PUBLISH_TIMEOUT_MS };
      const subject = names.resultSubject(vantage);
      if (!(await insist('results could not be stored', () => client.publish(subject, bytes, options))))
        return;
      for (const { job } of results) this.#acknowledge(job);
      stored(results.length);
    }
  }
}
