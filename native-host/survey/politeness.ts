// How many races a survey's worker may begin: a budget for each network, divided by the workers that are announced, one
// race at a time for an address, and a back-off where nothing answers. A worker that is gone keeps its share, so that it
// makes the survey slower and never ruder. Pure: time is passed in.
import { addressBytes, prefixBytes, withoutZone } from '../address/address-bytes.ts';
import { carriedIpv4 } from '../address/guard.ts';

/** What all workers of a survey may do together; the same at every worker. */
export interface PolitenessLimits {
  /** Races a second for each /24 of IPv4 and each /48 of IPv6; above 0. */
  readonly perNetworkPerSecond: number;
  /** Races a second in total; 0: without limit. */
  readonly totalPerSecond: number;
  /** The workers announced, at least 1: each takes an equal share. */
  readonly workers: number;
  /** Nothing may begin. */
  readonly paused: boolean;
}

type RefusalReason =
  | 'paused'
  /** An address has a race under way. */
  | 'address-busy'
  /** A network repeatedly did not answer. */
  | 'backing-off'
  | 'network-budget'
  | 'total-budget'
  /** The maximum number of networks is remembered. */
  | 'many-networks';

export interface Permit {
  readonly ok: true;
  /** To be called when the race is over; further calls do nothing. `refused`: nothing at all was reached; null: it was
   * ended before that was known. */
  end(refused: boolean | null, nowMs: number): void;
}
export interface Refusal {
  readonly ok: false;
  readonly reason: RefusalReason;
  /** The earliest time to ask again; null: when a race has ended, or the limits have changed. */
  readonly againMs: number | null;
}
export type Answer = Permit | Refusal;

export const REFUSALS_BEFORE_BACK_OFF = 10;
export const FIRST_BACK_OFF_MS = 60_000;
export const LONGEST_BACK_OFF_MS = 3_600_000;
/** Refusals in a row are forgotten after this time without a race. */
const REFUSALS_KEPT_MS = 600_000;
const SWEEP_EVERY_MS = 10_000;
/** About 40 MB. */
const MAX_NETWORKS = 262_144;

/** Sums of fractions of tokens may be short of a whole one by rounding. */
const ROUNDING = 1e-6;

interface NetworkState {
  /** Reading of the budget's clock when the last token was taken. */
  takenAt: number;
  underWay: number;
  refusals: number;
  /** Of the last back-off; 0: none since a race succeeded. */
  backOffMs: number;
  backOffBeganMs: number;
  lastEndMs: number;
}

/**
 * Time in which tokens arrive: it advances by one per token, whatever the rate was meanwhile. A bucket of capacity 1
 * has its token when the clock has advanced by one since the last was taken, so one clock serves all buckets of a rate,
 * and a change of the rate applies to all of them at once.
 */
class TokenClock {
  #tokens = 0;
  #atMs: number;
  #perSecond = 0;

  constructor(nowMs: number) {
    this.#atMs = nowMs;
  }

