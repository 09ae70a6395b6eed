// The messages of a worker. Those it takes: the list's jobs, and those that were postponed, pulled as there is room for
// them. And what it sends, and still owes an answer: results, postponed and abandoned jobs. Everything is repeated
// until the server has it, and only then is its job acknowledged.

import { type OriginRace, RACE_SCHEMA } from '@photofinish/shared/race/outcome';
import { PROGRAM } from '../version.ts';
import { type Consumer, headers, type JetStreamClient, type JetStreamManager, type JsMsg } from './nats.ts';
import {
  batchesOf,
  type DeadJob,
  type JobSource,
  RESULT_SCHEMA,
  type SurveyResult,
  type Task,
} from './schema.ts';
import type { SurveyNames } from './streams.ts';
import type { WorkerParts } from './worker.ts';

const FETCH_MS = 1000;
const RETRY_MS = 1000;
/** While more jobs than that are postponed, no further ones are taken from the list. */
const MOST_POSTPONED = 1000;

interface IntakeParts
  extends Pick<WorkerParts, 'names' | 'vantage' | 'drains' | 'control' | 'pace' | 'clock' | 'log'> {
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  /** How many more jobs may be pulled. */
  readonly room: (from: JobSource) => number;
  readonly take: (message: JsMsg, from: JobSource) => void;
  /** Called when something was pulled, or nothing is left. */
  readonly changed: () => void;
  /** Waits for a change, at most that long. */
  readonly pause: (atMostMs: number) => Promise<void>;
  readonly isOver: () => boolean;
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
    const { names, vantage, drains, client, pace, room, pause, take, changed, isOver, log } = this.#parts;
    let consumer: Consumer | null = null;
    while (!isOver()) {
      const most = room(from);
      // In batches: each question costs a round trip.
      if (most < (from === 'todo' ? pace.limit() : 1)) {
        await pause(FETCH_MS);
        continue;
      }
      try {
        consumer ??= await client.consumers.get(names.streams[from], vantage);
        if (from === 'todo' && (await this.#postponed()) > MOST_POSTPONED) {
          await pause(FETCH_MS);
          continue;
        }
        let pulled = 0;
        for await (const message of await consumer.fetch({ max_messages: most, expires: FETCH_MS })) {
          pulled += 1;
          take(message, from);
        }
        if (pulled > 0) this.#nothingPulled.clear();
        else this.#nothingPulled.add(from);
        changed();
        if (pulled === 0 && drains && (await this.#isDone())) return;
      } catch (error) {
        log(`jobs could not be pulled: ${(error as Error).message}; trying again until it works`);
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
  readonly #owed = new Set<JsMsg>();

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** From now on the message is to be acknowledged. */
  owe(message: JsMsg): void {
    // nats-server 2.15 stores when the message was published as the time of its delivery, so that one that restarts would
    // deliver at once what is a minute old. This corrects it.
    message.working();
    this.#owed.add(message);
  }

  owes(message: JsMsg): boolean {
    return this.#owed.has(message);
  }

  /** Tells the server that everything taken is still worked on. */
  stillWorking(): void {
    for (const message of this.#owed) message.working();
  }

  /** Gives everything back, for another worker. */
  letGo(): void {
    for (const message of this.#owed) message.nak();
    this.#owed.clear();
  }

  #acknowledge(message: JsMsg): void {
    if (this.#owed.delete(message)) message.ack();
  }

  async #send(task: Task, what: string, subject: string, id: string, value: object): Promise<void> {
    const { client, insist } = this.#parts;
    const options = { msgID: id, timeout: PUBLISH_TIMEOUT_MS };
    if (await insist(what, () => client.publish(subject, JSON.stringify(value), options)))
      this.#acknowledge(task.message);
  }

  giveUp(task: Task, reason: DeadJob['reason']): Promise<void> {
    const { names, vantage } = this.#parts;
    const { number, job } = task;
    const dead: DeadJob = { vantage, job: number, ...(job !== null && { origin: job.origin }), reason };
    const id = `dead.${vantage}.${number}`;
    return this.#send(task, 'a job could not be given up', names.deadSubject(vantage), id, dead);
  }

  postpone(task: Task): Promise<void> {
    const { names, vantage } = this.#parts;
    const postponed = { ...task.job, job: task.number };
    const id = `later.${vantage}.${task.number}`;
    return this.#send(task, 'a job could not be postponed', names.laterSubject(vantage), id, postponed);
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
    // A job may be held twice: as postponed, and delivered once more from the list. One result answers both.
    const tasks = Map.groupBy(
      measured.map(({ job }) => job),
      ({ number }) => number,
    );
    for (const { id, bytes, results } of batchesOf(measured.map((each) => this.#resultOf(each)))) {
      const header = headers();
      header.set('Content-Encoding', 'zstd');
      const options = { msgID: id, headers: header, timeout: PUBLISH_TIMEOUT_MS };
      const subject = names.resultSubject(vantage);
      if (!(await insist('results could not be stored', () => client.publish(subject, bytes, options))))
        return;
      for (const { job } of results)
        for (const { message } of tasks.get(job) ?? []) this.#acknowledge(message);
      stored(results.length);
    }
  }
}
