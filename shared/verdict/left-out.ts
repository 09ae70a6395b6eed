// What a record leaves out because a server or resolver sent too much of it, in words.

import { type SharedWordKey, say } from '../language/words.ts';
import type { LeftOut, OriginRace } from '../race/outcome.ts';

const KINDS: readonly (readonly [keyof LeftOut, SharedWordKey])[] = [
  ['addresses', 'leftOutAddresses'],
  ['services', 'leftOutServices'],
  ['lookups', 'leftOutLookups'],
  ['attempts', 'leftOutAttempts'],
];

/** One sentence, or none where the record is whole. */
export function leftOutWords({ leftOut }: Pick<OriginRace, 'leftOut'>): string[] {
  if (leftOut === undefined) return [];
  const said = KINDS.flatMap(([kind, key]) =>
    leftOut[kind] === 0 ? [] : [say(key, { count: leftOut[kind] })],
  );
  return [say('leftOut', { what: said.join(', ') })];
}
