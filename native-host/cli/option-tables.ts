// The options of the commands that race, with their help: race, explain and survey share what they resolve, trust and
// wait for.
import { MAX_PAIRS, MIN_CLEAR_PAIRS } from '@photofinish/shared/race/statistics';
import { MEMORIES, MODES } from '@photofinish/shared/race/terms';
import {
  ABSOLUTE_MIN_ATTEMPT_DELAY_MS,
  ATTEMPT_DELAY_MS,
  DEFAULT_TIMEOUT_MS,
  MAX_ATTEMPT_DELAY_MS,
  TCP_ATTEMPT_DELAY_MS,
} from '../race/pacing.ts';

/** Completion of a value by the shell: fixed words, or paths. */
export type Completion = readonly string[] | 'file' | 'directory';

export interface OptionSpec {
  readonly type: 'string' | 'boolean';
  readonly multiple?: true;
  /** Placeholder of the value in help. */
  readonly value?: string;
  /** Wrapped where it is shown; what follows a line break is a list. */
  readonly help: string;
  readonly complete?: Completion | undefined;
}
export type OptionTable = Readonly<Record<string, OptionSpec>>;

export function flag(help: string) {
  return { type: 'boolean', help } as const;
}

/** An option with a value, which help calls `value`. */
export function valued(value: string, help: string, complete?: Completion) {
  return { type: 'string', value, help, complete } as const;
}

/** The same, for any number of values. */
export function repeatable(value: string, help: string, complete?: Completion) {
  return { ...valued(value, help, complete), multiple: true } as const;
}

export const MAX_CONCURRENT_LINES = 4096;
/** With more at a time, on any machine, the times may reflect the machine; see docs/cli.md. */
export const MAX_UNDISTORTED_RACES = 16;

/** Divides standard input among machines, and keys the order of a survey: two of one list then compare line by line. */
export const DEFAULT_SEED = 'photofinish';
export const MAX_SHARDS = 10_000;

/** `--json`, which every command that reports anything has. */
export function json(document: string) {
  return flag(`print one ${document} document`);
}

export const CACHE_FILE = valued('FILE', 'use this host cache file', 'file');

/** Time-out, and how hosts are resolved and trusted: common to all commands that race. */
const COMMON_RACE_OPTIONS = {
  timeout: valued('MS', `limit for one trial, 1 to 600000 (default ${DEFAULT_TIMEOUT_MS})`),
  ca: repeatable('FILE', 'also trust the PEM certificates in FILE; may be repeated', 'file'),
  resolve: repeatable('HOST:PORT:ADDRESS', 'connect to ADDRESS without querying DNS; may be repeated'),
  resolver: valued('ADDR:PORT', "query this DNS server instead of the system's; the port is 53 unless given"),
  cache: CACHE_FILE,
} as const satisfies OptionTable;

const ALLOW_PRIVATE = flag('allow loopback, private and link-local addresses');

export const RACE_OPTIONS = {
  mode: valued(
    'MODE',
    `${MODES.join(', ')} (default race)
  race     HTTP/3 first, HTTP/2 after the start delay;
           the first to establish is adopted
  v3       Happy Eyeballs v3: one list of protocols
           and address families
  alt-svc  HTTP/2 first, HTTP/3 where it is advertised
  naive    both at once
  compare  each on its own, in turn: the only mode
           that measures a gain
  h3, h2   one protocol only`,
    MODES,
  ),
  trials: valued(
    'N',
    `trials per origin, 1 to 100000 (default 1); in mode compare at most N pairs (default ${MAX_PAIRS}): it stops once the result is clear, which takes at least ${MIN_CLEAR_PAIRS} pairs`,
  ),
  concurrency: valued(
    'N',
    `trials at a time, 1 to 256 (default 1); with -, races at a time, 1 to ${MAX_CONCURRENT_LINES}; further lines wait, reported once as races-wait (default: 4, then as many as this machine can run without distorting the times). Above ${MAX_UNDISTORTED_RACES} the times may reflect this machine (many-at-once)`,
  ),
  memory: valued(
    'MEMORY',
    `how the host cache is used: none, hints or full
  none   read nothing, write nothing
  hints  read round-trip times, failures and Alt-Svc,
         but not the decision; write no outcome
  full   read everything, write the outcome
  (default full for one trial, none for several)`,
    MEMORIES,
  ),
  fleet: flag(
    "use what machines of your organisation share, and share the outcomes (needs 'fleet' in the settings, and --memory hints or full; with hints, no outcome is published)",
  ),
  'start-delay': valued(
    'MS',
    `head start of HTTP/3, 0 to 10000\n  (default ${TCP_ATTEMPT_DELAY_MS}, more where the path is known)`,
  ),
  'attempt-delay': valued(
    'MS',
    `Connection Attempt Delay (RFC 8305): how long to wait for an address before trying the next in parallel, ${ABSOLUTE_MIN_ATTEMPT_DELAY_MS} to ${MAX_ATTEMPT_DELAY_MS}\n  (default ${ATTEMPT_DELAY_MS}, or what is known of the path)`,
  ),
  'fresh-quic': flag(
    'modes race and h3 make one more QUIC attempt when the first handshake is overdue; do so for an unknown host that has not responded at all, too',
  ),
  'no-fresh-quic': flag('never make that second QUIC attempt'),
  'initial-rtt': valued(
    'MS',
    "QUIC's RTT estimate before it has measured one, 1 to 10000; the first retransmission comes after three times that (default 67, or what is known of the path; 333 in RFC 9002)",
  ),
  'no-post-quantum': flag('offer only elliptic-curve key shares, none with ML-KEM, over both TCP and QUIC'),
  ...COMMON_RACE_OPTIONS,
  network: valued(
    'NETWORK',
    'record the outcomes under this network (its key, or the name you gave it) instead of detecting it; any other text is the label of a network of its own',
  ),
  'allow-private': ALLOW_PRIVATE,
  shard: valued(
    'K/N',
    'with -, race only the Kth of N shares of the origins; together, the N shares contain each origin exactly once',
  ),
  seed: valued('SEED', `how --shard divides them (default ${DEFAULT_SEED})`),
  resume: valued('FILE', 'with -, record progress in FILE, and continue from there if FILE exists', 'file'),
  json: json('photofinish.race/1'),
} as const satisfies OptionTable;

