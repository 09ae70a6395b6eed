// Size limits for values chosen by others in a record: names, texts and lists from servers and resolvers. Both ends
// enforce them in their schemas, and the helper truncates before it records, so that no host can make a record that the
// port does not carry or that fills the disk.
import * as v from 'valibot';
import { MAX_ALT_SVC_CHARS } from './observation.ts';

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
/** A longer Alt-Svc value is ignored everywhere; the extra character keeps it too long when it is read again. */
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

/** A list of at most so many items. */
export function list<const Item extends v.BaseSchema<unknown, unknown, v.BaseIssue<unknown>>>(
  item: Item,
  maxItems: number,
) {
  return v.pipe(v.array(item), v.maxLength(maxItems));
}
