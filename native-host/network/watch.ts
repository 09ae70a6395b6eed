// The network as the rest of the helper knows it: a key to read under, the same key once it is certain to write under,
// and word when the machine has moved to another network.
import type { Clock } from '../clock.ts';
import { type NetworkFacts, networkKey, UNIDENTIFIED } from './key.ts';
import type { Glance, NetworkSource } from './source.ts';

/** Why a race is ended that began on another network. */
export const NETWORK_CHANGED = 'the network changed';

/** A look costs a few small reads; within this time the last one counts. */
const LOOK_AGAIN_MS = 250;
/** Commands answer in a fraction of it; a machine too busy for that is not waited for. */
const SETTLE_TIMEOUT_MS = 3000;
/** Networks in a row that are remembered for what is told of late; a batch of observations is minutes old at most. */
const MAX_STAYS = 32;

export interface Network {
  /** The key to look things up under, at once; null: it has yet to be found out where the machine is. */
  key(): string | null;
  /**
   * The key to write under, once all that identifies the network is known; `unidentified` when that cannot be found
   * out. Waits that long at most, three seconds unless said.
   */
  settled(withinMs?: number): Promise<string>;
  /** The settled key at once; null while it is not. */
  settledKey(): string | null;
  /** The key to write under what happened at that time (milliseconds since the epoch), as far back as was looked. */
  keyAt(epochMs: number): string;
  /** Whether the machine is surely still on that network, looked at anew: what was learnt since belongs to it. */
  isStill(key: string): boolean;
  /** Looks every 250 ms until told to stop, and calls `left` once when the machine is on that network no more. */
  watch(key: string, left: () => void): () => void;
  /** What identifies the network now; null while that is unknown or no route leads out. */
  facts(): NetworkFacts | null;
}

export interface NetworkOptions {
  readonly source: NetworkSource | null;
  readonly salt: Uint8Array;
  readonly clock: Clock;
  /** Told the keys on both sides of every change. */
  readonly onChange?: (from: string, to: string) => void;
}

/** A network whose name the user gave: it stands for whatever it is, and never changes. */
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
  readonly glance: Glance;
  readonly key: string | null;
  readonly facts: NetworkFacts | null;
  /** Whether the key is certain, and since when. */
  readonly settled: boolean;
  readonly atMs: number;
}

/** For comparing facts; nothing of it is kept. */
const NO_SALT = new Uint8Array(16);

/** Whether the same gateway was known by its link-layer address before, and now does not answer. */
function isLessKnown(now: NetworkFacts, before: NetworkFacts | null): boolean {
  if (before === null || before.linkLayer === null || now.linkLayer !== null) return false;
  return networkKey({ ...before, linkLayer: null }, NO_SALT) === networkKey(now, NO_SALT);
}

