// `photofinish race`: its options, checked one by one before anything is raced.
import { isIP } from 'node:net';
import { type OriginParts, parseOrigin } from '@photofinish/shared/origin';
import { MEMORIES, type Memory, MODES, type Mode } from '@photofinish/shared/outcome';
import { pinName } from '../discover/pins.ts';
import { LEAST_ATTEMPT_DELAY_MS, MAX_ATTEMPT_DELAY_MS } from '../race/known-path.ts';
import { DEFAULT_PAIRS, DEFAULT_TIMEOUT_MS } from '../race/run.ts';
import { Complaint, oneOf, parseCommand, wholeNumber } from './usage.ts';

export interface RaceCommand {
  readonly origins: readonly OriginParts[];
  readonly mode: Mode;
  readonly memory: Memory;
  /** Trials for each origin; in mode `compare` pairs. */
  readonly trials: number;
  readonly concurrency: number;
  /** Head start of HTTP/3, null unless asked for. */
  readonly startDelayMs: number | null;
  /** The Connection Attempt Delay, null unless asked for. */
  readonly attemptDelayMs: number | null;
  /** One fresh QUIC attempt beside a first one that was not answered. */
  readonly freshQuic: boolean;
  readonly timeoutMs: number;
  /** PEM files of further trust anchors. */
  readonly caFiles: readonly string[];
  /** `host:port` to address literal. */
  readonly pins: ReadonlyMap<string, string>;
  /** `address:port` of the DNS server, null for the system's. */
  readonly resolver: string | null;
  readonly cacheFile: string | null;
  /** Names the network instead of recognising it. */
  readonly network: string | null;
  readonly allowPrivate: boolean;
  readonly json: boolean;
}

const MAX_NETWORK_CHARS = 64;

/** How often, how long, and how hosts are found and trusted: what every command that races can be told. */
export const FINDING_OPTIONS = {
  trials: { type: 'string' },
  timeout: { type: 'string' },
  ca: { type: 'string', multiple: true },
  resolve: { type: 'string', multiple: true },
  resolver: { type: 'string' },
  cache: { type: 'string' },
  network: { type: 'string' },
  'allow-private': { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

const OPTIONS = {
  mode: { type: 'string' },
  memory: { type: 'string' },
  concurrency: { type: 'string' },
  'start-delay': { type: 'string' },
  'attempt-delay': { type: 'string' },
  'fresh-quic': { type: 'boolean' },
  ...FINDING_OPTIONS,
} as const;

function readOrigins(texts: readonly string[]): readonly OriginParts[] {
  if (texts.length === 0)
    throw new Complaint(
      'bad-usage',
      'race needs at least one origin, for example: photofinish race example.org',
    );
  const origins = new Map<string, OriginParts>();
  for (const text of texts) {
    const result = parseOrigin(text);
    if (!result.ok) throw new Complaint('bad-origin', result.message);
    origins.set(result.value.origin, result.value);
  }
  return [...origins.values()];
}

function readPort(text: string): number | null {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65535 ? port : null;
}

function withoutBrackets(text: string): string {
  return text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
}

/** Reads `HOST:PORT:ADDRESS` as curl does; an IPv6 address may stand in brackets. */
function readPins(texts: readonly string[]): ReadonlyMap<string, string> {
  const pins = new Map<string, string>();
  for (const text of texts) {
    const wrong = (why: string): Complaint =>
      new Complaint('bad-resolve', `--resolve takes HOST:PORT:ADDRESS, and in "${text}" ${why}`);
    const match = /^(\[[^\]]*\]|[^:]*):([^:]*):(.+)$/.exec(text);
    if (match === null) throw wrong('a part is missing');
    const [, host = '', portText = '', address = ''] = match;
    const port = readPort(portText);
    if (port === null) throw wrong(`the port "${portText}" is not from 1 to 65535`);
    const literal = withoutBrackets(address);
    if (isIP(literal) === 0) throw wrong(`"${address}" is not an IP address`);
    const origin = parseOrigin(`https://${host}:${port}`);
    if (host === '' || !origin.ok) throw wrong(`"${host}" is not a host name`);
    pins.set(pinName(origin.value.host, port), literal);
  }
  return pins;
}

/** Reads `ADDR:PORT` of a DNS server; the port may be left out (53). */
function readResolver(text: string): string {
  const bare = withoutBrackets(text);
  if (isIP(bare) === 4) return `${bare}:53`;
  if (isIP(bare) === 6) return `[${bare}]:53`;
  const match = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(text);
  const port = match?.[2] === undefined ? null : readPort(match[2]);
  if (match?.[1] === undefined || port === null || isIP(withoutBrackets(match[1])) === 0)
    throw new Complaint('bad-resolver', `--resolver takes ADDRESS:PORT with an IP address, not "${text}"`);
  return `${match[1]}:${port}`;
}

function readNetwork(text: string): string {
  if (text.length === 0 || text.length > MAX_NETWORK_CHARS || /\p{Cc}/u.test(text))
    throw new Complaint('bad-network', `--network takes a name of 1 to ${MAX_NETWORK_CHARS} characters`);
  return text;
}

/** The command, every value checked. Throws a Complaint for the first mistake. */
export function parseRaceCommand(args: readonly string[]): RaceCommand {
  const { values, positionals } = parseCommand('race', args, OPTIONS);
  const mode = oneOf('bad-mode', 'mode', values.mode, MODES, 'race');
  const trials = wholeNumber('trials', values.trials, 1, 100_000, mode === 'compare' ? DEFAULT_PAIRS : 1);
  const memory = oneOf('bad-memory', 'memory', values.memory, MEMORIES, trials > 1 ? 'none' : 'full');
  const freshQuic = values['fresh-quic'] ?? false;
  if (freshQuic && mode !== 'race') throw new Complaint('bad-usage', '--fresh-quic is for mode race only');
  return {
    origins: readOrigins(positionals),
    mode,
    memory,
    trials,
    concurrency: wholeNumber('concurrency', values.concurrency, 1, 256, 1),
    startDelayMs: wholeNumber('start-delay', values['start-delay'], 0, 10_000, null),
    attemptDelayMs: wholeNumber(
      'attempt-delay',
      values['attempt-delay'],
      LEAST_ATTEMPT_DELAY_MS,
      MAX_ATTEMPT_DELAY_MS,
      null,
    ),
    freshQuic,
    timeoutMs: wholeNumber('timeout', values.timeout, 1, 600_000, DEFAULT_TIMEOUT_MS),
    caFiles: values.ca ?? [],
    pins: readPins(values.resolve ?? []),
    resolver: values.resolver === undefined ? null : readResolver(values.resolver),
    cacheFile: values.cache ?? null,
    network: values.network === undefined ? null : readNetwork(values.network),
    allowPrivate: values['allow-private'] ?? false,
    json: values.json ?? false,
  };
}
