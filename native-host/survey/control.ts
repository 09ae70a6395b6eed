// What everybody in a survey must know within seconds: opt-out, budgets, pause, and the workers announced. A watched
// key-value bucket; every worker follows it.

import * as v from 'valibot';
import { JetStreamApiCodes, JetStreamApiError, type KV, Kvm, type NatsConnection } from './nats.ts';
import { nameSchema, type Survey, surveySchema } from './result.ts';

/** Written this often by every worker. */
export const HEARTBEAT_MS = 2000;
/** A worker whose last heartbeat is older does not run any more, unless its machine sleeps. */
export const GONE_AFTER_MS = 7000;

/** Within this time a server that answers has sent what a bucket contains. */
const PRESENT_WITHIN_MS = 10_000;

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** Workers announce themselves, and withdraw when they end in an orderly way. One that died stays: it slows the survey. */
const announcementSchema = v.object({
  vantage: nameSchema,
  worker: nameSchema,
  /** Distinguishes two processes of the same name. */
  session: v.string(),
  seenAtMs: count,
  measured: count,
  /** Since when its canaries have failed; null: they succeed. */
  sickSinceMs: v.nullable(count),
});
export type Announcement = v.InferOutput<typeof announcementSchema>;

export const budgetSchema = v.pick(surveySchema, ['perNetworkPerSecond', 'totalPerSecond']);
export type Budget = v.InferOutput<typeof budgetSchema>;

const optOutSchema = v.array(v.pipe(v.string(), v.maxLength(253)));

const KEYS = { survey: 'survey', budget: 'budget', optOut: 'opt-out', pause: 'pause' } as const;
const WORKER_KEY = /^worker\./;

export interface ControlState {
  readonly survey: Survey | null;
  readonly budget: Budget | null;
  readonly optOut: readonly string[];
  readonly paused: boolean;
  readonly workers: ReadonlyMap<string, Announcement>;
}

/** Before anything is read. */
export const NOTHING: ControlState = {
  survey: null,
  budget: null,
  optOut: [],
  paused: false,
  workers: new Map(),
};

/**
 * The state after one change, null for a removed value. One that does not fit, or is no JSON, changes nothing, as if it
 * had not been written: a damaged opt-out list must not end the one in force.
 */
export function changed(state: ControlState, key: string, bytes: Uint8Array | null): ControlState {
  const read = <T>(schema: v.GenericSchema<unknown, T>, absent: T, before: T): T => {
    if (bytes === null) return absent;
    const parsed = v.safeParse(schema, jsonOf(bytes));
    return parsed.success ? parsed.output : before;
  };
  if (key === KEYS.survey) return { ...state, survey: read(surveySchema, null, state.survey) };
  if (key === KEYS.budget) return { ...state, budget: read(budgetSchema, null, state.budget) };
  if (key === KEYS.optOut) return { ...state, optOut: read(optOutSchema, [], state.optOut) };
  if (key === KEYS.pause) return { ...state, paused: read(v.boolean(), false, state.paused) };
  if (!WORKER_KEY.test(key)) return state;
  const workers = new Map(state.workers);
  const worker = read(announcementSchema, null, workers.get(key) ?? null);
  if (worker === null) workers.delete(key);
  else workers.set(key, worker);
  return { ...state, workers };
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** Whether somebody else wrote first. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence;
}

export class Control {
  readonly #bucket: KV;
  #state = NOTHING;

  private constructor(bucket: KV) {
    this.#bucket = bucket;
  }

  /** Opens the bucket, creating it if `replicas` is given. Rejects with the server's error. */
  static async open(connection: NatsConnection, bucket: string, replicas?: number): Promise<Control> {
    const manager = new Kvm(connection);
    return new Control(
      replicas === undefined
        ? await manager.open(bucket)
        : await manager.create(bucket, { replicas, history: 1 }),
    );
  }

  state(): ControlState {
    return this.#state;
  }

  /**
   * Reads everything, then follows changes until the connection ends; resolves when all present values are known. A
   * server that dies meanwhile may leave a watch without its first values, which is then begun again.
   */
  async follow(onChange: () => void = () => {}): Promise<void> {
    for (;;) {
      const entries = await this.#bucket.watch();
      const { values } = await this.#bucket.status();
      const { promise: present, resolve } = Promise.withResolvers<boolean>();
      if (values === 0) resolve(true);
      const timer = setTimeout(() => resolve(false), PRESENT_WITHIN_MS);
      void this.#read(entries, onChange, () => resolve(true)).catch(() => resolve(false));
      const isPresent = await present;
      clearTimeout(timer);
      if (isPresent) return;
      entries.stop();
    }
  }

  async #read(
    entries: Awaited<ReturnType<KV['watch']>>,
    onChange: () => void,
    present: () => void,
  ): Promise<void> {
    for await (const { key, operation, value, delta, isUpdate } of entries) {
      this.#state = changed(this.#state, key, operation === 'PUT' ? value : null);
      onChange();
      if (isUpdate || delta === 0) present();
    }
  }

  async writeSurvey(survey: Survey): Promise<void> {
    await this.#bucket.put(KEYS.survey, JSON.stringify(survey));
  }

  async setBudget(budget: Budget): Promise<void> {
    await this.#bucket.put(KEYS.budget, JSON.stringify(budget));
  }

  async setPaused(paused: boolean): Promise<void> {
    await this.#bucket.put(KEYS.pause, JSON.stringify(paused));
  }

  /**
   * Adds entries to the opt-out list and returns all of them. Another operator's addition at the same time is kept.
   * Rejects with the server's error, for example if the list is longer than a message may be.
   */
  async addOptOut(more: readonly string[]): Promise<readonly string[]> {
    for (;;) {
      const entry = await this.#bucket.get(KEYS.optOut);
      const before = entry === null || entry.operation !== 'PUT' ? [] : v.parse(optOutSchema, entry.json());
      const entries = [...new Set([...before, ...more])];
      const value = JSON.stringify(entries);
      try {
        if (entry === null) await this.#bucket.create(KEYS.optOut, value);
        else await this.#bucket.update(KEYS.optOut, value, entry.revision);
        return entries;
      } catch (error) {
        if (!isOvertaken(error)) throw error;
      }
    }
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
  return budget ?? survey;
}
