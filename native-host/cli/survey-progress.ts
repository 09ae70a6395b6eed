// The progress of `race -`, in one line for people: done, failed, rate, and the time left if the total is known.
import { timedTrials } from '@photofinish/shared/race/conclusive';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { systemClock } from '../clock.ts';
import { allAdopted } from './race-series.ts';
import type { Terminal } from './terminal.ts';
import { duration } from './text.ts';

/** Progress is for people, who read no faster. */
export const PROGRESS_EVERY_MS = 100;

export interface SurveyState {
  readonly done: number;
  readonly failed: number;
  /** Races in total; null: more lines may come. */
  readonly total: number | null;
  readonly elapsedMs: number;
}

/** With fewer races done a rate is chance. */
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

/** Counts what `race -` has done, for the progress line and the final messages. */
export function surveyCounter(terminal: Terminal) {
  const beganMs = systemClock.nowMs();
  let shownMs = beganMs;
  const counts = { done: 0, failed: 0, busy: 0 };
  return {
    counts,
    /** Another race is done; `total`: the number of all races, null while more may come. */
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
        terminal.error('machine-busy', `this machine was late in ${busy} of ${done} races: see "disturbed"`);
    },
  };
}
