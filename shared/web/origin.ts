// The key of every record: an https origin (RFC 6454, RFC 9110 section 4.3.1) in canonical form. Parsed once where it
// enters; everything else takes the branded type and never parses again. Also how many of them one site may have.
import * as v from 'valibot';

declare const originBrand: unique symbol;

/** A canonical https origin, `https://host` or `https://host:port`, without the default port. */
export type Origin = string & { readonly [originBrand]: true };

/** What an origin consists of: `host` is lower-case ASCII (IPv6 without brackets), `port` is never 0. */
export interface OriginParts {
  readonly origin: Origin;
  readonly host: string;
  readonly port: number;
}

export type OriginResult =
  | { readonly ok: true; readonly value: OriginParts }
  | { readonly ok: false; readonly message: string };

/** A DNS name has at most 253 characters (RFC 1035 section 2.3.4), plus scheme, brackets and port. */
const MAX_ORIGIN_CHARS = 272;
export const DEFAULT_HTTPS_PORT = 443;

const MAX_NAME_CHARS = 253;
const MAX_LABEL_CHARS = 63;
/**
 * Letters, digits and hyphens, and the underscore, which some names in use contain (RFC 1123 section 2.1, RFC 8552).
 */
const LABEL = /^[a-z0-9_-]+$/;

/**
 * Why a host cannot exist in DNS (RFC 1035 section 2.3.4); null: it can, or it is an address. It may end with a dot.
 */
function whyNoName(host: string): string | null {
  if (host.startsWith('[')) return null;
  const name = host.endsWith('.') ? host.slice(0, -1) : host;
  if (name.length > MAX_NAME_CHARS) return `the host name is longer than ${MAX_NAME_CHARS} characters`;
  for (const label of name.split('.')) {
    if (label === '') return `"${host}" is no host name: there is nothing between two dots`;
    if (label.length > MAX_LABEL_CHARS)
      return `"${label}" is longer than the ${MAX_LABEL_CHARS} characters that fit between two dots`;
    if (!LABEL.test(label)) return `"${host}" is no host name: it has characters that DNS names have not`;
  }
  return null;
}

/** The parts of a URL, after validation. */
function checkedPartsOf(url: URL): OriginResult {
  const parts = partsOf(url);
  const why = parts.ok ? whyNoName(url.hostname) : null;
  return why === null ? parts : refuse(why);
}

function refuse(message: string): OriginResult {
  return { ok: false, message };
}

function partsOf(url: URL): OriginResult {
  if (url.protocol !== 'https:') return refuse(`${url.protocol}// is not https`);
  if (url.username !== '' || url.password !== '') return refuse('an origin has no user or password');
  if (url.port === '0') return refuse('port 0 cannot be connected to');
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  const port = url.port === '' ? DEFAULT_HTTPS_PORT : Number(url.port);
  return { ok: true, value: { origin: url.origin as Origin, host, port } };
}

/**
 * Parses an origin as written by a person or in a message: `https://a.test`, `https://a.test:8443/`, or a bare
 * `a.test`. A path, query or fragment is rejected, because it would be ignored silently.
 */
export function parseOrigin(input: string): OriginResult {
  const text = input.trim();
  if (text.length > MAX_ORIGIN_CHARS) return refuse('the origin is too long');
  // A bare host:port would otherwise parse as a scheme.
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(withScheme)) return refuse(`"${text}" is not an origin`);
  const url = new URL(withScheme);
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    return refuse(`"${text}" has a path; an origin is scheme, host and port only`);
  return checkedPartsOf(url);
}

const HTTPS = 'https://';
/** The requests of a page go to few origins, and parsing a URL costs more than all else that is done for a request. */
const MAX_REMEMBERED = 200;
const remembered = new Map<string, OriginParts | null>();

/** Scheme and authority of an https URL, which determine its origin; null: it has to be parsed as a whole. */
function authorityOf(url: string): string | null {
  if (!url.startsWith(HTTPS)) return null;
  const end = url.indexOf('/', HTTPS.length);
  // The URL parser ignores more slashes than two.
  return end > HTTPS.length && end <= MAX_ORIGIN_CHARS ? url.slice(0, end) : null;
}

function parsedOriginOf(url: string): OriginParts | null {
  if (!URL.canParse(url)) return null;
  const loaded = new URL(url);
  loaded.username = '';
  loaded.password = '';
  const result = checkedPartsOf(loaded);
  return result.ok ? result.value : null;
}

/**
 * The origin of a URL that a browser loaded, ignoring any userinfo; `null` for anything that is not https (RFC 9110
 * section 4.3.1).
 */
export function originOfUrl(url: string): OriginParts | null {
  const authority = authorityOf(url);
  if (authority === null) return parsedOriginOf(url);
  const known = remembered.get(authority);
  if (known !== undefined) return known;
  const parts = parsedOriginOf(authority);
  const [oldest] = remembered.keys();
  if (remembered.size >= MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
  remembered.set(authority, parts);
  return parts;
}

/** Host and port of an origin already known to be canonical. */
export function originParts(origin: Origin): OriginParts {
  const result = partsOf(new URL(origin));
  if (!result.ok) throw new TypeError(`not a canonical origin: ${origin}`);
  return result.value;
}

/** Host and port as in an authority (RFC 3986 section 3.2); an IPv6 address gets its brackets. */
export function hostPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Schema for an origin inside a message or a stored record: only the canonical form is valid. */
export const originSchema = v.pipe(
  v.string(),
  v.maxLength(MAX_ORIGIN_CHARS),
  v.check((text) => {
    const result = parseOrigin(text);
    return result.ok && result.value.origin === text;
  }, 'not a canonical https origin'),
  v.transform((text) => text as Origin),
);

/** Schema for a site: the registrable domain, host or address of a top-level page, without scheme or port. */
export const siteSchema = v.pipe(v.string(), v.minLength(1), v.maxLength(253));

/** Origins that a site may use per day before new ones are counted together; sites use some hundreds at most. */
export const SITE_DAY_ORIGINS = 1000;
/** Origins that may be stored for a site at a time. */
export const SITE_ORIGINS = 5000;

/** Stands for all further origins of a site: no name under `invalid` ever has an address (RFC 6761 section 6.4). */
export const OTHER_ORIGINS = 'https://other-origins.invalid' as Origin;

export interface SiteUse {
  /** Origins stored for the site. */
  readonly kept: number;
  /** Origins that it used on the day, or more if the network changed. */
  readonly today: number;
}

/**
 * How many new origins of a site may be stored now. A page that uses a new one with every request would otherwise
 * displace the history of all other sites.
 */
export function roomOf({ kept, today }: SiteUse): number {
  return Math.max(0, Math.min(SITE_ORIGINS - kept, SITE_DAY_ORIGINS - today));
}
