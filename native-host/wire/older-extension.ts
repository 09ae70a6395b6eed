// For extensions that predate verdicts as data and expect them in words. Loaded with the first race of such an
// extension.
import '@photofinish/shared/language/english';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { VerdictAsText } from '@photofinish/shared/race/verdict-schema';
import { verdictAsText } from '@photofinish/shared/verdict/verdict-text';

/** The race with its verdict in words. */
export function raceInText(race: OriginRace): Omit<OriginRace, 'verdict'> & { verdict: VerdictAsText } {
  return { ...race, verdict: verdictAsText(race.verdict) };
}
