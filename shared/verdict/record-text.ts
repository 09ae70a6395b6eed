// What is said of a race's record beside its verdict: what is missing because a server or resolver sent too much of it,
// and what the fleet cache says of the origin, in words that name it: an outcome on a machine of the organisation, which
// may be this one.
import { getMessage, type SharedMessageKey } from '../language/catalog.ts';
import type { LeftOut, OriginRace, SharedOutcome } from '../race/outcome.ts';
import { attemptErrorText } from './attempt-text.ts';

const KINDS: readonly (readonly [keyof LeftOut, SharedMessageKey])[] = [
  ['addresses', 'leftOutAddresses'],
  ['services', 'leftOutServices'],
  ['lookups', 'leftOutLookups'],
  ['attempts', 'leftOutAttempts'],
];

/** One sentence, or none if the record is complete. */
export function leftOutText({ leftOut }: Pick<OriginRace, 'leftOut'>): string[] {
  if (leftOut === undefined) return [];
  const parts = KINDS.flatMap(([kind, key]) =>
    leftOut[kind] === 0 ? [] : [getMessage(key, { count: leftOut[kind] })],
  );
  return [getMessage('leftOut', { what: parts.join(', ') })];
}

const HOUR_MS = 3_600_000;

/** When an outcome of the fleet cache was raced: it tells its hour and nothing finer. */
export function sharedWithin(atMs: number, nowMs: number): string {
  return getMessage('sharedWithin', { count: Math.max(1, Math.ceil((nowMs - atMs) / HOUR_MS)) });
}

/** One sentence. */
export function sharedOutcomeText({ atMs, h3Failure }: SharedOutcome, nowMs: number): string {
  const when = sharedWithin(atMs, nowMs);
  return h3Failure === null
    ? getMessage('sharedWorked', { when })
    : getMessage('sharedFailed', { when, failure: attemptErrorText(h3Failure) });
}

/** What a race knew of it, and what that changed; nothing if it knew nothing. */
export function sharedInRaceText({ sharedOutcome, mode, startDelayMs, atMs }: OriginRace): string[] {
  if (sharedOutcome === undefined) return [];
  const words = sharedOutcomeText(sharedOutcome, atMs);
  const isSlower = sharedOutcome.h3Failure !== null && mode === 'race' && startDelayMs === 0;
  return [isSlower ? `${words} ${getMessage('sharedHeadStart')}` : words];
}
