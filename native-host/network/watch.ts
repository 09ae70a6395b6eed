// The network for the rest of the helper: a key for reading, the same key once it is certain for writing, and
// notification when the machine has moved to another network, for which nothing may be stored that was learnt on this
// one.
import { UNIDENTIFIED } from '@photofinish/shared/web/network-name';
import type { Clock } from '../clock.ts';
import { type NetworkFacts, networkKey } from './key.ts';
import { linuxMachine, linuxSource } from './linux.ts';
import { macosSource, macosSystem } from './macos.ts';
import { windowsSource, windowsSystem } from './windows.ts';

/** A snapshot costs a few small reads; within this time the last one is reused. */
const LOOK_AGAIN_MS = 250;
/** Commands usually answer in a fraction of this; a machine too busy for that is not waited for. */
const SETTLE_TIMEOUT_MS = 3000;
/** What was reported from before the first snapshot is taken to be of its network; older reports may be of any. */
const BEFORE_START_MS = 600_000;
/** Number of previous networks remembered for late reports; a batch of observations is at most minutes old. */
const MAX_STAYS = 32;

export interface Network {
  /** The key for reading, immediately; null: the network is not identified yet. */
  key(): string | null;
  /**
   * The key for writing, once everything that identifies the network is known; `unidentified` when that cannot be
   * determined. Waits at most this long, by default three seconds.
   */
  settled(withinMs?: number): Promise<string>;
  /** The settled key, immediately; null if it is not settled. */
  settledKey(): string | null;
  /** The key for writing what happened at that time (milliseconds since the epoch), as far back as is remembered. */
  keyAt(epochMs: number): string;
  /**
   * Whether the machine is certainly still on that network, after a new snapshot: data collected since then belongs to
   * it.
   */
  isStill(key: string): boolean;
  /**
   * Polls every 250 ms until stopped, and calls `left` once when the machine is no longer on that network. Becoming
   * identified does not count as leaving.
   */
  watch(key: string, left: () => void): () => void;
  /** What identifies the current network; null if unknown or without a route. */
  facts(): NetworkFacts | null;
}

export interface NetworkSource {
  /** Reads what is available without waiting, cheaply enough for every forecast. Never throws. */
  snapshot(): NetworkSnapshot;
  /** Queries the rest, for at most two seconds; null: no route. Rejects when nothing can be determined. */
  examine(): Promise<NetworkFacts | null>;
}

export interface NetworkSnapshot {
  /** While it is unchanged, the machine may be assumed to be on the same network. */
  readonly mark: string;
  /** By which packets leave; while unchanged, the network may be the same although `mark` differs. */
  readonly route: string;
  /** What identifies the network; null: no route; `ask`: more than a snapshot is needed. */
  readonly facts: NetworkFacts | null | 'ask';
  /** How long an unchanged mark is reliable; null: every change shows in the mark. */
  readonly goodForMs: number | null;
}

interface NetworkOptions {
  readonly source: NetworkSource | null;
  readonly salt: Uint8Array;
  readonly clock: Clock;
  /** Called with the old and new key of every change. */
  readonly onChange?: (from: string, to: string) => void;
}

/** Identifies networks and watches for changes. Sets no timer of its own unless somebody watches or waits. */
export function watchNetwork({ source, ...options }: NetworkOptions): Network {
  if (source === null) return { ...namedNetwork(UNIDENTIFIED), isStill: () => false };
  return new NetworkWatch({ source, ...options });
}

/** The source of a platform; null where networks cannot be distinguished. */
export function systemSource(platform: NodeJS.Platform, clock: Pick<Clock, 'after'>): NetworkSource | null {
  if (platform === 'linux') return linuxSource(linuxMachine(clock));
  if (platform === 'darwin') return macosSource(macosSystem(clock));
  if (platform === 'win32') return windowsSource(windowsSystem());
  return null;
}