  /** The reading now. */
  read(nowMs: number): number {
    const elapsedMs = Math.max(0, nowMs - this.#atMs);
    this.#tokens += (elapsedMs / 1000) * this.#perSecond;
    this.#atMs += elapsedMs;
    return this.#tokens;
  }

  setRate(perSecond: number, nowMs: number): void {
    this.read(nowMs);
    this.#perSecond = perSecond;
  }

  /** When the bucket last used at that reading has its token again, rounded up to a millisecond; in the past: it has. */
  fullMs(takenAt: number, nowMs: number): number {
    const missing = takenAt + 1 - ROUNDING - this.read(nowMs);
    return missing <= 0 ? nowMs : Math.ceil(nowMs + (missing / this.#perSecond) * 1000);
  }
}

/** An IPv4 address behind a NAT64 or as 6to4 is that IPv4 address: its prefix would be everybody's. */
function bytesOf(address: string): readonly number[] {
  const bytes = addressBytes(address);
  const ipv4 = bytes.length === 16 ? carriedIpv4(withoutZone(address), null) : null;
  return ipv4 === null ? bytes : addressBytes(ipv4);
}

/** Counts a refusal, or forgets all of them after a success. */
function raceEnded(state: NetworkState, refused: boolean | null, beganMs: number, nowMs: number): void {
  state.underWay -= 1;
  state.lastEndMs = nowMs;
  if (refused === null) return;
  if (!refused) {
    state.refusals = 0;
    state.backOffMs = 0;
    return;
  }
  // Races that were under way when the network was given up say nothing about how it is afterwards.
  if (state.backOffMs > 0 && beganMs < state.backOffBeganMs) return;
  state.refusals += 1;
  if (state.refusals < REFUSALS_BEFORE_BACK_OFF) return;
  state.backOffMs = Math.min(LONGEST_BACK_OFF_MS, Math.max(FIRST_BACK_OFF_MS, 2 * state.backOffMs));
  state.backOffBeganMs = nowMs;
}

function check({ perNetworkPerSecond, totalPerSecond, workers }: PolitenessLimits): void {
  const sound = perNetworkPerSecond > 0 && totalPerSecond >= 0 && workers >= 1;
  if (!sound || !Number.isFinite(perNetworkPerSecond + totalPerSecond + workers))
    throw new RangeError('limits of a survey are rates above 0 and at least one worker');
}

/**
 * The gate of one worker. A network has a bucket of one token, which fills at its share of the rate and is empty when
 * the worker starts, so that a worker that is started again never begins more than one that ran on. In any window of T
 * seconds all W workers together begin at most W + rate x T races to a network.
 */
export class Politeness {
  #limits: PolitenessLimits;
  readonly #networkClock: TokenClock;
  readonly #totalClock: TokenClock;
  #totalTakenAt = 0;
  readonly #busy = new Set<string>();
  readonly #networks = new Map<string, NetworkState>();
  #sweptMs: number;

  /** `nowMs`: when the worker started. Throws a RangeError for impossible limits, like `setLimits`. */
  constructor(limits: PolitenessLimits, nowMs: number) {
    this.#limits = limits;
    this.#sweptMs = nowMs;
    this.#networkClock = new TokenClock(nowMs);
    this.#totalClock = new TokenClock(nowMs);
    this.setLimits(limits, nowMs);
  }

  /** In force at once; tokens that arrived at the old rate stay, at most one a bucket. */
  setLimits(limits: PolitenessLimits, nowMs: number): void {
    check(limits);
    this.#limits = limits;
    this.#networkClock.setRate(limits.perNetworkPerSecond / limits.workers, nowMs);
    this.#totalClock.setRate(limits.totalPerSecond / limits.workers, nowMs);
  }

  /** How many networks are remembered. */
  get networks(): number {
    return this.#networks.size;
  }

  /**
   * Whether a race to a host with these addresses may begin now; if so, it has begun. Without addresses only the total
   * rate applies. Throws a TypeError for what is not an address.
   */
  ask(addresses: readonly string[], nowMs: number): Answer {
    const all = addresses.map(bytesOf);
    const keys = [...new Set(all.map((bytes) => bytes.join('.')))];
    // Of different lengths, so the families do not mix.
    const networks = [...new Set(all.map((bytes) => prefixBytes(bytes).join('.')))];
    this.#sweep(nowMs);
    const refusal = this.#refusal(keys, networks, nowMs);
    return refusal ?? this.#permit(keys, networks, nowMs);
  }

  /** The obstacle that lasts longest; null: none. */
  #refusal(keys: readonly string[], networks: readonly string[], nowMs: number): Refusal | null {
    if (this.#limits.paused) return { ok: false, reason: 'paused', againMs: null };
    if (keys.some((key) => this.#busy.has(key))) return { ok: false, reason: 'address-busy', againMs: null };
    let reason: RefusalReason = 'total-budget';
    let againMs =
      this.#limits.totalPerSecond === 0 ? nowMs : this.#totalClock.fullMs(this.#totalTakenAt, nowMs);
    const wait = (untilMs: number, why: RefusalReason): void => {
      if (untilMs <= againMs) return;
      againMs = untilMs;
      reason = why;
    };
    for (const network of networks) {
      const state = this.#networks.get(network);
      wait(this.#networkClock.fullMs(state?.takenAt ?? 0, nowMs), 'network-budget');
      if (state !== undefined) wait(state.backOffBeganMs + state.backOffMs, 'backing-off');
    }
    const unknown = networks.filter((network) => !this.#networks.has(network)).length;
    if (this.#networks.size + unknown > MAX_NETWORKS) wait(this.#sweptMs + SWEEP_EVERY_MS, 'many-networks');
    return againMs > nowMs ? { ok: false, reason, againMs } : null;
  }

  #permit(keys: readonly string[], networks: readonly string[], nowMs: number): Permit {
    this.#totalTakenAt = this.#totalClock.read(nowMs);
    for (const key of keys) this.#busy.add(key);
    const takenAt = this.#networkClock.read(nowMs);
    const states = networks.map((network) => {
      const state = this.#networks.get(network) ?? {
        takenAt,
        underWay: 0,
        refusals: 0,
        backOffMs: 0,
        backOffBeganMs: 0,
        lastEndMs: nowMs,
      };
      state.takenAt = takenAt;
      state.underWay += 1;
      this.#networks.set(network, state);
      return state;
    });
    let ended = false;
    return {
      ok: true,
      end: (refused, endMs) => {
        if (ended) return;
        ended = true;
        for (const key of keys) this.#busy.delete(key);
        for (const state of states) raceEnded(state, refused, nowMs, endMs);
      },
    };
  }

  /** Forgets the networks that would be treated the same if they were new. */
  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptMs < SWEEP_EVERY_MS) return;
    this.#sweptMs = nowMs;
    const reading = this.#networkClock.read(nowMs);
    for (const [network, state] of this.#networks) {
      const keptMs = state.backOffMs === 0 ? REFUSALS_KEPT_MS : 2 * state.backOffMs;
      const remembered = state.refusals > 0 && nowMs - state.lastEndMs < keptMs;
      if (state.underWay === 0 && reading - state.takenAt >= 1 && !remembered) this.#networks.delete(network);
    }
  }
}
