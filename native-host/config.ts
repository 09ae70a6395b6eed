// The helper's settings: only one JSON file, because a message from the browser must never be able to loosen the guard
// or point the helper at another cache.
import { closeSync, constants, fstatSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { hostPort, parseOrigin } from '@photofinish/shared/web/origin';
import { issueText } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { insecureFile, insecurePath, NotRegularFile, openRegular, userHome } from './paths.ts';

/** Where an organisation's machines share outcomes of races (docs/fleet-cache.md). */
export interface FleetSettings {
  /** `nats://HOST:PORT` or `tls://HOST:PORT`. */
  readonly server: string;
  /** Of JetStream's key-value store. */
  readonly bucket: string;
  readonly credsFile: string | null;
  readonly nkeyFile: string | null;
  /** PEM file with the certificates trusted instead of those bundled with Node.js. */
  readonly caFile: string | null;
  /** The organisation's secret, absolute path. */
  readonly saltFile: string;
  /** Outcomes are shared among machines that the operator gave the same one. */
  readonly network: string;
  /** Whether this machine's outcomes are published; otherwise it only reads. */
  readonly publish: boolean;
}

export interface Settings {
  /** CIDRs that the guard allows although they are not public. */
  readonly allowPrivate: readonly string[];
  /** `host:port` to the address to use for it. */
  readonly resolve: ReadonlyMap<string, string>;
  /** PEM files with additional trust anchors, absolute paths. */
  readonly ca: readonly string[];
  /** `address:port` of the DNS server; null: the system's. */
  readonly resolver: string | null;
  readonly cachePath: string;
  /** null: nothing is logged. */
  readonly logsPath: string | null;
  /** null: nothing is shared. */
  readonly fleet: FleetSettings | null;
  /** The settings file; null: there is none, these are the defaults. */
  readonly source: string | null;
}

/** The settings cannot be used; the message names the file and gives a remedy. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/**
 * 4 or 6, and 0 for an invalid address. Only settings with addresses need to load sockets, a tenth of the start-up
 * time.
 */
function isIP(text: string): number {
  return process.getBuiltinModule('node:net').isIP(text);
}

/** An address range in CIDR notation (RFC 4632, RFC 4291 section 2.3); a bare address means itself alone. */
export function isCidr(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  return /^[0-9]{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
}

/** Splits `host:port`; an IPv6 host is returned without brackets. null if invalid. */
export function splitHostPort(text: string): { readonly host: string; readonly port: number } | null {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  return host === undefined || port < 1 || port > 65_535 ? null : { host: host.toLowerCase(), port };
}

const DNS_PORT = 53;

/** `ADDRESS:PORT` of a DNS server, of which the port may be missing; null: it is none. */
export function dnsServer(text: string): string | null {
  const address = text.replace(/^\[([^\]]+)\]$/, '$1');
  if (isIP(address) !== 0) return hostPort(address, DNS_PORT);
  const named = splitHostPort(text);
  return named === null || isIP(named.host) === 0 ? null : hostPort(named.host, named.port);
}

/** `host:port` as a race names it, an international name in ASCII; null: no race has such a host. */
function raced(text: string): string | null {
  const origin = splitHostPort(text) === null ? null : parseOrigin(`https://${text}`);
  return origin?.ok ? hostPort(origin.value.host, origin.value.port) : null;
}

const path = v.pipe(v.string(), v.minLength(1));
const address = v.pipe(
  v.string(),
  v.check((text) => isIP(text) !== 0, 'not an IP address'),
  v.check((text) => !text.includes('%'), 'an address with a zone, which no race takes'),
);
const pinned = v.pipe(
  v.string(),
  v.check((text) => raced(text) !== null, 'not HOST:PORT'),
);
const resolverAddress = v.pipe(
  v.string(),
  v.check((text) => dnsServer(text) !== null, 'not ADDRESS:PORT'),
);
const cidr = v.pipe(v.string(), v.check(isCidr, 'not an address range such as 127.0.0.0/8'));

/** The label that stands for whatever network a machine is on. */
const ANY_FLEET_NETWORK = 'fleet';
const MAX_FLEET_NETWORK_CHARS = 64;

const fleetSchema = v.pipe(
  v.strictObject({
    server: v.pipe(
      v.string(),
      v.regex(/^(?:nats|tls):\/\/[^\s/]+$/, 'not nats://HOST:PORT or tls://HOST:PORT'),
    ),
    bucket: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/, 'not the name of a bucket')),
    creds: v.optional(path),
    nkey: v.optional(path),
    tlsCa: v.optional(path),
    salt: path,
    network: v.optional(
      v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_FLEET_NETWORK_CHARS)),
      ANY_FLEET_NETWORK,
    ),
    publish: v.optional(v.boolean(), false),
  }),
  v.check(({ creds, nkey }) => creds === undefined || nkey === undefined, 'takes creds or nkey, not both'),
);

