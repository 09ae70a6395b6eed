// For extensions that predate verdicts as data and expect them in words. Loaded with the first race of such an
// extension.
import '@photofinish/shared/language/english';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { VerdictInWords } from '@photofinish/shared/race/verdict-schema';
import { verdictInWords } from '@photofinish/shared/verdict/verdict-text';

/** The race with its verdict in words. */
export function raceInWords(race: OriginRace): Omit<OriginRace, 'verdict'> & { verdict: VerdictInWords } {
  return { ...race, verdict: verdictInWords(race.verdict) };
}
