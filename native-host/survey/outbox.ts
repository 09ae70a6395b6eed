// What a worker sends to the server, and the messages it still owes an answer: results, postponed and abandoned jobs.
// Everything is repeated until the server has it, and only then is its job acknowledged.
import { type OriginRace, RACE_SCHEMA } from '@photofinish/shared/race/outcome';
import { PROGRAM } from '../version.ts';
import { headers, type JetStreamClient, type JsMsg } from './nats.ts';
import { batchesOf, type DeadJob, RESULT_SCHEMA, type SurveyResult, type Task } from './schema.ts';
import type { SurveyNames } from './streams.ts';

const PUBLISH_TIMEOUT_MS = 10_000;

export interface OutboxParts {
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
