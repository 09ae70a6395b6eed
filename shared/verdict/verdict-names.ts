// Short names of verdicts for charts, tables and comparisons.

import { codeKey, getMessage } from '../language/catalog.ts';
import type { VerdictCode } from '../race/verdict-schema.ts';

/** A verdict's short name, for example `HTTP/3 used`. */
export function verdictName(code: VerdictCode): string {
  return getMessage(codeKey('verdictName', code));
}
