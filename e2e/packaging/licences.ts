// Under which licences code by others may be part of what we give to others.
import satisfies from 'spdx-satisfies';
import { type Bundled, idOf } from './bundled.ts';

/** Ours. */
export const LICENCE = 'MIT';

/** Those that ask for no more than their text and their notices, which each archive has. */
const ALLOWED = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unicode-3.0',
  'Zlib',
];

/** Its licence as an SPDX expression; older crates write a slash where others may choose. Null: it names none. */
export function spdxOf({ licence }: Pick<Bundled, 'licence'>): string | null {
  return licence === null ? null : licence.replaceAll(/\s*\/\s*/g, ' OR ');
}

function isAllowed(expression: string): boolean {
  try {
    return satisfies(expression, ALLOWED);
  } catch {
    // Not an expression of SPDX's.
    return false;
  }
}

/** Why these may not be passed on, a line for each that may not. */
export function licenceFaults(bundled: readonly Bundled[]): string[] {
  return bundled.flatMap((each) => {
    const expression = spdxOf(each);
    if (expression === null) return [`${each.registry} ${idOf(each)} names no licence`];
    return isAllowed(expression) ? [] : [`${each.registry} ${idOf(each)} is under ${each.licence}`];
  });
}
