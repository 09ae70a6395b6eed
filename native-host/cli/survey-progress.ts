// How far `race -` is, in one line for a person: done, failed, rate, and the time left once it is known how much is left.
import { duration } from './text.ts';

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
