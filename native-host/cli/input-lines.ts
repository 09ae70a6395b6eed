// Lines of standard input and of lists: split from text that arrives in pieces, read ahead, so that their number is known,
// and validated as requests. An endless input, or an endless line, must not fill the memory.
import { Readable } from 'node:stream';
import { MODES, type Mode } from '@photofinish/shared/race/terms';
import { type OriginParts, parseOrigin } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import { type ComplaintCode, didYouMean, listed } from './usage.ts';

/**
 * The lines without their line feed or CRLF; an unterminated rest is a line too. Of a line with more than `mostChars`
 * only a longer prefix is returned, as soon as it is available, and the rest is skipped.
 */
export async function* linesOf(pieces: AsyncIterable<string>, mostChars: number): AsyncGenerator<string> {
  let held = '';
  let tooLong = false;
  for await (const piece of pieces)
    for (const [index, part] of piece.split('\n').entries()) {
      if (index > 0) {
        if (!tooLong) yield held.replace(/\r$/, '');
        held = '';
        tooLong = false;
      }
      if (tooLong) continue;
      held += part;
      const chars = held.endsWith('\r') ? held.length - 1 : held.length;
      if (chars <= mostChars) continue;
      tooLong = true;
      yield held;
      held = '';
    }
  if (held !== '') yield held.replace(/\r$/, '');
}

interface ReadAhead {
  /** The lines in order; rejects with the error that ended reading. */
  readonly lines: AsyncIterable<string>;
  /** How many of the lines read so far are counted. */
  counted(): number;
  /** Whether all have been read. */
  ended(): boolean;
}

/** Starts reading; at most `most` lines wait to be taken. */
export function readAhead(
  source: AsyncIterable<string>,
  most: number,
  counts: (line: string) => boolean,
): ReadAhead {
  let counted = 0;
  let ended = false;
  let failure: { readonly error: unknown } | null = null;

  async function* read(): AsyncGenerator<string> {
    try {
      for await (const line of source) {
        if (counts(line)) counted += 1;
        yield line;
      }
    } catch (error) {
      // Thrown by a stream it would discard the lines that wait.
      failure = { error };
    }
    ended = true;
  }

  async function* lines(): AsyncGenerator<string> {
    yield* Readable.from(read(), { highWaterMark: most });
    if (failure !== null) throw failure.error;
  }

  return { lines: lines(), counted: () => counted, ended: () => ended };
}

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

/** As origins they would be raced as `https://null` and, a number, as an IPv4 address (`1` as 0.0.0.1). */
const JSON_SCALAR = /^(?:null|true|false|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

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

/**
 * Reads one line; `mode` is the default for lines without one, `offered` are the modes that a message names. Null: a
 * blank line or comment. Never throws.
 */
export function readRaceLine(line: string, mode: Mode, offered: readonly Mode[] = MODES): ReadLine | null {
  // A longer line may be truncated to its beginning, which may be blank.
  if (line.trimStart().startsWith('#')) return null;
  if (line.length > MAX_LINE_CHARS)
    return { ok: false, code: 'bad-line', message: `longer than ${MAX_LINE_CHARS} characters` };
  if (isIdle(line)) return null;
  const text = line.trim();
  if (!text.startsWith('{') && !JSON_SCALAR.test(text)) return readUrl(text, mode);
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), lineSchema), text);
  if (parsed.success) return readText(parsed.output.origin, parsed.output.mode ?? mode);
  return { ok: false, code: 'bad-line', message: lineFault(parsed.issues, offered) };
}

function lineFault(
  issues: readonly [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]],
  offered: readonly Mode[],
): string {
  // A misspelt key is also a missing one.
  const issue = issues.find(({ expected }) => expected === 'never') ?? issues[0];
  const where = v.getDotPath(issue);
  if (where === null) return 'not a JSON object of the form {"origin": ..., "mode": ...}';
  if (where === 'mode') return `mode: ${issue.received} is not one; there are ${listed(offered)}`;
  if (issue.type !== 'strict_object') return `${where}: ${issue.received} is not one`;
  if (issue.expected !== 'never') return `the line names no ${where}`;
  const known = Object.keys(lineSchema.entries);
  return `a line has no option "${where}"${didYouMean(where, known) || `; there are ${known.join(' and ')}`}`;
}

/** The text of the warning `path-left-out` for the line with that number; null: the line was only an origin. */
export function pathLeftOut(
  line: number,
  { value, leftOut }: ReadLine & { readonly ok: true },
): string | null {
  return leftOut === undefined ? null : `line ${line}: racing ${value.origin.origin}, ignoring ${leftOut}`;
}
