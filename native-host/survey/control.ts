// What every worker of a survey must know within seconds, in a watched key-value bucket: opt-out, budgets, pause, and
// the announced workers.
import { count } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { Complaint, EXIT_FAILED } from '../cli/usage.ts';
import { reasonOf } from './connect.ts';
import { type JetStreamManager, jetstreamManager, type KV, Kvm, type NatsConnection } from './nats.ts';
import {
  addToOptOut,
  brokenList,
  isOptOutKey,
  type ListStore,
  NO_LIST,
  type OptOutList,
  optOutChanged,
} from './opt-out.ts';
import { nameSchema, type Survey, surveySchema, valueIn } from './schema.ts';
import { isOvertaken } from './streams.ts';
import type { WorkerParts } from './worker.ts';

/** Written this often by every worker. */
const HEARTBEAT_MS = 2000;
/** A worker whose last heartbeat is older has stopped, unless its machine is asleep. */
export const WORKER_TIMEOUT_MS = 7000;

/** Within this time a server that answers has sent the next of what a bucket contains. */
const PRESENT_WITHIN_MS = 10_000;

/** Workers announce themselves, and withdraw when they end normally. One that crashed remains: it slows the survey. */
const announcementSchema = v.object({
  vantage: nameSchema,
  worker: nameSchema,
  /** Distinguishes two processes of the same name. */
  session: v.string(),
  seenAtMs: count,
  measured: count,
  /** Since when its canaries have failed; null: they succeed. */
  sickSinceMs: v.nullable(count),
  /** Whether that is because all of them have opted out; absent in announcements of older workers. */
  canariesOptedOut: v.optional(v.boolean()),
});
export type Announcement = v.InferOutput<typeof announcementSchema>;

export interface AnnouncedWorker extends Announcement {
  /** When its last announcement was stored, by the server's clock. */
  readonly storedAtMs: number;
}

export const budgetSchema = v.pick(surveySchema, ['perNetworkPerSecond', 'totalPerSecond']);
export type Budget = v.InferOutput<typeof budgetSchema>;
/** What is absent stays as it is. */
export type BudgetChange = Partial<Budget>;

const KEYS = { survey: 'survey', budget: 'budget', pause: 'pause' } as const;
const WORKER_KEY = /^worker\./;

export interface ControlState {
  readonly survey: Survey | null;
  readonly budget: Budget | null;
  readonly optOut: OptOutList;
  readonly paused: boolean;
  readonly workers: ReadonlyMap<string, AnnouncedWorker>;
}

/** Before anything is read. */
export const NOTHING: ControlState = {
  survey: null,
  budget: null,
  optOut: NO_LIST,
  paused: false,
  workers: new Map(),
};

/**
 * The state after one change, null for a removed value, stored at that time by the server's clock. An invalid value is
 * ignored: a damaged opt-out list must not replace the one in force.
 */
export function changed(
  state: ControlState,
  key: string,
  bytes: Uint8Array | null,
  storedAtMs: number,
): ControlState {
  const read = <T>(schema: v.GenericSchema<unknown, T>, absent: T, before: T): T => {
    if (bytes === null) return absent;
    return valueIn(schema, bytes) ?? before;
  };
  if (key === KEYS.survey) return { ...state, survey: read(surveySchema, null, state.survey) };
  if (key === KEYS.budget) return { ...state, budget: read(budgetSchema, null, state.budget) };
  if (isOptOutKey(key)) return { ...state, optOut: optOutChanged(state.optOut, key, bytes) };
  if (key === KEYS.pause) return { ...state, paused: read(v.boolean(), false, state.paused) };
  if (!WORKER_KEY.test(key)) return state;
  const workers = new Map(state.workers);
  const before = workers.get(key) ?? null;
  const worker = read<Announcement | null>(announcementSchema, null, before);
  if (worker === null) workers.delete(key);
  else if (worker !== before) workers.set(key, { ...worker, storedAtMs });
  return { ...state, workers };
}

export class Control {
  readonly #bucket: KV;
  readonly #optOut: ListStore;
  #state = NOTHING;
  readonly #listeners: (() => void)[] = [];
  #isFollowing = false;