/** A network named by the user: the name stands for any network, and never changes. */
export function namedNetwork(name: string): Network {
  return {
    key: () => name,
    settled: async () => name,
    settledKey: () => name,
    keyAt: () => name,
    isStill: (key) => key === name,
    watch: () => () => {},
    facts: () => null,
  };
}

interface State {
  readonly snapshot: NetworkSnapshot;
  readonly key: string | null;
  readonly facts: NetworkFacts | null;
  /** Whether the key is certain, and since when. */
  readonly settled: boolean;
  readonly atMs: number;
}

interface Watcher {
  readonly key: string;
  /** The mark of the snapshot when it began to watch. */
  readonly mark: string | null;
  readonly left: () => void;
}

/** For comparing facts; the result is not stored. */
const NO_SALT = new Uint8Array(16);

/** Whether the same gateway was known by its link-layer address before, and now does not answer. */
function isLessKnown(now: NetworkFacts, before: NetworkFacts | null): boolean {
  if (before === null || before.linkLayer === null || now.linkLayer !== null) return false;
  return networkKey({ ...before, linkLayer: null }, NO_SALT) === networkKey(now, NO_SALT);
}

/** The current network: the last snapshot, and the callers waiting for its identification. */
class NetworkWatch implements Network {
  readonly #source: NetworkSource;
  readonly #salt: Uint8Array;
  readonly #clock: Clock;
  readonly #onChange: NetworkOptions['onChange'];
  readonly #watchers = new Set<Watcher>();
  readonly #waiting = new Set<() => void>();
  #state: State | null = null;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #examining: NetworkSnapshot | null = null;
  #forgetPoll: (() => void) | null = null;
  /** The last key, for reporting changes. */
  #lastKey: string | null = null;
  readonly #stays: { readonly key: string; readonly fromMs: number }[] = [];

  constructor({ source, salt, clock, onChange }: NetworkOptions & { readonly source: NetworkSource }) {
    this.#source = source;
    this.#salt = salt;
    this.#clock = clock;
    this.#onChange = onChange;
  }

  key(): string | null {
    this.#lookIfDue();
    return this.#state?.key ?? null;
  }

  settledKey(): string | null {
    this.#lookIfDue();
    return this.#certainKey();
  }

