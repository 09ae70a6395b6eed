// What HTTP/3 gains at an origin: milliseconds, and of how many. Only a comparison of whole pairs tells it.
import { formatMs, shownStepMs } from './markup.ts';
import type { OriginRace } from './outcome.ts';
import { wholePairs } from './photo-finish.ts';
import { median } from './statistics.ts';
import { type Said, type SharedWordKey, sayParts } from './words.ts';

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

/** How long HTTP/3 takes to connect. */
export function h3MsOf({ gainMs, ofMs }: Gain): number {
  return ofMs - gainMs;
}

/** Both times and their difference as a sentence; the part of `difference` is what to set apart. */
export function gainSentence(gain: Gain): Said[] {
  const [h3Ms, h2Ms] = [h3MsOf(gain), gain.ofMs];
  // The reader can subtract: no figure of the difference is finer than the times beside it.
  const stepMs = Math.max(shownStepMs(h3Ms), shownStepMs(h2Ms));
  const leadMs = Math.round(gain.gainMs / stepMs) * stepMs;
  const key: SharedWordKey = leadMs === 0 ? 'verdictTie' : leadMs > 0 ? 'verdictSaves' : 'verdictLoses';
  const params = { h3: formatMs(h3Ms), h2: formatMs(h2Ms), difference: formatMs(Math.abs(leadMs)) };
  return sayParts(key, params);
}