/** Recognises networks and watches for changes. It sets no timer of its own unless someone watches or waits. */
export function watchNetwork({ source, salt, clock, onChange }: NetworkOptions): Network {
  if (source === null) return { ...namedNetwork(UNIDENTIFIED), isStill: () => false };
  const watchers = new Set<{ readonly key: string; readonly left: () => void }>();
  const waiting = new Set<() => void>();
  let state: State | null = null;
  let lookedMs = Number.NEGATIVE_INFINITY;
  let examining: Glance | null = null;
  let forgetPoll: (() => void) | null = null;
  /** The last key there was, for telling of changes. */
  let lastKey: string | null = null;
  const stays: { readonly key: string; readonly fromMs: number }[] = [];

  function remember(key: string): void {
    const last = stays.at(-1);
    if (last?.key === key) return;
    // From when the last network was left, not from when the next was recognised.
    const fromMs = last?.key === UNIDENTIFIED ? last.fromMs : clock.epochMs();
    if (last?.key === UNIDENTIFIED) stays.pop();
    if (stays.at(-1)?.key !== key) stays.push({ key, fromMs });
    if (stays.length > MAX_STAYS) stays.shift();
  }

  function enter(next: State): void {
    state = next;
    remember(next.settled && next.key !== null ? next.key : UNIDENTIFIED);
    if (next.key !== null && next.key !== lastKey) {
      const from = lastKey;
      lastKey = next.key;
      if (from !== null) onChange?.(from, next.key);
    }
    for (const watcher of [...watchers]) {
      if (watcher.key === next.key) continue;
      watchers.delete(watcher);
      watcher.left();
    }
    if (!next.settled) return;
    for (const done of [...waiting]) done();
  }

  async function examine(glance: Glance): Promise<void> {
    examining = glance;
    const facts = await source?.examine().catch(() => undefined);
    // Another place was seen meanwhile, and is being examined itself.
    if (examining !== glance) return;
    examining = null;
    const found = { glance, atMs: clock.nowMs(), settled: true };
    const before = state !== null && state.glance.place === glance.place ? state : null;
    if (facts === undefined || (facts !== null && isLessKnown(facts, before?.facts ?? null))) {
      // Silence is no sign of another network.
      enter({ ...found, key: before?.key ?? UNIDENTIFIED, facts: before?.facts ?? null });
      return;
    }
    // What was found may belong to before or after a change in between; only the same mark on both sides proves it.
    const after = source?.glance() ?? glance;
    const sure = after.mark === glance.mark;
    if (after.place === glance.place) enter({ ...found, settled: sure, key: networkKey(facts, salt), facts });
    if (!sure) see(after);
  }

  function see(glance: Glance): void {
    const nowMs = clock.nowMs();
    const { facts, mark, place } = glance;
    if (facts !== 'ask') {
      examining = null;
      enter({ glance, key: networkKey(facts, salt), facts, settled: true, atMs: nowMs });
      return;
    }
    if (examining?.mark === mark) return;
    const known = state?.settled === true && state.glance.mark === mark ? state : null;
    const goodForMs = glance.goodForMs ?? Number.POSITIVE_INFINITY;
    if (known !== null && nowMs - known.atMs < goodForMs) return;
    // An expired key holds until it is disproved, a place's old key until its gateway is known; elsewhere there is none.
    const held = state !== null && state.glance.place === place ? state : null;
    if (known === null)
      enter({ glance, key: held?.key ?? null, facts: held?.facts ?? null, settled: false, atMs: nowMs });
    void examine(glance);
  }

  function look(): void {
    lookedMs = clock.nowMs();
    if (source !== null) see(source.glance());
  }

  function lookIfDue(): void {
    if (clock.nowMs() - lookedMs >= LOOK_AGAIN_MS) look();
  }

  function poll(): void {
    forgetPoll ??= clock.after(LOOK_AGAIN_MS, () => {
      forgetPoll = null;
      look();
      if (watchers.size > 0) poll();
    });
  }

  function stopPolling(): void {
    if (watchers.size > 0) return;
    forgetPoll?.();
    forgetPoll = null;
  }

  const settledKey = (): string | null => (state?.settled === true ? state.key : null);

  return {
    key() {
      lookIfDue();
      return state?.key ?? null;
    },
    settledKey() {
      lookIfDue();
      return settledKey();
    },
    settled(withinMs = SETTLE_TIMEOUT_MS) {
      lookIfDue();
      const key = settledKey();
      if (key !== null) return Promise.resolve(key);
      return new Promise((resolve) => {
        const done = (): void => {
          waiting.delete(done);
          forget();
          resolve(settledKey() ?? UNIDENTIFIED);
        };
        const forget = clock.after(withinMs, done);
        waiting.add(done);
      });
    },
    keyAt(epochMs) {
      const stay = stays.findLast(({ fromMs }) => fromMs <= epochMs) ?? stays[0];
      return stay?.key ?? UNIDENTIFIED;
    },
    isStill(key) {
      look();
      return key !== UNIDENTIFIED && settledKey() === key;
    },
    watch(key, left) {
      const watcher = { key, left };
      watchers.add(watcher);
      poll();
      return () => {
        watchers.delete(watcher);
        stopPolling();
      };
    },
    facts: () => state?.facts ?? null,
  };
}
