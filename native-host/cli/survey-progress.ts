// How far `race -` is, in one line for a person: done, failed, rate, and the time left once it is known how much is left.
import { timedTrials } from '@photofinish/shared/race/conclusive';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { systemClock } from '../clock.ts';
import { allAdopted } from './race-series.ts';
import type { Terminal } from './terminal.ts';
import { duration } from './text.ts';

/** Progress is for people: nobody reads faster. */
export const PROGRESS_EVERY_MS = 100;

export interface SurveyState {
  readonly done: number;
  readonly failed: number;
  /** Races in all; null: more lines may come. */
  readonly total: number | null;
  readonly elapsedMs: number;
}

/** With fewer done a rate is chance. */
const LEAST_FOR_RATE = 5;

function rateWords(perSecond: number): string {
  if (perSecond >= 10) return `${Math.round(perSecond)} per second`;
  return perSecond >= 1 ? `${perSecond.toFixed(1)} per second` : `${Math.round(60 * perSecond)} per minute`;
}

/** For example `412 of 5000 done, 3 failed, 38 per second, 2 min left`. */
export function surveyWords({ done, failed, total, elapsedMs }: SurveyState): string {
  const parts = [total === null ? `${done} done` : `${done} of ${total} done`, `${failed} failed`];
  if (done < LEAST_FOR_RATE || elapsedMs <= 0) return parts.join(', ');
  parts.push(rateWords((1000 * done) / elapsedMs));
  if (total !== null && total > done) parts.push(`${duration((elapsedMs / done) * (total - done))} left`);
  return parts.join(', ');
}

/** What `race -` has done so far, for the line that a person sees and for what is said at the end. */
export function surveyCounter(terminal: Terminal) {
  const beganMs = systemClock.nowMs();
  let shownMs = beganMs;
  const counts = { done: 0, failed: 0, busy: 0 };
  return {
    counts,
    /** One more race is over; `total`: how many there are in all, null while more may come. */
    over(race: OriginRace, total: number | null): void {
      counts.done += 1;
      if (!allAdopted([race])) counts.failed += 1;
      if (timedTrials(race.trials).length < race.trials.length || race.error?.disturbed) counts.busy += 1;
      const nowMs = systemClock.nowMs();
      if (nowMs - shownMs < PROGRESS_EVERY_MS) return;
      shownMs = nowMs;
      terminal.progress(surveyWords({ ...counts, total, elapsedMs: nowMs - beganMs }));
    },
    end(): void {
      terminal.progress('');
      const { busy, done } = counts;
      if (busy > 0)
        terminal.error('machine-busy', `in ${busy} of ${done} races this machine was late: see "disturbed"`);
    },
  };
}
