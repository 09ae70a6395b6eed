// The fleet cache: outcomes of races, shared by the machines of one organisation. The bucket is followed into the host
// cache's own table, where forecasts look them up: a navigation asks nobody, and no server learns who goes where.
// Loaded only if the settings name a bucket.
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Origin } from '@photofinish/shared/web/origin';
import type { SharedChange } from '../cache/filing.ts';
import { SHARED_FRESH_MS } from '../cache/policy.ts';
import type { SharedRecord } from '../cache/record.ts';
import type { HostCache } from '../cache/store.ts';
import type { Clock } from '../clock.ts';
import type { FleetSettings } from '../config.ts';
import { type Bucket, type BucketChange, connectBucket } from './bucket.ts';
import { HOUR_MS, readOutcome, writeOutcome } from './document.ts';
import { type FleetKeys, fleetKeys, readFleetSalt } from './keys.ts';
import { outcomeOf } from './race-outcome.ts';

/** How long a server that cannot be used is left alone. */
export const RETRY_MS = 30_000;
/** Changes stored in one transaction, which blocks forecasts for a few milliseconds. */
const BATCH = 200;
/** Origins whose last publication is remembered. */
const MAX_PUBLISHED = 10_000;

export interface Fleet {
  /** Under which key the outcomes of an origin are shared. */
  keyOf(origin: Origin): string;
  /** Publishes the outcome of a race, if it is one to share and the hour's first; returns at once and never throws. */
  share(race: OriginRace): void;
}

export interface FleetParts {
  readonly settings: FleetSettings;
  readonly cache: Pick<HostCache, 'shared' | 'fileShared'>;
  readonly clock: Clock;
  /** Called with a message for the log, in which no host is named. */
  readonly say: (message: string) => void;
  /** Another than the real one in tests. */
  readonly connect?: () => Promise<Bucket>;
}

/** What this process published last under a key. */
interface Publication {
  readonly atMs: number;
  readonly value: string;
}

class Replica implements Fleet {
  readonly #parts: FleetParts;
  readonly #keys: FleetKeys;
  readonly #published = new Map<string, Publication>();
  #bucket: Bucket | null = null;
  #said = '';

  constructor(parts: FleetParts, keys: FleetKeys) {
    this.#parts = parts;
    this.#keys = keys;
  }

  keyOf(origin: Origin): string {
    return this.#keys.keyOf(origin);
  }

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
    this.#bucket.put(outcome.key, value).catch((error) => {
      // The next race may publish.
      this.#published.delete(outcome.key);
      this.#sayOnce(error);
    });
  }

  /** Follows the bucket for as long as the process lives. */
  async run(): Promise<never> {
    const { settings, say, connect = () => connectBucket(settings, SHARED_FRESH_MS, say) } = this.#parts;
    for (;;) {
      try {
        this.#bucket = await connect();
        const changes = await this.#bucket.follow(this.#keys.filter);
        this.#said = '';
        say('outcomes are shared');
        await this.#store(changes);
        this.#sayOnce(new Error('the bucket cannot be followed any more'));
      } catch (error) {
        this.#sayOnce(error);
      }
      const lost = this.#bucket;
      this.#bucket = null;
      await lost?.close().catch(() => {});
      await new Promise<void>((resolve) => this.#parts.clock.after(RETRY_MS, resolve));
    }
  }

  /** Once an hour for each origin, and not what another machine said within the same hour. */
  #isDue(outcome: SharedRecord, known: SharedRecord | null, nowMs: number): boolean {
    const lastMs = this.#published.get(outcome.key)?.atMs;
    if (lastMs !== undefined && nowMs >= lastMs && nowMs - lastMs < HOUR_MS) return false;
    return known === null || known.atMs !== outcome.atMs || known.h3Failure !== outcome.h3Failure;
  }

  /** Whether a change is what this process published itself. */
  #isEcho(key: string, value: Uint8Array | null): boolean {
    const own = this.#published.get(key)?.value;
    return own !== undefined && value !== null && own === new TextDecoder().decode(value);
  }

  async #store(changes: AsyncIterable<BucketChange>): Promise<void> {
    const { cache, clock } = this.#parts;
    let batch: SharedChange[] = [];
    let refused = 0;
    for await (const { key, value, waiting } of changes) {
      const outcome = value === null ? null : readOutcome(key, value, clock.epochMs(), this.#keys.sign);
      if (!this.#keys.isOwn(key) || (value !== null && outcome === null)) refused += 1;
      // Its own outcome is no other machine's, and takes the place of what another had said before.
      else batch.push({ key, outcome: this.#isEcho(key, value) ? null : outcome });
      if (waiting > 0 && batch.length + refused < BATCH) continue;
      cache.fileShared(batch, refused);
      batch = [];
      refused = 0;
    }
  }

  /** A server that stays away is no news. */
  #sayOnce(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (message !== this.#said) this.#parts.say(`outcomes are not shared now: ${message}`);
    this.#said = message;
  }
}

/** Begins to follow the bucket. Throws with the reason when the organisation's secret cannot be used. */
export function openFleet(parts: FleetParts): Fleet {
  const { network, saltFile } = parts.settings;
  const replica = new Replica(parts, fleetKeys(readFleetSalt(saltFile), network));
  void replica.run();
  return replica;
}
