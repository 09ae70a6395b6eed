// What verdicts are called where there is room for a few words only: charts, tables, comparisons.

import { type SharedWordKey, say } from '../language/words.ts';
import type { VerdictCode } from '../race/verdict-schema.ts';

const NAMES: Record<VerdictCode, SharedWordKey> = {
  'h3-used': 'verdictNameUsed',
  'h3-first-visit': 'verdictNameFirstVisit',
  'h3-not-advertised': 'verdictNameNotAdvertised',
  'h3-advertised-unreachable': 'verdictNameUnreachable',
  'h3-private-root': 'verdictNamePrivateRoot',
  'h3-browser-avoids': 'verdictNameAvoids',
  'h3-advertisement-wrong': 'verdictNameWrong',
  'h3-not-offered': 'verdictNameNotOffered',
  'h3-available': 'verdictNameAvailable',
  unknown: 'verdictNameUnknown',
  'machine-too-busy': 'verdictNameTooBusy',
  'h3-used-before': 'verdictNameUsedBefore',
};

/** A verdict's short name, for example `HTTP/3 used`. */
export function verdictName(code: VerdictCode): string {
  return say(NAMES[code]);
}
