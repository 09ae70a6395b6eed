// How long what others chose may be in a record: names, texts and lists that come from servers and resolvers. Both ends
// hold their schemas to these, and the helper cuts to them before it records, so that no host can make a record that the
// port does not carry or that fills the disk.
import * as v from 'valibot';
import { MAX_ALT_SVC_CHARS } from './observation.ts';

/** A DNS name as text: 255 octets (RFC 1035 section 2.3.4), each of which may be written as `\255` (RFC 9460, appendix A). */
export const MAX_DNS_NAME_CHARS = 1024;
/** An address literal with a zone. */
export const MAX_ADDRESS_CHARS = 64;
/** What an error says, and a label of a network, a version or a code on the wire. */
export const MAX_MESSAGE_CHARS = 512;
export const MAX_LABEL_CHARS = 128;
/** A verdict in words, as records of before hold it, and a text in a message: what was advertised may stand in either. */
export const MAX_VERDICT_CHARS = 8192;
/** Sentences of a verdict, each of them a message. */
export const MAX_FINDINGS = 64;
/** Of a message: its key and the names of its parameters, how many those are, and how many others each may list. */
export const MAX_KEY_CHARS = 64;
export const MAX_MESSAGE_PARAMS = 16;
export const MAX_LISTED = 16;
/** An ALPN identifier: 255 octets (RFC 7301 section 3.1), escaped where they are no text. */
export const MAX_ALPN_CHARS = 1024;
/** A longer Alt-Svc value is heeded by nobody; one character more keeps it so when it is read again. */
export const MAX_KEPT_ALT_SVC_CHARS = MAX_ALT_SVC_CHARS + 1;

/** Of one look-up: each of these may cost queries or attempts. */
export const MAX_ADDRESSES = 128;
export const MAX_SERVICES = 32;
export const MAX_LOOKUPS = 128;
/** Of one HTTPS record. */
export const MAX_ALPNS = 16;
export const MAX_HINTS = 16;
/** Those of memory and those of an answer, as many of each as the parser of Alt-Svc reads. */
export const MAX_ALTERNATIVES = 64;
/** Of one trial. */
export const MAX_ATTEMPTS = 64;
/** Of one race: what `--trials` takes. */
export const MAX_TRIALS = 100_000;

/** A text cut to so many characters, the last of which says that more was there. */
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
