// Parsing of command lines, with one clear complaint per mistake, and the word that a mistyped one is close to. Nothing
// here uses the network, so a mistake is always found before anything is raced.

import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type OriginParts, parseOrigin } from '@photofinish/shared/web/origin';
import { messageOf } from '@photofinish/shared/web/untrusted';
import { commandLine } from '../install/own-command.ts';

/** Edits plausible as typing errors in a word of that length; more would be guessing. */
function tolerance(word: string): number {
  return word.length < 5 ? 1 : word.length < 8 ? 2 : 3;
}

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          at(i - 1, j) + 1,
          at(i, j - 1) + 1,
          at(i - 1, j - 1) + cost,
          swapped ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return at(a.length, b.length);
}

/** The nearest known word; null: none is near, or the word itself is too short to tell. */
export function nearest(word: string, known: readonly string[]): string | null {
  const typed = word.toLowerCase();
  if (typed.length < 2) return null;
  const begun = known.filter((each) => typed.length >= 3 && each.startsWith(typed));
  if (begun.length === 1 && begun[0] !== undefined) return begun[0];
  const [best] = known
    .map((each) => ({ word: each, edits: distance(typed, each) }))
    .filter(({ word, edits }) => edits <= Math.min(tolerance(typed), word.length - 1))
    .toSorted((a, b) => a.edits - b.edits);
  return best?.word ?? null;
}

/** `; did you mean "race"?`, or nothing. */
export function didYouMean(word: string, known: readonly string[], prefix = ''): string {
  const near = nearest(word, known);
  return near === null ? '' : `; did you mean "${prefix}${near}"?`;
}

/** Every code printed between `photofinish:` and the message on stderr; append-only. */
export type ComplaintCode =
  | 'bad-usage'
  | 'unknown-command'
  | 'bad-origin'
  | 'bad-line'
  | 'bad-mode'
  | 'bad-memory'
  | 'bad-number'
  | 'bad-file'
  | 'bad-config'
  | 'bad-resolve'
  | 'bad-resolver'
  | 'bad-network'
  | 'bad-browser'
  | 'bad-extension-id'
  | 'bad-directory'
  | 'bad-report'
  | 'bad-code'
  | 'bad-resume'
  | 'cannot-race'
  | 'races-wait'
  | 'many-at-once'
  | 'machine-busy'
  | 'path-left-out'
  | 'cache-unavailable'
  | 'fleet-unavailable'
  | 'no-record'
  | 'cannot-write'
  | 'cancelled'
  | 'network-changed'
  | 'internal'
  | 'no-browser'
  | 'not-built'
  | 'no-addon'
  | 'no-server'
  | 'no-survey'
  | 'bad-survey'
  | 'sick-vantage'
  | 'not-a-cache'
  | 'salt-damaged'
  | 'cache-damaged'
  | 'no-duckdb'
  | 'unused-resolve';

export const EXIT_OK = 0;
export const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
/** 128 + SIGINT, as shells report it. */
export const EXIT_INTERRUPTED = 130;

/** A mistake or failure that ends the command: printed as `photofinish: CODE: message`. */
export class Complaint extends Error {
  readonly code: ComplaintCode;
  readonly exitCode: number;
  constructor(code: ComplaintCode, message: string, exitCode: number = EXIT_USAGE) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
  }
}

/** An origin on a command line. Throws a Complaint if it is none. */
export function readOrigin(text: string): OriginParts {
  const parsed = parseOrigin(text);
  if (!parsed.ok) throw new Complaint('bad-origin', parsed.message);
  return parsed.value;
}

type Options = NonNullable<ParseArgsConfig['options']>;

/** Strict parsing by node:util; unknown options and missing values become one line that names the help. */
export function parseCommand<const T extends Options>(
  command: string,
  args: readonly string[],
  options: T,
): ReturnType<typeof parseArgs<{ options: T; strict: true; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: true });
  } catch (error) {
    const text = messageOf(error);
    const seeHelp = `; see "${commandLine(command, '--help')}"`;
    const unknown = /^Unknown option '(-+)([^']*)'/.exec(text);
    if (unknown !== null) {
      const [, dashes = '', name = ''] = unknown;
      const near = didYouMean(name, [...Object.keys(options), 'help'], '--');
      throw new Complaint('bad-usage', `${command} has no option "${dashes}${name}"${near || seeHelp}`);
    }
    // Node calls a value that looks like an option ambiguous, and says in further sentences what to write instead.
    const valued = /^Option '(--[^' ]+).*' argument (missing|is ambiguous)/.exec(text);
    if (valued !== null) {
      const [, name = '', fault] = valued;
      const dashed = fault === 'missing' ? '' : `; one that begins with a dash is given as ${name}=VALUE`;
      throw new Complaint('bad-usage', `${name} takes a value${dashed}${seeHelp}`);
    }
    const [first = text] = text.split(/\.\s|\n/);
    const sentence = first.replace(/\.$/, '').replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
    throw new Complaint('bad-usage', sentence + seeHelp);
  }
}

/** A whole number in [min, max], or the fallback when the option is absent. */
export function wholeNumber<Fallback extends number | null>(
  option: string,
  text: string | undefined,
  min: number,
  max: number,
  fallback: Fallback,
): number | Fallback {
  if (text === undefined) return fallback;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max))
    throw new Complaint(
      'bad-number',
      `--${option} takes a whole number from ${min} to ${max}, not "${text}"`,
    );
  return value;
}

/** A word of a closed list; `what` takes it. Throws a Complaint for any other. */
export function oneOf<T extends string>(
  code: ComplaintCode,
  what: string,
  text: string,
  values: readonly T[],
): T {
  const found = values.find((value) => value === text);
  if (found !== undefined) return found;
  throw new Complaint(code, `${what} takes ${listed(values)}, not "${text}"${didYouMean(text, values)}`);
}

/** `a, b or c`. */
export function listed(values: readonly string[]): string {
  // British English puts no comma before the "or".
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(values);
}
