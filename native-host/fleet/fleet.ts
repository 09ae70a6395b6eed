// The fleet cache: outcomes of races, shared by the machines of one organisation. The bucket is followed into the host
// cache's own table, where forecasts look them up: a navigation asks nobody, and no server learns who goes where.
// Loaded only if the settings name a bucket.

import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Origin } from '@photofinish/shared/web/origin';
import { messageOf } from '@photofinish/shared/web/untrusted';
import { SHARED_FRESH_MS } from '../cache/policy.ts';
import type { SharedRecord, SharedRefusal } from '../cache/record.ts';
import type { SharedChange } from '../cache/recording.ts';
import type { HostCache } from '../cache/store.ts';
import { type Clock, nextPoll, within } from '../clock.ts';
import type { FleetSettings } from '../config.ts';
import { connectTo } from '../survey/connect.ts';
import { JetStreamApiCodes, JetStreamApiError, type KV, Kvm, type NatsConnection } from '../survey/nats.ts';
import {
  type FleetKeys,
  fleetKeys,
  HOUR_MS,
  outcomeOf,
  readFleetSalt,
  readOutcome,
  writeOutcome,
} from './entry.ts';

/** What changed under a key; `value` null: it was deleted. */
export interface BucketChange {
  readonly key: string;
  readonly value: Uint8Array | null;
  /** Number of further changes that the server has announced and not delivered yet. */
  readonly waiting: number;
}

/** Called with a message for people, in which no host is named; `isTrouble`: nothing is shared until the next one. */
type OnMessage = (message: string, isTrouble: boolean) => void;

/** A whole organisation's machines would otherwise dial a lost server every second. */
const RECONNECT_MS = 30_000;

/** What to correct, as `fleet` of the settings names it. */
const IN_SETTINGS = { credentials: '"creds" or "nkey" of "fleet"', ca: '"tlsCa" of "fleet"' };

/** The state of a bucket, by which one that was recreated or restored is recognised. */
interface BucketState {
  readonly created: string;
  readonly lastSequence: number;
  /** How many values there are, under any filter. */
  readonly values: number;
}

function isAnother(now: BucketState, known: BucketState): boolean {
  return now.created !== known.created || now.lastSequence < known.lastSequence;
}

/** A JetStream key-value bucket as the fleet cache needs it: changes to follow, values to put. */
export interface Bucket {
  /** All present values under the filter, then every change, until the bucket or the connection is gone. */
  follow(filter: string): Promise<AsyncIterable<BucketChange>>;
  put(key: string, value: string): Promise<void>;
  /** Null: it is gone. Rejects if the server does not say. */
  state(): Promise<BucketState | null>;
  close(): Promise<void>;
}

/** Opens the bucket. A machine that publishes creates a missing one, which keeps a value for as long as it is used. */
async function open(connection: NatsConnection, { bucket, publish }: FleetSettings): Promise<KV> {
  const manager = new Kvm(connection);
  return publish ? manager.create(bucket, { history: 1, ttl: SHARED_FRESH_MS }) : manager.open(bucket);
}

/** Logs when the connection is lost, and when the client has re-established it. */
export async function logStatus(
  connection: Pick<NatsConnection, 'status'>,
  log: OnMessage,
  reconnected: () => void,
): Promise<void> {
  for await (const { type } of connection.status())
    if (type === 'disconnect') log('the connection is lost', true);
    else if (type === 'reconnect') {
      log('the connection is restored', false);
      reconnected();
    }
}

function isMissing(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound;
}

