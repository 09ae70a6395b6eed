// Alt-Svc (RFC 7838): what a server advertises. One parser for both ends; hostile input yields skipped entries, never
// an exception. It skips a malformed alternative and keeps the rest, ignores unknown parameters, and limits what it
// reads.

import { MAX_ALT_SVC_CHARS, printable } from './untrusted.ts';

/** One alternative service (RFC 7838 section 2). */
export interface Alternative {
  /** ALPN protocol identifier, percent-decoded. */
  readonly alpn: string;
  /** Host of the alternative; empty means the origin's own host. IPv6 keeps its brackets. */
  readonly host: string;
  readonly port: number;
  /** Freshness lifetime in seconds, minus `Age`; default 24 hours (section 3.1). */
  readonly maxAgeSeconds: number;
  /** Survives a change of network (section 3.1). */
  readonly persist: boolean;
}

export interface AltSvc {
  /** The value as received, which is what records store. */
  readonly text: string;
  /** It contains `clear`: forget every alternative of this origin, including those named with it (section 3). */
  readonly clear: boolean;
  readonly alternatives: readonly Alternative[];
  /** How many malformed alternatives were skipped. */
  readonly skipped: number;
  /** How many alternatives are beyond what is read of a value; 1 if it is too long for any of it to be read. */
  readonly unread: number;
}

/** The lifetime of an alternative without `ma` (RFC 7838 section 3.1). */
export const DEFAULT_MAX_AGE_SECONDS = 86_400;
/** More than any server sends; the words of `verdictAltSvcUnread` name it. */
const MAX_ALTERNATIVES = 32;
/** Sticky, so that the cost of reading a token depends on its length only, not on what follows. */
const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;

interface Cursor {
  readonly text: string;
  at: number;
}

function skipSpace(c: Cursor): void {
  while (c.text[c.at] === ' ' || c.text[c.at] === '\t') c.at += 1;
}

function readToken(c: Cursor): string | null {
  TOKEN.lastIndex = c.at;
  const token = TOKEN.exec(c.text)?.[0];
  if (token === undefined) return null;
  c.at += token.length;
  return token;
}

/** A quoted-string (RFC 9110 section 5.6.4); `null` when it never closes. */
function readQuoted(c: Cursor): string | null {
  let out = '';
  for (let i = c.at + 1; i < c.text.length; i += 1) {
    const char = c.text[i];
    if (char === '"') {
      c.at = i + 1;
      return out;
    }
    if (char === '\\') i += 1;
    out += c.text[i] ?? '';
  }
  return null;
}

/**
 * Moves to the next comma outside quotes, so that one malformed alternative does not spoil the others. An unterminated
 * quote extends to the end: no alternative can follow it, and searching for its end repeatedly would be quadratic.
 */
function skipToComma(c: Cursor): void {
  while (c.at < c.text.length && c.text[c.at] !== ',') {
    if (c.text[c.at] !== '"') c.at += 1;
    else if (readQuoted(c) === null) c.at = c.text.length;
  }
}

function percentDecoded(text: string): string | null {
  try {
    return printable(decodeURIComponent(text));
  } catch {
    return null;
  }
}

/** Only names that can be looked up: they end up in a DNS query and a TLS server name. */
const AUTHORITY = /^(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{0,253}):([0-9]{1,5})$/;

function readAuthority(text: string): { host: string; port: number } | null {
  const match = AUTHORITY.exec(text);
  const port = Number(match?.[2]);
  if (match === null || port < 1 || port > 65_535) return null;
  return { host: (match[1] ?? '').toLowerCase(), port };
}

function readParameters(c: Cursor): { maxAgeSeconds: number; persist: boolean } | null {
  let maxAgeSeconds = DEFAULT_MAX_AGE_SECONDS;
  let persist = false;
  for (;;) {
    skipSpace(c);
    if (c.text[c.at] !== ';') return { maxAgeSeconds, persist };
    c.at += 1;
    skipSpace(c);
    // A stray semicolon is common (`clear;`, `; ma=1;`) and harmless.
    if (c.at >= c.text.length || c.text[c.at] === ',' || c.text[c.at] === ';') continue;
    const name = readToken(c)?.toLowerCase();
    skipSpace(c);
    if (name === undefined || c.text[c.at] !== '=') return null;
    c.at += 1;
    skipSpace(c);
    const value = c.text[c.at] === '"' ? readQuoted(c) : readToken(c);
    if (value === null) return null;
    if (name === 'ma') {
      if (!/^[0-9]+$/.test(value)) return null;
      // delta-seconds larger than 2^31 are read as 2^31 (RFC 9111 section 1.2.2).
      maxAgeSeconds = Math.min(Number(value), 2 ** 31);
    }
    // Any other value of persist must be ignored (section 3.1).
    if (name === 'persist' && value === '1') persist = true;
  }
}

