// `photofinish race`: its options, all validated before anything is raced.
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { MAX_PAIRS } from '@photofinish/shared/race/statistics';
import { MEMORIES, MODES, type Mode } from '@photofinish/shared/race/terms';
import { type OriginParts, parseOrigin } from '@photofinish/shared/web/origin';
import { MAX_LABEL_CHARS } from '@photofinish/shared/web/untrusted';
import { withoutZone } from '../address/address-bytes.ts';
import { dnsServer } from '../config.ts';
import { pinName } from '../discover/known-hosts.ts';
import { commandLine } from '../install/own-command.ts';
import {
  ABSOLUTE_MIN_ATTEMPT_DELAY_MS,
  DEFAULT_TIMEOUT_MS,
  MAX_ATTEMPT_DELAY_MS,
  type PacingOptions,
} from '../race/pacing.ts';
import { DEFAULT_SEED, MAX_CONCURRENT_LINES, MAX_SHARDS, RACE_OPTIONS } from './option-tables.ts';
import { Complaint, oneOf, parseCommand, readOrigin, wholeNumber } from './usage.ts';

/**
 * Which of several machines races a line (`--shard K/N`). Each decides alone, from a keyed hash of the origin, so that
 * they share any list without a server, whatever the order of its lines.
 */
export interface Shard {
  /** From 1 to `of`. */
  readonly index: number;
  readonly of: number;
  /** Machines that share a list have the same. */
  readonly seed: string;
}

/** Of the hash; the remainder is then as good as uniform. */
const HASH_BYTES = 6;

/** Parses `K/N`. Throws a Complaint. */
export function readShard(text: string, seed: string = DEFAULT_SEED): Shard {
  const match = /^(\d{1,5})\/(\d{1,5})$/.exec(text);
  const [index, of] = [Number(match?.[1]), Number(match?.[2])];
  if (!(index >= 1 && index <= of && of <= MAX_SHARDS))
    throw new Complaint(
      'bad-number',
      `--shard takes K/N, with K from 1 to N and N at most ${MAX_SHARDS}, not "${text}"`,
    );
  if (seed === '' || seed.length > MAX_LABEL_CHARS)
    throw new Complaint('bad-usage', `--seed takes 1 to ${MAX_LABEL_CHARS} characters`);
  return { index, of, seed };
}

/** Whether a shard has this origin; each origin is in exactly one of N with the same seed. */
export function inShard({ index, of, seed }: Shard, origin: string): boolean {
  // No origin contains a line feed, so no two pairs of seed and origin are hashed alike.
  const hash = createHash('sha256').update(`${seed}\n${origin}`).digest().readUIntBE(0, HASH_BYTES);
  return hash % of === index % of;
}

export type RaceCommand = Readonly<ReturnType<typeof parseRaceCommand>>;

const MAX_NETWORK_CHARS = 64;
/** The first retransmission would be after half a minute: longer than any race. */
const MAX_INITIAL_RTT_MS = 10_000;
/** Means standard input in place of origins. */
const INPUT = '-';

function readOrigins(texts: readonly string[]): readonly OriginParts[] {
  if (texts.length === 0)
    throw new Complaint(
      'bad-usage',
      `race needs at least one origin, for example: ${commandLine('race', 'example.org')}`,
    );
  if (texts.includes(INPUT))
    throw new Complaint(
      'bad-usage',
      `give origins on the command line or read them with "${INPUT}", not both`,
    );
  const origins = texts.map(readOrigin);
  return [...new Map(origins.map((parts) => [parts.origin, parts])).values()];
}

function readPort(text: string): number | null {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65535 ? port : null;
}

/** Addresses by `host:port`, and which of them no race has asked for. */
export class Pins extends Map<string, string> {
  readonly unused = new Set<string>();

  override get(name: string): string | undefined {
    this.unused.delete(name);
    return super.get(name);
  }
}

/** Parses `HOST:PORT:ADDRESS` like curl; an IPv6 address may be in brackets. */
export function readPins(texts: readonly string[]): Pins {
  const pins = new Pins();
  for (const text of texts) {
    const wrong = (why: string): Complaint =>
      new Complaint('bad-resolve', `--resolve takes HOST:PORT:ADDRESS; in "${text}" ${why}`);
    const match = /^(\[[^\]]*\]|[^:]*):([^:]*):(.+)$/.exec(text);
    if (match === null) throw wrong('a part is missing');
    const [, host = '', portText = '', address = ''] = match;
    const port = readPort(portText);
    if (port === null) throw wrong(`the port "${portText}" is not from 1 to 65535`);
    const literal = address.replace(/^\[(.+)\]$/, '$1');
    if (isIP(literal) === 0) throw wrong(`"${address}" is not an IP address`);
    if (withoutZone(literal) !== literal) throw wrong(`"${address}" has a zone, which no race takes`);
    const origin = parseOrigin(`https://${host}:${port}`);
    if (host === '' || !origin.ok) throw wrong(`"${host}" is not a host name`);
    const name = pinName(origin.value.host, port);
    pins.set(name, literal);
    pins.unused.add(name);
  }
  return pins;
}

/** Parses `ADDR:PORT` of a DNS server; the default port is 53. */
export function readResolver(text: string): string {
  const server = dnsServer(text);
  if (server === null)
    throw new Complaint('bad-resolver', `--resolver takes ADDRESS:PORT with an IP address, not "${text}"`);
  return server;
}