async function stateOf(bucket: KV): Promise<BucketState | null> {
  try {
    const { streamInfo, values } = await bucket.status();
    return { created: streamInfo.created, lastSequence: streamInfo.state.last_seq, values };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/**
 * Connects to the server and opens the bucket; rejects with the reason. A lost connection is reported to `log`;
 * `reconnected` is called once it is re-established.
 */
async function connectBucket(
  settings: FleetSettings,
  log: OnMessage,
  reconnected: () => void,
): Promise<Bucket> {
  const { server, credsFile, nkeyFile, caFile } = settings;
  const options = { servers: [server], credsFile, nkeyFile, caFile };
  const connection = await connectTo({ ...options, reconnectMs: RECONNECT_MS, words: IN_SETTINGS });
  void logStatus(connection, log, reconnected);
  try {
    const bucket = await open(connection, settings);
    return {
      async follow(filter) {
        const entries = await bucket.watch({ key: filter }).catch((error) => {
          if (!isMissing(error)) throw error;
          throw new Error(`there is no bucket "${settings.bucket}"; a machine that publishes creates it`);
        });
        void connection.closed().then(() => entries.stop());
        return (async function* () {
          for await (const { key, operation, value, delta = 0 } of entries)
            yield { key, value: operation === 'PUT' ? value : null, waiting: delta };
        })();
      },
      put: async (key, value) => void (await bucket.put(key, value)),
      state: () => stateOf(bucket),
      close: () => connection.close(),
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Delay before a server that could not be used is tried again. */
export const RETRY_MS = 30_000;
/** How often to check that the followed bucket still exists: after it was recreated nothing would arrive. */
export const BUCKET_CHECK_MS = 300_000;
/** Maximum wait of a race for the bucket to be copied. */
export const MAX_READY_MS = 10_000;
/** A server delivers existing values at once: if none has arrived by then, the bucket is empty. */
export const EMPTY_BUCKET_MS = 500;
/** Maximum wait of a process that ends for its last publications. */
const MAX_CLOSING_MS = 2000;
/** Changes stored in one transaction, which blocks forecasts for a few milliseconds. */
const BATCH = 200;
/** Origins whose last publication is remembered. */
const MAX_PUBLISHED = 10_000;

interface FleetParts {
  readonly settings: FleetSettings;
  readonly cache: Pick<HostCache, 'shared' | 'recordShared'>;
  readonly clock: Clock;
  readonly log: OnMessage;
  /** Replaces the real connection in tests. */
  readonly connect?: (reconnected: () => void) => Promise<Bucket>;
}

/** What this process published last under a key. */
interface Publication {
  readonly atMs: number;
  readonly value: string;
}

/** This machine's copy of what the organisation shares, and its own publications. */
export class Fleet {
  readonly #parts: FleetParts;
  readonly #keys: FleetKeys;
  readonly #published = new Map<string, Publication>();
  readonly #publishing = new Set<Promise<void>>();
  readonly #copied = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<void>();
  #reconnected = Promise.withResolvers<void>();
  #isClosed = false;
  #bucket: Bucket | null = null;
  #logged = '';

  constructor(parts: FleetParts, keys: FleetKeys) {
    this.#parts = parts;
    this.#keys = keys;
  }

  /** The key under which the outcomes of an origin are shared. */
  keyOf(origin: Origin): string {
    return this.#keys.keyOf(origin);
  }

  /** Publishes the outcome of a race if it is worth sharing and new in its hour; returns at once and never throws. */
  share(race: OriginRace): void {
    const { settings, cache, clock } = this.#parts;
    if (!settings.publish || this.#bucket === null) return;
    const nowMs = clock.epochMs();
    const outcome = outcomeOf(this.keyOf(race.origin), race, nowMs);
    if (outcome === null || !this.#isDue(outcome, cache.shared(race.origin), nowMs)) return;
    const value = writeOutcome(outcome, this.#keys.sign);
    this.#published.delete(outcome.key);
    this.#published.set(outcome.key, { atMs: nowMs, value });
    const [oldest] = this.#published.keys();
    if (this.#published.size > MAX_PUBLISHED && oldest !== undefined) this.#published.delete(oldest);
    const publishing = this.#bucket
      .put(outcome.key, value)
      .catch((error) => {
        // The next race may publish.
        this.#published.delete(outcome.key);
        this.#reportOnce(error);
      })
      .finally(() => this.#publishing.delete(publishing));
    this.#publishing.add(publishing);
  }

  /** Resolves once the bucket is copied, cannot be, or a time limit has passed. */
  ready(): Promise<void> {
    return within(this.#parts.clock, MAX_READY_MS, this.#copied.promise);
  }

  /** Waits briefly for pending publications, then stops following. Never rejects. */
  async close(): Promise<void> {
    await within(this.#parts.clock, MAX_CLOSING_MS, Promise.all(this.#publishing));
    const { size } = this.#publishing;
    if (size > 0) this.#parts.log(`outcomes not published, as the server does not answer: ${size}`, true);
    this.#isClosed = true;
    this.#closed.resolve();
    await this.#bucket?.close().catch(() => {});
  }

  /** Follows the bucket until it is closed. */
  async run(): Promise<void> {
    const { settings, log } = this.#parts;
    const { connect = (reconnected) => connectBucket(settings, log, reconnected) } = this.#parts;
    while (!this.#isClosed) {
      try {
        this.#bucket = await connect(() => this.#reconnected.resolve());
        if (!this.#isClosed) await this.#followSame(this.#bucket);
      } catch (error) {
        this.#reportOnce(error);
      }
      this.#copied.resolve();
      const lost = this.#bucket;
      this.#bucket = null;
      await lost?.close().catch(() => {});
      await within(this.#parts.clock, RETRY_MS, this.#closed.promise);
    }
  }

  #followSame(bucket: Bucket): Promise<never> {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    void this.#leaveAnother(bucket, ended);
    return this.#follow(bucket).finally(end);
  }

  async #follow(bucket: Bucket): Promise<never> {
    const changes = await bucket.follow(this.#keys.filter);
    this.#logged = '';
    this.#parts.log('outcomes are shared', false);
    let isEmpty = true;
    const forget = this.#parts.clock.after(EMPTY_BUCKET_MS, () => {
      // First reads what arrived while this process was not scheduled.
      void nextPoll().then(() => isEmpty && this.#copied.resolve());
    });
    const arrived = (): void => {
      isEmpty = false;
      forget();
    };
    await this.#store(changes, arrived).finally(forget);
    throw new Error('the bucket cannot be followed any more');
  }

  /** Closes the bucket once it has been deleted or replaced, while it is followed. */
  async #leaveAnother(bucket: Bucket, ended: Promise<void>): Promise<void> {
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    let known: BucketState | null = null;
    while (!isOver) {
      this.#reconnected = Promise.withResolvers();
      // An unreachable server, or one that denies the request, proves nothing.
      const now: BucketState | null = await bucket.state().catch(() => known);
      if (known !== null && (now === null || isAnother(now, known))) return bucket.close().catch(() => {});
      known = now;
      await within(this.#parts.clock, BUCKET_CHECK_MS, Promise.race([ended, this.#reconnected.promise]));
    }
  }

  /** At most once an hour for each origin, and not what another machine published in that hour. */
  #isDue(outcome: SharedRecord, known: SharedRecord | null, nowMs: number): boolean {
    const lastMs = this.#published.get(outcome.key)?.atMs;
    if (lastMs !== undefined && nowMs >= lastMs && nowMs - lastMs < HOUR_MS) return false;
    return known === null || known.atMs !== outcome.atMs || known.h3Failure !== outcome.h3Failure;
  }

  /** Whether a change is what this process published itself. */
  #isEcho(key: string, value: Uint8Array | null): boolean {
    return value !== null && this.#published.get(key)?.value === new TextDecoder().decode(value);
  }

  /** Null: it was withdrawn. */
  #outcomeIn(key: string, value: Uint8Array | null): SharedRecord | SharedRefusal | null {
    if (!this.#keys.isOwn(key)) return 'malformed';
    return value && readOutcome(key, value, this.#parts.clock.epochMs(), this.#keys.sign);
  }

  async #store(changes: AsyncIterable<BucketChange>, arrived: () => void): Promise<void> {
    const { cache } = this.#parts;
    let batch: SharedChange[] = [];
    let refused: Partial<Record<SharedRefusal, number>> = {};
    let read = 0;
    for await (const { key, value, waiting } of changes) {
      arrived();
      const outcome = this.#outcomeIn(key, value);
      read += 1;
      if (typeof outcome === 'string') refused[outcome] = (refused[outcome] ?? 0) + 1;
      // This machine's own outcome is not somebody else's, and replaces what another had published.
      else batch.push({ key, outcome: this.#isEcho(key, value) ? null : outcome });
      if (waiting > 0 && read < BATCH) continue;
      cache.recordShared(batch, refused);
      batch = [];
      refused = {};
      read = 0;
      if (waiting === 0) this.#copied.resolve();
    }
  }

  /** A server that stays unreachable is reported once. */
  #reportOnce(error: unknown): void {
    if (this.#isClosed) return;
    const message = messageOf(error);
    if (message !== this.#logged) this.#parts.log(`outcomes are not shared now: ${message}`, true);
    this.#logged = message;
  }
}

/** The number of values in the bucket, over all labels. Rejects with the reason if it cannot be used. */
export async function heldInBucket(settings: FleetSettings): Promise<number> {
  readFleetSalt(settings.saltFile);
  // Looking must not create it.
  const nothing = (): void => {};
  const bucket = await connectBucket({ ...settings, publish: false }, nothing, nothing);
  try {
    const state = await bucket.state();
    if (state === null) throw new Error('it does not exist');
    return state.values;
  } finally {
    await bucket.close();
  }
}

/** Begins to follow the bucket. Throws with the reason when the organisation's secret cannot be used. */
export function openFleet(parts: FleetParts): Fleet {
  const { network, saltFile } = parts.settings;
  const fleet = new Fleet(parts, fleetKeys(readFleetSalt(saltFile), network));
  void fleet.run();
  return fleet;
}