export const EXPLAIN_OPTIONS = {
  trials: valued(
    'N',
    `most pairs in the comparison, 1 to 100000 (default ${MAX_PAIRS}); it stops once the result is clear, which takes at least ${MIN_CLEAR_PAIRS} pairs`,
  ),
  ...COMMON_RACE_OPTIONS,
  network: valued(
    'NETWORK',
    'read from and record under this network (its key, or the name you gave it) instead of detecting it; any other text is the label of a network of its own',
  ),
  'allow-private': ALLOW_PRIVATE,
  json: json('photofinish.explain/1'),
} as const satisfies OptionTable;

export const SURVEY_ACTIONS = [
  'run',
  'load',
  'work',
  'collect',
  'status',
  'export',
  'report',
  'pause',
  'resume',
  'budget',
  'opt-out',
  'withdraw',
  'doctor',
] as const;
type SurveyAction = (typeof SURVEY_ACTIONS)[number];

/** An option of these actions alone, which its help names first. */
function of<const Spec extends OptionSpec>(actions: readonly SurveyAction[], spec: Spec) {
  return { ...spec, help: `${actions.join(', ')}: ${spec.help}`, actions };
}

/** An option of all actions on a server. */
function onServer<const Spec extends OptionSpec>(spec: Spec) {
  return { ...spec, actions: SURVEY_ACTIONS.filter((action) => action !== 'export' && action !== 'report') };
}

const LOADING = ['run', 'load'] as const;
const WORKING = ['run', 'work'] as const;
const BUDGETING = ['run', 'load', 'budget'] as const;
const NAMING_A_WORKER = ['run', 'work', 'withdraw'] as const;

/** Each with the actions that it applies to. */
export const SURVEY_OPTIONS = {
  survey: onServer(valued('NAME', 'the survey (default survey)')),
  server: onServer(
    repeatable(
      'URL',
      'NATS server with JetStream, or those of a cluster (default nats://127.0.0.1:4222; run starts its own)',
    ),
  ),
  creds: onServer(valued('FILE', 'NATS credentials', 'file')),
  nkey: onServer(valued('FILE', 'NATS nkey seed', 'file')),
  'tls-ca': onServer(valued('FILE', 'CA certificates (PEM) to verify the NATS server with', 'file')),
  monitor: of(['doctor'], valued('URL', "the server's monitoring address")),
  vantage: of(NAMING_A_WORKER, valued('NAME', 'where the machine is, for example office-1')),
  worker: of(
    NAMING_A_WORKER,
    valued('NAME', "one of several workers at a vantage point (default of run and work: the host's name)"),
  ),
  drain: of(['work', 'collect'], flag('end when nothing is left')),
  out: of(['run', 'export'], valued('DIR', 'where the archive, or Parquet, goes', 'directory')),
  html: of(['report'], valued('OUT', 'write the page to OUT', 'file')),
  seed: of(LOADING, valued('TEXT', `determines the order of the jobs (default ${DEFAULT_SEED})`)),
  replicas: of(LOADING, valued('N', 'copies in a cluster, 1 to 5 (default 1)')),
  mode: of(
    LOADING,
    valued(
      'MODE',
      'as in race, without v3 (default race)',
      MODES.filter((mode) => mode !== 'v3'),
    ),
  ),
  trials: of(LOADING, valued('N', 'trials per job, or pairs at most')),
  canary: of(
    LOADING,
    repeatable(
      'ORIGIN',
      'an origin reachable from everywhere; while a vantage point cannot reach it, that vantage point withholds its results; may be repeated',
    ),
  ),
  contact: of(LOADING, valued('URL', 'who you are, for the User-Agent')),
  'per-network': of(BUDGETING, valued('N', 'races a second for each /24 and /48 (default 2)')),
  total: of(BUDGETING, valued('N', 'races a second in total (default 0: no limit)')),
  concurrency: of(WORKING, valued('N', 'races at a time (default: as many as do not distort the times)')),
  fleet: of(
    WORKING,
    flag(
      "use what machines of your organisation share, and share the outcomes (needs 'fleet' in the settings); for crawlers: the races are then not cold",
    ),
  ),
  timeout: of(LOADING, COMMON_RACE_OPTIONS.timeout),
  ca: of(WORKING, COMMON_RACE_OPTIONS.ca),
  resolve: of(WORKING, COMMON_RACE_OPTIONS.resolve),
  resolver: of(WORKING, COMMON_RACE_OPTIONS.resolver),
  'allow-private': of(WORKING, ALLOW_PRIVATE),
  json: of(
    ['status', 'export'],
    flag('print one photofinish.survey-status/1 or photofinish.survey-export/1 document'),
  ),
} as const satisfies OptionTable;
