// One line of `photofinish race -`: an origin, or a JSON object with an origin and its mode. Validated here.

import { MODES, type Mode } from '@photofinish/shared/race/terms';
import { type OriginParts, parseOrigin } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import type { ComplaintCode } from './usage.ts';

/** A request given by a line. */
export interface LineRequest {
  readonly origin: OriginParts;
  readonly mode: Mode;
}

export type ReadLine =
  | {
      readonly ok: true;
      readonly value: LineRequest;
      /** Path, query and fragment that followed the origin; absent if none did. */
      readonly leftOut?: string;
    }
  | { readonly ok: false; readonly code: ComplaintCode; readonly message: string };

/** A host name has at most 253 characters, so no legitimate line is longer. */
export const MAX_LINE_CHARS = 1024;

const lineSchema = v.strictObject({ origin: v.string(), mode: v.optional(v.picklist(MODES)) });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a line is blank or a comment. */
export function isIdle(line: string): boolean {
  return /^\s*(#|$)/.test(line);
}

/** Users often have lists of pages rather than origins: what follows the origin is cut off and reported. */
function readUrl(text: string, mode: Mode): ReadLine {
  const whole = readText(text, mode);
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  if (whole.ok || !URL.canParse(withScheme)) return whole;
  const url = new URL(withScheme);
  const leftOut = `${url.pathname}${url.search}${url.hash}`;
  if (leftOut === '/') return whole;
  Object.assign(url, { pathname: '', search: '', hash: '' });
  const cut = readText(url.href, mode);
  return cut.ok ? { ...cut, leftOut } : cut;
}

function readText(text: string, mode: Mode): ReadLine {
  const origin = parseOrigin(text);
  return origin.ok
    ? { ok: true, value: { origin: origin.value, mode } }
    : { ok: false, code: 'bad-origin', message: origin.message };
}

/** Reads one line; `mode` is the default for lines without one. Null: a blank line or comment. Never throws. */
export function readRaceLine(line: string, mode: Mode): ReadLine | null {
  // A longer line may be truncated to its beginning, which may be blank.
  if (line.trimStart().startsWith('#')) return null;
  if (line.length > MAX_LINE_CHARS)
    return { ok: false, code: 'bad-line', message: `longer than ${MAX_LINE_CHARS} characters` };
  if (isIdle(line)) return null;
  const text = line.trim();
  if (!text.startsWith('{')) return readUrl(text, mode);
  const parsed = v.safeParse(lineSchema, parseJson(text));
  if (parsed.success) return readText(parsed.output.origin, parsed.output.mode ?? mode);
  const [issue] = parsed.issues;
  const where = v.getDotPath(issue);
  return {
    ok: false,
    code: 'bad-line',
    message:
      where === null
        ? 'not a JSON object of the form {"origin": ..., "mode": ...}'
        : `${where}: ${issue.message}`,
  };
}
