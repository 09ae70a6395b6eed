// Where a worker's jobs come from: the list, and those that were postponed, pulled as there is room for them.

import type { Consumer, JetStreamClient, JetStreamManager, JsMsg } from './nats.ts';
import type { JobSource } from './schema.ts';
import type { WorkerParts } from './worker.ts';

const FETCH_MS = 1000;
const RETRY_MS = 1000;
/** While more jobs than that are postponed, no further ones are taken from the list. */
const MOST_POSTPONED = 1000;

export interface IntakeParts
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
