// What of a file's options is not taken over unless the user says so, one by one: what lets programs act or look where
// they did not, and what deletes. A file that somebody sent would else switch it on without a word. Pure.
import { RACE_TIMES, type Settings } from '../common/settings.ts';

export const CONSENTS = ['races', 'first-visit-races', 'private-windows', 'steering', 'retention'] as const;
export type Consent = (typeof CONSENTS)[number];

/** What the file's options need consent for, where these are in force now. */
export function consentsWanted(now: Settings, file: Settings): Consent[] {
  const more = RACE_TIMES.indexOf(file.raceWhen) > RACE_TIMES.indexOf(now.raceWhen);
  const wanted: Record<Consent, boolean> = {
    races: more && file.raceWhen === 'click',
    'first-visit-races': more && file.raceWhen === 'first-visit',
    'private-windows': file.privateWindows && !now.privateWindows,
    steering: file.steering && !now.steering,
    retention: file.retentionDays < now.retentionDays,
  };
  return CONSENTS.filter((consent) => wanted[consent]);
}

/** The options after the import: the file's, but for what consent was wanted and not given. */
export function withConsents(now: Settings, file: Settings, given: ReadonlySet<Consent>): Settings {
  const refused = new Set(consentsWanted(now, file).filter((consent) => !given.has(consent)));
  const races = refused.has('races') || refused.has('first-visit-races');
  return {
    ...file,
    raceWhen: races ? now.raceWhen : file.raceWhen,
    privateWindows: refused.has('private-windows') ? now.privateWindows : file.privateWindows,
    steering: refused.has('steering') ? now.steering : file.steering,
    retentionDays: refused.has('retention') ? now.retentionDays : file.retentionDays,
    // What was never to be recorded stays so, here and there.
    neverRecord: [...new Set([...now.neverRecord, ...file.neverRecord])].toSorted(),
    welcomed: now.welcomed,
  };
}
