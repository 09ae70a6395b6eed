// What is missing from a record because a server or resolver sent too much of it, in words.

import { getMessage, type SharedMessageKey } from '../language/catalog.ts';
import type { LeftOut, OriginRace } from '../race/outcome.ts';

const KINDS: readonly (readonly [keyof LeftOut, SharedMessageKey])[] = [
  ['addresses', 'leftOutAddresses'],
  ['services', 'leftOutServices'],
  ['lookups', 'leftOutLookups'],
  ['attempts', 'leftOutAttempts'],
];

/** One sentence, or none if the record is complete. */
export function leftOutWords({ leftOut }: Pick<OriginRace, 'leftOut'>): string[] {
  if (leftOut === undefined) return [];
  const said = KINDS.flatMap(([kind, key]) =>
    leftOut[kind] === 0 ? [] : [getMessage(key, { count: leftOut[kind] })],
  );
  return [getMessage('leftOut', { what: said.join(', ') })];
}
