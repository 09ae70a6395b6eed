// What HTTP/3 gains at an origin: milliseconds, and of how many. Only a comparison of whole pairs tells it.
import type { OriginRace } from './outcome.ts';
import { wholePairs } from './photo-finish.ts';
import { median } from './statistics.ts';

/** Medians over the whole pairs of a `compare` run, in milliseconds. */
export interface Gain {
  /** HTTP/2 established less HTTP/3 established; negative: HTTP/3 takes longer. */
  readonly gainMs: number;
  /** HTTP/2 established. */
  readonly ofMs: number;
}

/** The gain that a race measured; null: it measured none. */
export function gainOf({
  mode,
  summary,
  trials,
}: Pick<OriginRace, 'mode' | 'summary' | 'trials'>): Gain | null {
  if (mode !== 'compare' || summary.gainMs === null) return null;
  const old = wholePairs(trials)
    .flat()
    .filter((trial) => trial.adopted !== 'h3');
  const ofMs = median(old.flatMap((trial) => trial.establishedMs ?? []));
  return ofMs === null ? null : { gainMs: summary.gainMs, ofMs };
}