  private constructor(bucket: KV, manager: JetStreamManager, name: string) {
    this.#bucket = bucket;
    const remove = (filter: string) =>
      manager.streams.purge(`KV_${name}`, { filter: `$KV.${name}.${filter}` });
    this.#optOut = { bucket, remove };
  }

  /** Opens the bucket, creating it if `replicas` is given. Rejects with the server's error. */
  static async open(connection: NatsConnection, bucket: string, replicas?: number): Promise<Control> {
    const buckets = new Kvm(connection);
    return new Control(
      replicas === undefined
        ? await buckets.open(bucket)
        : await buckets.create(bucket, { replicas, history: 1 }),
      await jetstreamManager(connection, { checkAPI: false }),
      bucket,
    );
  }

  state(): ControlState {
    return this.#state;
  }

  /**
   * Reads everything, then follows changes until the connection ends; resolves when all present values are known. If
   * the server dies meanwhile, the watch may lack its first values and is restarted. Once followed, further calls only
   * add a listener. Rejects with a Complaint if the opt-out list lacks a part.
   */
  async follow(onChange: () => void = () => {}): Promise<void> {
    this.#listeners.push(onChange);
    while (!this.#isFollowing) {
      const entries = await this.#bucket.watch();
      const { values } = await this.#bucket.status();
      const { promise: present, resolve } = Promise.withResolvers<boolean>();
      if (values === 0) resolve(true);
      const timer = setTimeout(() => resolve(false), PRESENT_WITHIN_MS);
      let isCurrent = false;
      const received = (isLast: boolean): void => {
        isCurrent ||= isLast;
        if (isCurrent && this.#state.optOut.isWhole) resolve(true);
        if (!this.#isFollowing) timer.refresh();
      };
      void this.#read(entries, received).catch(() => resolve(false));
      this.#isFollowing = await present;
      clearTimeout(timer);
      if (this.#isFollowing) return;
      entries.stop();
      if (isCurrent) throw brokenList();
    }
  }

  async #read(entries: Awaited<ReturnType<KV['watch']>>, received: (isLast: boolean) => void): Promise<void> {
    for await (const { key, operation, value, created, delta, isUpdate } of entries) {
      const bytes = operation === 'PUT' ? value : null;
      this.#state = changed(this.#state, key, bytes, created.getTime());
      for (const listener of this.#listeners) listener();
      received(isUpdate || delta === 0);
    }
  }

  async writeSurvey(survey: Survey): Promise<void> {
    await this.#bucket.put(KEYS.survey, JSON.stringify(survey));
  }

  /**
   * Changes the budget in force, merged with a concurrent change of another operator. Requires that the bucket is
   * followed. Rejects with the server's error.
   */
  async changeBudget(change: BudgetChange): Promise<void> {
    for (;;) {
      const entry = await this.#bucket.get(KEYS.budget);
      const set = entry?.operation === 'PUT' ? valueIn(budgetSchema, entry.value) : null;
      const value = JSON.stringify({ ...(set ?? budgetOf(this.#state)), ...change });
      try {
        if (entry === null) await this.#bucket.create(KEYS.budget, value);
        // Also a key that was removed has a revision.
        else await this.#bucket.update(KEYS.budget, value, entry.revision);
        return;
      } catch (error) {
        if (!isOvertaken(error)) throw error;
      }
    }
  }

  async setPaused(paused: boolean): Promise<void> {
    await this.#bucket.put(KEYS.pause, JSON.stringify(paused));
  }

  /**
   * Adds entries to the opt-out list and returns all of them. A concurrent addition by another operator is kept.
   * Rejects with the server's error, and with a Complaint for a list that is too long.
   */
  async addOptOut(more: readonly string[]): Promise<readonly string[]> {
    return addToOptOut(this.#optOut, more);
  }

  async announce(worker: Announcement): Promise<void> {
    await this.#bucket.put(workerKey(worker), JSON.stringify(worker));
  }

  async withdraw(worker: Pick<Announcement, 'vantage' | 'worker'>): Promise<void> {
    await this.#bucket.purge(workerKey(worker));
  }
}

export function workerKey({ vantage, worker }: Pick<Announcement, 'vantage' | 'worker'>): string {
  return `worker.${vantage}.${worker}`;
}

/** The budget in force: what was set last, otherwise what the survey began with. */
export function budgetOf({ budget, survey }: ControlState): Budget | null {
  if (budget !== null || survey === null) return budget;
  const { perNetworkPerSecond, totalPerSecond } = survey;
  return { perNetworkPerSecond, totalPerSecond };
}

type WorkerState = Pick<Announcement, 'measured' | 'sickSinceMs' | 'canariesOptedOut'>;

interface PresenceCalls {
  /** What changes from one announcement to the next. */
  readonly state: () => WorkerState;
  /** Called with each announcement after the first. */
  readonly stored: () => void;
  readonly failed: (error: unknown) => void;
}

type PresenceParts = Pick<WorkerParts, 'control' | 'vantage' | 'worker' | 'clock' | 'log'>;

/**
 * A worker's name in its survey: taken when no other process has it, announced while it works, withdrawn when it ends
 * normally. Budgets are divided by the number of names.
 */
export class Presence {
  readonly #parts: PresenceParts;
  readonly #calls: PresenceCalls;
  readonly #session = crypto.randomUUID();
  #beat: NodeJS.Timeout | null = null;

  constructor(parts: PresenceParts, calls: PresenceCalls) {
    this.#parts = parts;
    this.#calls = calls;
  }

  #seen(): AnnouncedWorker | undefined {
    return this.#parts.control.state().workers.get(workerKey(this.#parts));
  }

  #announce(): Promise<void> {
    const { control, vantage, worker, clock } = this.#parts;
    const seenAtMs = clock.epochMs();
    return control.announce({ vantage, worker, session: this.#session, seenAtMs, ...this.#calls.state() });
  }

  /**
   * Waits until no other process of this name gives a sign of life, then takes the name. `pause` waits for a change of
   * the control bucket, at most that long. Throws a Complaint if the other one lives.
   */
  async take(pause: (atMostMs: number) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, vantage, worker } = this.#parts;
    // An announcement of ours may have arrived although its acknowledgement did not.
    const seen = this.#seen();
    const before = seen?.session === this.#session ? undefined : seen;
    const untilMs = clock.nowMs() + WORKER_TIMEOUT_MS;
    while (before !== undefined && clock.nowMs() < untilMs && !signal.aborted) {
      const now = this.#seen();
      if (now === undefined) break;
      if (now.session !== before.session || now.seenAtMs !== before.seenAtMs)
        throw new Complaint(
          'bad-survey',
          `a worker ${worker} at ${vantage} is running; name this one with --worker`,
        );
      await pause(untilMs - clock.nowMs());
    }
    await this.#announce();
    const { stored, failed } = this.#calls;
    let storedAtMs = 0;
    this.#beat = setInterval(() => {
      const begunAtMs = clock.nowMs();
      const onStored = (): void => {
        storedAtMs = clock.nowMs();
        stored();
      };
      // A server that is away is reconnected to; the next announcement tells the same. A late failure adds nothing.
      const onFailed = (error: unknown): void => {
        if (begunAtMs >= storedAtMs) failed(error);
      };
      void this.#announce().then(onStored, onFailed);
    }, HEARTBEAT_MS);
  }

  /** Whether another process has taken the name since: this one was silent for too long. */
  isTaken(): boolean {
    const seen = this.#seen();
    return this.#beat !== null && seen !== undefined && seen.session !== this.#session;
  }

  takenOver(): Complaint {
    const { vantage, worker } = this.#parts;
    return new Complaint('bad-survey', `another worker ${worker} at ${vantage} took over`, EXIT_FAILED);
  }

  /** Stops announcing; withdraws if the worker ends normally. */
  async end(orderly: boolean): Promise<void> {
    if (this.#beat === null) return;
    clearInterval(this.#beat);
    const { control, vantage, worker, log } = this.#parts;
    if (!orderly) return;
    await control.withdraw({ vantage, worker }).catch((error: unknown) => {
      const until = 'until it runs again or "survey withdraw" removes it';
      log(`the worker could not be withdrawn: ${reasonOf(error)}; it keeps its share of the budget ${until}`);
    });
  }
}