// Strict: silently ignoring a misspelt setting is worse than an error.
const fileSchema = v.strictObject({
  allowPrivate: v.optional(v.array(cidr), []),
  resolve: v.optional(v.record(pinned, address), {}),
  ca: v.optional(v.array(path), []),
  resolver: v.optional(resolverAddress),
  cache: v.optional(path),
  logs: v.optional(path),
  fleet: v.optional(fleetSchema),
});

/** Every setting that the file may contain. */
export const SETTING_NAMES = Object.keys(fileSchema.entries);

/** XDG Base Directory Specification: a relative value is invalid and ignored. */
function xdg(value: string | undefined, fallback: string): string {
  if (value?.startsWith('/')) return value;
  return join(userHome(), fallback);
}

/** The default path of the settings file. */
export function defaultConfigPath(): string {
  return join(xdg(process.env.XDG_CONFIG_HOME, '.config'), 'photofinish', 'config.json');
}

/** The default path of the host cache. */
export function defaultCachePath(env: NodeJS.ProcessEnv = process.env): string {
  return join(xdg(env.XDG_STATE_HOME, '.local/state'), 'photofinish', 'cache.db');
}

/**
 * The text of a file that passed the checks, which apply to the open file, so that it cannot be replaced in between.
 */
function readSecurely(file: string): string {
  const fd = openRegular(file, constants.O_RDONLY);
  try {
    const reason = insecureFile(fstatSync(fd)) ?? insecurePath(file);
    if (reason !== null) throw new SettingsError(`${file} is refused: ${reason}`);
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

function parseFile(file: string, text: string): v.InferOutput<typeof fileSchema> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new SettingsError(`${file} is not JSON: ${(error as Error).message}`);
  }
  if (Array.isArray(json)) throw new SettingsError(`${file}: settings are an object, not a list`);
  const result = v.safeParse(fileSchema, json);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const name = v.getDotPath(issue) ?? 'settings';
  const names = name.startsWith('fleet.') ? Object.keys(fleetSchema.pipe[0].entries) : SETTING_NAMES;
  const unknown = issue.type === 'strict_object' && issue.expected === 'never';
  const wrong = unknown
    ? `${name} is no setting; there are ${names.join(', ')}`
    : issueText(issue, 'settings');
  throw new SettingsError(`${file}: ${wrong}`);
}

/**
 * Reads the settings from a file, which must exist, or from the default one if that exists. Relative paths in it are
 * relative to the file's own directory. Throws `SettingsError` for a missing explicit file, a file that others could have
 * written, or one that does not match the schema.
 */
export function loadSettings(explicit: string | null = null): Settings {
  const file = resolve(explicit ?? defaultConfigPath());
  let text: string | null = null;
  try {
    text = readSecurely(file);
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    if (error instanceof NotRegularFile) throw new SettingsError(error.message);
    // A HOME such as /dev/null, common for service users, is not a directory and so contains no settings.
    const missing = ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
    if (!missing || explicit !== null)
      throw new SettingsError(`${file} cannot be read: ${(error as Error).message}`);
  }
  const settings = text === null ? v.parse(fileSchema, {}) : parseFile(file, text);
  const here = (relative: string): string => resolve(dirname(file), relative);
  const hereOrNull = (relative: string | undefined) => (relative === undefined ? null : here(relative));
  const fleetOf = ({ creds, nkey, tlsCa, salt, ...fleet }: v.InferOutput<typeof fleetSchema>) => ({
    ...fleet,
    credsFile: hereOrNull(creds),
    nkeyFile: hereOrNull(nkey),
    caFile: hereOrNull(tlsCa),
    saltFile: here(salt),
  });
  return {
    allowPrivate: settings.allowPrivate,
    resolve: new Map(Object.entries(settings.resolve).map(([name, to]) => [raced(name) ?? name, to])),
    ca: settings.ca.map(here),
    resolver: settings.resolver === undefined ? null : dnsServer(settings.resolver),
    cachePath: settings.cache === undefined ? defaultCachePath() : here(settings.cache),
    logsPath: hereOrNull(settings.logs),
    fleet: settings.fleet === undefined ? null : fleetOf(settings.fleet),
    source: text === null ? null : file,
  };
}
