// Races of the extension, by click or by visit: no more at once and in a minute than the helper's budget allows, one per
// origin, the others wait.

import { RACES_AT_ONCE, RACES_PER_MINUTE } from '@photofinish/shared/port/race-limits';
import type { Progress } from '@photofinish/shared/port/wire';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Origin } from '@photofinish/shared/web/origin';
import type { Clock } from '../../common/browser.ts';
import type { HelperError } from '../../common/helper/state.ts';
import type { RaceAsked } from '../../common/messages.ts';
import { say, type WordKey } from '../../common/words.ts';
import type { RaceOrder, RunningRace } from './helper.ts';

export interface RacesDeps {
  readonly race: (order: RaceOrder, onProgress: (progress: Progress) => void) => RunningRace;
  readonly onProgress: (origin: Origin, progress: Progress) => void;
  readonly onDone: (race: OriginRace) => void;
  readonly onFailed: (origin: Origin, code: string, message: string) => void;
  /** Told whenever `asked` changed. */
  readonly onAsked: (asked: readonly RaceAsked[]) => void;
  readonly clock: Clock & { nowMs(): number };
}

export interface Races {
  start(order: RaceOrder): void;
  /** Starts all of these, each in its turn; a race that is asked for alone goes before them. */
  startAll(orders: readonly RaceOrder[]): void;
  cancel(origin: Origin): void;
  /** Cancels every race by a press, running or waiting. */
  stop(): void;
  /** Cancels those that wait and that `which` picks; what runs is over in seconds. */
  withdraw(which: (order: RaceOrder) => boolean): void;
  /** The races by a press since none of them was under way. */
  readonly asked: readonly RaceAsked[];
}

const MINUTE_MS = 60_000;
/** The helper counts from when it hears of a race, which is a little later. */
const MARGIN_MS = 500;
const MAX_WAITING = 500;

/** What the helper's codes mean to somebody who pressed a button; other messages are sentences already. */
const WORDS: Partial<Record<HelperError['code'], WordKey>> = {
  'too-many-races': 'popupRaceTooMany',
  'helper-missing': 'popupRaceHelperMissing',
  'helper-disconnected': 'popupRaceHelperGone',
  'race-failed': 'popupRaceHelperFailed',
  'bad-reply': 'popupRaceBadReply',
  'helper-bad-reply': 'popupRaceBadReply',
  'reply-too-large': 'popupRaceReplyTooLarge',
};

function wordsOf({ code, message }: HelperError): string {
  const words = WORDS[code];
  return words === undefined ? message : say(words, { why: message });
}

interface Waiting {
  readonly order: RaceOrder;
  /** One of many that were asked for at once. */
  readonly oneOfMany: boolean;
}

export function createRaces({ race, onProgress, onDone, onFailed, onAsked, clock }: RacesDeps): Races {
  const running = new Map<Origin, { readonly order: RaceOrder; readonly race: RunningRace }>();
  const waiting = new Map<Origin, Waiting>();
  const asked = new Map<Origin, RaceAsked['state']>();
  /** When the races of the last minute began. */
  let begunMs: number[] = [];
  let called = false;

  const askedNow = (): RaceAsked[] => [...asked].map(([origin, state]) => ({ origin, state }));

  const askFor = ({ origin, reason }: RaceOrder): void => {
    if (reason !== 'click') return;
    if ([...asked.values()].every((state) => state === 'over')) asked.clear();
    asked.set(origin, 'waiting');
  };

  /** Notes how far a race is that somebody asked for; of others nobody is told. */
  const note = (origin: Origin, state: RaceAsked['state']): void => {
    if ((asked.get(origin) ?? 'over') === 'over') return;
    asked.set(origin, state);
    onAsked(askedNow());
  };

  /** Whether another race may begin now; if only the minute forbids it, `next` is called again when it allows one. */
  const mayBegin = (): boolean => {
    if (running.size >= RACES_AT_ONCE) return false;
    const nowMs = clock.nowMs();
    // A clock that was set back must not hold races up.
    begunMs = begunMs.filter((atMs) => atMs <= nowMs && nowMs - atMs < MINUTE_MS + MARGIN_MS);
    const [oldestMs] = begunMs;
    if (oldestMs === undefined || begunMs.length < RACES_PER_MINUTE) return true;
    if (!called) {
      called = true;
      clock.later(oldestMs + MINUTE_MS + MARGIN_MS - nowMs, () => {
        called = false;
        next();
      });
    }
    return false;
  };

  const next = (): void => {
    while (waiting.size > 0 && mayBegin()) {
      const all = [...waiting.values()];
      const { order } = all.find(({ oneOfMany }) => !oneOfMany) ?? (all[0] as Waiting);
      waiting.delete(order.origin);
      run(order);
    }
  };

  const run = (order: RaceOrder): void => {
    const { origin } = order;
    begunMs.push(clock.nowMs());
    const started = race(order, (progress) => onProgress(origin, progress));
    running.set(origin, { order, race: started });
    note(origin, 'racing');
    started.result
      .then(onDone, (error: HelperError) => onFailed(origin, error.code, wordsOf(error)))
      .finally(() => {
        running.delete(origin);
        note(origin, 'over');
        next();
      });
  };

  const add = (order: RaceOrder, oneOfMany: boolean): void => {
    const { origin } = order;
    if (running.has(origin) || (oneOfMany && waiting.has(origin))) return;
    if (waiting.size >= MAX_WAITING) {
      onFailed(origin, 'too-many-races', say('popupRaceQueueFull', { number: MAX_WAITING }));
      return;
    }
    waiting.set(origin, { order, oneOfMany });
    askFor(order);
  };

  const cancelWaiting = (origin: Origin): void => {
    if (!waiting.delete(origin)) return;
    onFailed(origin, 'cancelled', say('popupRaceCancelledEarly'));
    note(origin, 'over');
  };

  const cancelAllWaiting = (which: (order: RaceOrder) => boolean): void => {
    for (const [origin, { order }] of [...waiting]) if (which(order)) cancelWaiting(origin);
  };

  const startAll = (orders: readonly RaceOrder[], oneOfMany: boolean): void => {
    for (const order of orders) add(order, oneOfMany);
    if (orders.some(({ reason }) => reason === 'click')) onAsked(askedNow());
    next();
  };

  return {
    start: (order) => startAll([order], false),
    startAll: (orders) => startAll(orders, true),
    cancel(origin) {
      cancelWaiting(origin);
      running.get(origin)?.race.cancel();
    },
    stop() {
      cancelAllWaiting(({ reason }) => reason === 'click');
      for (const { order, race: started } of running.values()) if (order.reason === 'click') started.cancel();
    },
    withdraw: cancelAllWaiting,
    get asked() {
      return askedNow();
    },
  };
}