function readNetwork(text: string): string {
  if (text.length === 0 || text.length > MAX_NETWORK_CHARS || /\p{Cc}/u.test(text))
    throw new Complaint('bad-network', `--network takes a name of 1 to ${MAX_NETWORK_CHARS} characters`);
  return text;
}

function readHedge(wanted = false, forbidden = false): boolean | null {
  if (wanted && forbidden)
    throw new Complaint('bad-usage', '--fresh-quic and --no-fresh-quic cannot be combined');
  return wanted || forbidden ? wanted : null;
}

/**
 * The options for requests from standard input: the share to race, null for all of it, and the file that notes how far it
 * has been raced.
 */
function readInputOptions(
  { shard, seed, resume }: Readonly<Partial<Record<'shard' | 'seed' | 'resume', string>>>,
  fromInput: boolean,
) {
  if (!fromInput && (shard ?? seed ?? resume) !== undefined)
    throw new Complaint('bad-usage', `--shard, --seed and --resume are for origins read with "${INPUT}"`);
  if (seed !== undefined && shard === undefined)
    throw new Complaint('bad-usage', '--seed is for --shard, which is missing');
  return { shard: shard === undefined ? null : readShard(shard, seed), resumeFile: resume ?? null };
}

/** How many trials, or pairs at most, an origin gets. */
function trialsIn(mode: Mode, trials: number | null): number {
  return trials ?? (mode === 'compare' ? MAX_PAIRS : 1);
}

/** The command as it applies to a line that names this mode: several trials are cold, unless a memory was asked for. */
export function commandFor(command: RaceCommand, mode: Mode): RaceCommand {
  const trials = trialsIn(mode, command.trialsAsked);
  const memory = trials > 1 && !command.memoryAsked ? 'none' : command.memory;
  return { ...command, mode, trials, memory };
}

/** The command, every value validated. Throws a Complaint for the first mistake. */
export function parseRaceCommand(args: readonly string[]) {
  const { values, positionals } = parseCommand('race', args, RACE_OPTIONS);
  const mode = oneOf('bad-mode', '--mode', values.mode ?? 'race', MODES);
  const trialsAsked = wholeNumber('trials', values.trials, 1, 100_000, null);
  const trials = trialsIn(mode, trialsAsked);
  const usualMemory = trials > 1 ? 'none' : 'full';
  const memory = oneOf('bad-memory', '--memory', values.memory ?? usualMemory, MEMORIES);
  const fleet = values.fleet ?? false;
  if (fleet && memory === 'none')
    throw new Complaint(
      'bad-usage',
      '--fleet needs --memory hints or full; several trials use none by default',
    );
  const hedge = readHedge(values['fresh-quic'], values['no-fresh-quic']);
  if (hedge === true && mode !== 'race' && mode !== 'h3')
    throw new Complaint('bad-usage', '--fresh-quic is for modes race and h3 only');
  const fromInput = positionals.length === 1 && positionals[0] === INPUT;
  const most = fromInput ? MAX_CONCURRENT_LINES : 256;
  const concurrencyAsked = wholeNumber('concurrency', values.concurrency, 1, most, null);
  const pacing: PacingOptions = {
    tcpAttemptDelayMs: wholeNumber('start-delay', values['start-delay'], 0, 10_000, null),
    attemptDelayMs: wholeNumber(
      'attempt-delay',
      values['attempt-delay'],
      ABSOLUTE_MIN_ATTEMPT_DELAY_MS,
      MAX_ATTEMPT_DELAY_MS,
      null,
    ),
    hedge,
    initialRttMs: wholeNumber('initial-rtt', values['initial-rtt'], 1, MAX_INITIAL_RTT_MS, null),
  };
  return {
    /** Empty if they are read line by line. */
    origins: fromInput ? [] : readOrigins(positionals),
    /** Whether requests are read from standard input. */
    fromInput,
    mode,
    memory,
    /** Whether that was given explicitly: several trials have another default. */
    memoryAsked: values.memory !== undefined,
    /** Whether what other machines share is used, and the outcomes are shared. */
    fleet,
    /** Trials per origin; in mode `compare` the maximum number of pairs. */
    trials,
    /** The same if given explicitly: a line of standard input may name a mode with a different default. */
    trialsAsked,
    /** Concurrent trials for origins on the command line. */
    concurrency: concurrencyAsked ?? 1,
    /** The same if given explicitly: races from standard input are otherwise paced adaptively. */
    concurrencyAsked,
    pacing,
    /** Whether ML-KEM key shares are offered. */
    postQuantum: !(values['no-post-quantum'] ?? false),
    timeoutMs: wholeNumber('timeout', values.timeout, 1, 600_000, DEFAULT_TIMEOUT_MS),
    /** PEM files with additional trust anchors. */
    caFiles: values.ca ?? [],
    pins: readPins(values.resolve ?? []),
    /** Null: the system's. */
    resolver: values.resolver === undefined ? null : readResolver(values.resolver),
    cacheFile: values.cache ?? null,
    /** Replaces the detected network. */
    network: values.network === undefined ? null : readNetwork(values.network),
    allowPrivate: values['allow-private'] ?? false,
    ...readInputOptions(values, fromInput),
    json: values.json ?? false,
  };
}
