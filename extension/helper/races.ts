// Races of the extension, by click or by visit: at most as many at once as the helper's budget allows, one per origin, the others wait.
import type { Origin } from '@photofinish/shared/origin';
import type { OriginRace } from '@photofinish/shared/outcome';
import type { Progress } from '@photofinish/shared/wire';
import { say, type WordKey } from '../words.ts';
import type { HelperError } from './failure.ts';
import type { RaceOrder, RunningRace } from './helper.ts';

export interface RacesDeps {
  readonly race: (order: RaceOrder, onProgress: (progress: Progress) => void) => RunningRace;
  readonly onProgress: (origin: Origin, progress: Progress) => void;
  readonly onDone: (race: OriginRace) => void;
  readonly onFailed: (origin: Origin, code: string, message: string) => void;
}

export interface Races {
  start(order: RaceOrder): void;
  cancel(origin: Origin): void;
  /** Cancels those that wait and that `which` picks; what runs is over in seconds. */
  withdraw(which: (order: RaceOrder) => boolean): void;
}

/** The helper's own limit for races over the port. */
export const RACES_AT_ONCE = 4;
const MAX_WAITING = 500;

/** What the helper's codes mean to somebody who pressed a button; other messages are sentences already. */
const WORDS: Partial<Record<HelperError['code'], WordKey>> = {
  'too-many-races': 'popupRaceTooMany',
  'helper-missing': 'popupRaceHelperMissing',
  'helper-disconnected': 'popupRaceHelperGone',
  'race-failed': 'popupRaceHelperFailed',
};

function wordsOf({ code, message }: HelperError): string {
  const words = WORDS[code];
  return words === undefined ? message : say(words, { why: message });
}

export function createRaces({ race, onProgress, onDone, onFailed }: RacesDeps): Races {
  const running = new Map<Origin, RunningRace>();
  const waiting = new Map<Origin, RaceOrder>();

  const next = (): void => {
    for (const [origin, order] of waiting) {
      if (running.size >= RACES_AT_ONCE) return;
      waiting.delete(origin);
      run(order);
    }
  };

  const run = (order: RaceOrder): void => {
    const { origin } = order;
    const started = race(order, (progress) => onProgress(origin, progress));
    running.set(origin, started);
    started.result
      .then(onDone, (error: HelperError) => onFailed(origin, error.code, wordsOf(error)))
      .finally(() => {
        running.delete(origin);
        next();
      });
  };

  const cancelWaiting = (origin: Origin): void => {
    if (waiting.delete(origin)) onFailed(origin, 'cancelled', say('popupRaceCancelledEarly'));
  };

  return {
    start(order) {
      const { origin } = order;
      if (running.has(origin)) return;
      if (waiting.size >= MAX_WAITING) {
        onFailed(origin, 'too-many-races', say('popupRaceQueueFull', { number: MAX_WAITING }));
        return;
      }
      waiting.set(origin, order);
      next();
    },
    cancel(origin) {
      cancelWaiting(origin);
      running.get(origin)?.cancel();
    },
    withdraw(which) {
      for (const [origin, order] of [...waiting]) if (which(order)) cancelWaiting(origin);
    },
  };
}
