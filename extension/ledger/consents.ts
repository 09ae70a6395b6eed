// Which options of an imported file are not adopted unless the user agrees to each: those that let programs act or look
// where they previously did not, and those that delete data. A file sent by somebody else could otherwise switch them
// on silently. Pure.
import { RACE_TIMES, type Settings } from '../common/settings.ts';

export const CONSENTS = ['races', 'first-visit-races', 'private-windows', 'steering', 'retention'] as const;
export type Consent = (typeof CONSENTS)[number];

/** What the file's options require consent for, given the current ones. */
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

/** The options after the import: the file's, except where consent was required and not given. */
export function withConsents(now: Settings, file: Settings, given: ReadonlySet<Consent>): Settings {
  const refused = new Set(consentsWanted(now, file).filter((consent) => !given.has(consent)));
  const races = refused.has('races') || refused.has('first-visit-races');
  return {
    ...file,
    raceWhen: races ? now.raceWhen : file.raceWhen,
    privateWindows: refused.has('private-windows') ? now.privateWindows : file.privateWindows,
    steering: refused.has('steering') ? now.steering : file.steering,
    retentionDays: refused.has('retention') ? now.retentionDays : file.retentionDays,
    // Sites excluded in either set of options remain excluded.
    neverRecord: [...new Set([...now.neverRecord, ...file.neverRecord])].toSorted(),
    welcomed: now.welcomed,
  };
}
