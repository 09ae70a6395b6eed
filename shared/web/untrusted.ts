// What is accepted of values that others choose: the size of names, texts and lists, the characters of a text that is
// displayed, and the time of an instant. Both ends enforce the sizes in their schemas, and the helper truncates before it
// records, so that no host can make a record that the port does not carry or that fills the disk.
import * as v from 'valibot';

/** A DNS name as text: 255 octets (RFC 1035 section 2.3.4), each possibly written as `\255` (RFC 9460, appendix A). */
export const MAX_DNS_NAME_CHARS = 1024;
/** An address literal with a zone. */
export const MAX_ADDRESS_CHARS = 64;
/** The text of an error, and below it a label of a network, a version or a code on the wire. */
export const MAX_MESSAGE_CHARS = 512;
export const MAX_LABEL_CHARS = 128;
/** A verdict as text, as in earlier records, and a text in a message: either may contain an advertisement. */
export const MAX_VERDICT_CHARS = 8192;
/** Sentences of a verdict, each of them a message. */
export const MAX_FINDINGS = 64;
/** For a message: its key and the names of its parameters, their number, and how many messages each may list. */
export const MAX_KEY_CHARS = 64;
export const MAX_MESSAGE_PARAMS = 16;
export const MAX_LISTED = 16;
/** An ALPN identifier: 255 octets (RFC 7301 section 3.1), escaped if they are not text. */
export const MAX_ALPN_CHARS = 1024;
/** Longest Alt-Svc header value kept; longer ones are hostile or broken (a real one has under 300 characters). */
export const MAX_ALT_SVC_CHARS = 4096;
/** A longer one is ignored everywhere; the extra character keeps it too long when it is read again. */
export const MAX_KEPT_ALT_SVC_CHARS = MAX_ALT_SVC_CHARS + 1;

/** Per look-up: each of these may cost queries or attempts. */
export const MAX_ADDRESSES = 128;
export const MAX_SERVICES = 32;
export const MAX_LOOKUPS = 128;
/** Per HTTPS record. */
export const MAX_ALPNS = 16;
export const MAX_HINTS = 16;
/** Those remembered and those of an answer, each up to the limit of the Alt-Svc parser. */
export const MAX_ALTERNATIVES = 64;
/** Per trial. */
export const MAX_ATTEMPTS = 64;
/** Per race: the maximum of `--trials`. */
export const MAX_TRIALS = 100_000;

/** Truncates a text to this many characters, the last of which marks the truncation. */
export function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).toWellFormed()}…`;
}

/** The schema of a text of at most so many characters. */
export function text(maxChars: number) {
  return v.pipe(v.string(), v.maxLength(maxChars));
}

/** `Number.MAX_SAFE_INTEGER`, as a literal: a bundler keeps a schema that reads a property, even if nothing uses it. */
const MAX_COUNT = 9_007_199_254_740_991;
/** The schema of a number of things: bounded, so that no sum of counts from a file becomes infinite. */
export const count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_COUNT));
/** The schema of a duration, or of an instant since the epoch or a start, in milliseconds. */
export const ms = v.pipe(v.number(), v.finite(), v.minValue(0));

/** A list of at most so many items. */
export function list<const Item extends v.BaseSchema<unknown, unknown, v.BaseIssue<unknown>>>(
  item: Item,
  maxItems: number,
) {
  return v.pipe(v.array(item), v.maxLength(maxItems));
}

/** Printable ASCII, which nearly all text is, and which is much cheaper to recognise. */
const PLAIN = /^[ -~]*$/;

/** U+FE0F stays after a symbol, which it shows as an emoji: users have such names for networks. */
const INVISIBLE = /(?<!\p{ExtPict}(?=\ufe0f))[\p{DI}\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Cn}]/gu;

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/**
 * The text, safe to display: what nobody would see, and what changes the display of its surroundings, such as line ends,
 * terminal escape sequences and bidi marks, is written like `\u202e`, so that the evidence remains readable. A tab, which
 * HTTP fields may have instead of a space, becomes a space. Idempotent.
 */
export function printable(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replaceAll('\t', ' ').replace(INVISIBLE, escaped);
}

function isPlainDeep(value: unknown): boolean {
  if (typeof value === 'string') return PLAIN.test(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isPlainDeep);
  return Object.entries(value).every(([name, each]) => PLAIN.test(name) && isPlainDeep(each));
}

/** A value with every text in it printable, including property names; itself if it is that already. */
export function printableDeep<Value>(value: Value): Value {
  return isPlainDeep(value) ? value : escapedDeep(value);
}

function escapedDeep<Value>(value: Value): Value {
  if (typeof value === 'string') return printable(value) as Value;
  if (Array.isArray(value)) return value.map(escapedDeep) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [printable(name), escapedDeep(each)]);
  return Object.fromEntries(entries) as Value;
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Clocks of two machines differ, and their dates by time zone. */
const AHEAD_MS = 86_400_000;

/**
 * Whether an instant (milliseconds since the epoch, or an ISO 8601 date or time) is later than tomorrow. Nothing has been
 * observed or raced in the future, so it is a mistake or an attack: it would never expire, and sort before all else.
 */
export function isTooLate(instant: number | string, nowMs: number): boolean {
  const atMs = typeof instant === 'number' ? instant : Date.parse(instant);
  // An invalid date must be rejected by the schema.
  return atMs > nowMs + AHEAD_MS;
}

/**
 * A machine's own clock, while it is right, is corrected by seconds. A later time is that of a clock that was wrong, such
 * as one that took local time for UTC at boot.
 */
const MAX_CORRECTION_MS = 60_000;

/** Whether this machine's own record is from a clock that was ahead: it would be newer than everything until that time. */
export function isAhead(atMs: number, nowMs: number): boolean {
  return atMs > nowMs + MAX_CORRECTION_MS;
}

/**
 * What a JSON document lacks, or where in it, by that name if at its top, what else was expected. JSON has no undefined:
 * what is received as that is not there.
 */
export function issueText(issue: v.BaseIssue<unknown>, top: string | null = null): string {
  const where = v.getDotPath(issue) ?? top;
  if (where !== null && issue.received === 'undefined') return `${where} is missing`;
  return where === null ? issue.message : `${where}: ${issue.message}`;
}