  settled(withinMs = SETTLE_TIMEOUT_MS): Promise<string> {
    this.#lookIfDue();
    const key = this.#certainKey();
    if (key !== null) return Promise.resolve(key);
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        forget();
        resolve(this.#certainKey() ?? UNIDENTIFIED);
      };
      const forget = this.#clock.after(withinMs, done);
      this.#waiting.add(done);
    });
  }

  keyAt(epochMs: number): string {
    const [first] = this.#stays;
    const stay = this.#stays.findLast(({ fromMs }) => fromMs <= epochMs);
    if (stay !== undefined) return stay.key;
    return first !== undefined && first.fromMs - epochMs <= BEFORE_START_MS ? first.key : UNIDENTIFIED;
  }

  isStill(key: string): boolean {
    this.#look();
    return key !== UNIDENTIFIED && this.#certainKey() === key;
  }

  watch(key: string, left: () => void): () => void {
    const watcher = { key, mark: this.#state?.snapshot.mark ?? null, left };
    this.#watchers.add(watcher);
    this.#poll();
    return () => {
      this.#watchers.delete(watcher);
      this.#stopPolling();
    };
  }

  facts(): NetworkFacts | null {
    return this.#state?.facts ?? null;
  }

  #certainKey(): string | null {
    return this.#state?.settled === true ? this.#state.key : null;
  }

  #remember(key: string): void {
    const last = this.#stays.at(-1);
    if (last?.key === key) return;
    // Starts when the last network was left, not when this one was recognised.
    const fromMs = last?.key === UNIDENTIFIED ? last.fromMs : this.#clock.epochMs();
    if (last?.key === UNIDENTIFIED) this.#stays.pop();
    if (this.#stays.at(-1)?.key !== key) this.#stays.push({ key, fromMs });
    if (this.#stays.length > MAX_STAYS) this.#stays.shift();
  }

  #enter(next: State): void {
    this.#state = next;
    this.#remember(next.settled && next.key !== null ? next.key : UNIDENTIFIED);
    if (next.key !== null && next.key !== this.#lastKey) {
      const from = this.#lastKey;
      this.#lastKey = next.key;
      if (from !== null) this.#onChange?.(from, next.key);
    }
    for (const watcher of [...this.#watchers]) {
      if (watcher.key === next.key) continue;
      if (watcher.key === UNIDENTIFIED && watcher.mark === next.snapshot.mark) continue;
      this.#watchers.delete(watcher);
      watcher.left();
    }
    if (!next.settled) return;
    for (const done of [...this.#waiting]) done();
  }

  async #examine(snapshot: NetworkSnapshot): Promise<void> {
    this.#examining = snapshot;
    const facts = await this.#source.examine().catch(() => undefined);
    // Another route was seen in the meantime, and is being examined itself.
    if (this.#examining !== snapshot) return;
    this.#examining = null;
    const found = { snapshot, atMs: this.#clock.nowMs(), settled: true };
    const before = this.#state !== null && this.#state.snapshot.route === snapshot.route ? this.#state : null;
    if (facts === undefined || (facts !== null && isLessKnown(facts, before?.facts ?? null))) {
      // Silence does not indicate another network.
      this.#enter({ ...found, key: before?.key ?? UNIDENTIFIED, facts: before?.facts ?? null });
      return;
    }
    // The result may be from before or after a change in between; only the same mark on both sides proves it current.
    const after = this.#source.snapshot();
    const sure = after.mark === snapshot.mark;
    if (after.route === snapshot.route)
      this.#enter({ ...found, settled: sure, key: networkKey(facts, this.#salt), facts });
    if (!sure) this.#see(after);
  }

  #see(snapshot: NetworkSnapshot): void {
    const nowMs = this.#clock.nowMs();
    const { facts, mark, route } = snapshot;
    if (facts !== 'ask') {
      this.#examining = null;
      this.#enter({ snapshot, key: networkKey(facts, this.#salt), facts, settled: true, atMs: nowMs });
      return;
    }
    if (this.#examining?.mark === mark) return;
    const known = this.#state?.settled === true && this.#state.snapshot.mark === mark ? this.#state : null;
    const goodForMs = snapshot.goodForMs ?? Number.POSITIVE_INFINITY;
    if (known !== null && nowMs - known.atMs < goodForMs) return;
    // An expired key is valid until disproved, a route's old key until its gateway is known; on another there is none.
    const held = this.#state !== null && this.#state.snapshot.route === route ? this.#state : null;
    if (known === null)
      this.#enter({
        snapshot,
        key: held?.key ?? null,
        facts: held?.facts ?? null,
        settled: false,
        atMs: nowMs,
      });
    void this.#examine(snapshot);
  }

  #look(): void {
    this.#lookedMs = this.#clock.nowMs();
    this.#see(this.#source.snapshot());
  }

  #lookIfDue(): void {
    if (this.#clock.nowMs() - this.#lookedMs >= LOOK_AGAIN_MS) this.#look();
  }

  #poll(): void {
    this.#forgetPoll ??= this.#clock.after(LOOK_AGAIN_MS, () => {
      this.#forgetPoll = null;
      this.#look();
      if (this.#watchers.size > 0) this.#poll();
    });
  }

  #stopPolling(): void {
    if (this.#watchers.size > 0) return;
    this.#forgetPoll?.();
    this.#forgetPoll = null;
  }
}

interface Recorder<Race> {
  recordRace(race: Race): void;
}

/** The same cache, except that a race is not recorded if the machine has left its network in the meantime. */
export function recordOnlyOn<Race extends { readonly network: string }, Cache extends Recorder<Race>>(
  network: Pick<Network, 'isStill'>,
  cache: Cache & Recorder<Race>,
): Cache {
  return {
    ...cache,
    recordRace(race: Race) {
      if (network.isStill(race.network)) cache.recordRace(race);
    },
  };
}