function readAlternative(c: Cursor): Alternative | null {
  const name = readToken(c);
  if (name === null || c.text[c.at] !== '=') return null;
  const alpn = percentDecoded(name);
  c.at += 1;
  if (alpn === null || c.text[c.at] !== '"') return null;
  const quoted = readQuoted(c);
  const authority = quoted === null ? null : readAuthority(quoted);
  if (authority === null) return null;
  const parameters = readParameters(c);
  if (parameters === null || (c.at < c.text.length && c.text[c.at] !== ',')) return null;
  return { alpn, ...authority, ...parameters };
}

/**
 * Whether this whole list member is `clear` (case-sensitive, section 3); some servers terminate it with a semicolon.
 */
function readClear(c: Cursor): boolean {
  const start = c.at;
  if (readToken(c) === 'clear') {
    for (skipSpace(c); c.text[c.at] === ';'; skipSpace(c)) c.at += 1;
    if (c.at >= c.text.length || c.text[c.at] === ',') return true;
  }
  c.at = start;
  return false;
}

/**
 * Parses an Alt-Svc field value (several header lines joined by a comma, RFC 9110 section 5.3). `ageSeconds` is the
 * response's `Age`, subtracted from each lifetime (RFC 7838 section 3.1). Never throws.
 */
export function parseAltSvc(value: string, ageSeconds = 0): AltSvc {
  const text = value.trim();
  if (text.length > MAX_ALT_SVC_CHARS)
    return { text: value, clear: false, alternatives: [], skipped: 0, unread: 1 };
  const alternatives: Alternative[] = [];
  let skipped = 0;
  let unread = 0;
  let clear = false;
  const c: Cursor = { text, at: 0 };
  while (c.at < text.length) {
    skipSpace(c);
    if (c.text[c.at] === ',') {
      c.at += 1;
      continue;
    }
    if (c.at >= text.length) break;
    if (readClear(c)) {
      clear = true;
      continue;
    }
    const start = c.at;
    const alternative = readAlternative(c);
    if (alternative === null) {
      skipped += 1;
      c.at = start;
      skipToComma(c);
    } else if (alternatives.length >= MAX_ALTERNATIVES) {
      unread += 1;
    } else {
      const left = Math.max(0, alternative.maxAgeSeconds - ageSeconds);
      alternatives.push({ ...alternative, maxAgeSeconds: left });
    }
  }
  return { text: value, clear, alternatives: clear ? [] : alternatives, skipped, unread };
}

/** The host of an alternative, IPv6 without brackets; the origin's own if it names none (RFC 7838 section 3). */
export function alternativeHost({ host }: Pick<Alternative, 'host'>, ownHost: string): string {
  return host === '' ? ownHost : host.replaceAll(/^\[|\]$/g, '');
}

/** The alternatives for final HTTP/3 (ALPN `h3`, RFC 9114 section 3.1), in the server's order. */
export function h3Alternatives(altSvc: Pick<AltSvc, 'alternatives'>): readonly Alternative[] {
  return altSvc.alternatives.filter((a) => a.alpn === 'h3' && a.maxAgeSeconds > 0);
}

/**
 * Whether a field value that advertised HTTP/3 no longer does `ageMs` after it was received: the lifetime of each such
 * alternative has ended (RFC 7838 section 3.1). A value that never advertised it does not expire.
 */
export function isExpired(value: string, ageMs: number): boolean {
  const advertised = h3Alternatives(parseAltSvc(value));
  return advertised.length > 0 && advertised.every(({ maxAgeSeconds }) => 1000 * maxAgeSeconds <= ageMs);
}
