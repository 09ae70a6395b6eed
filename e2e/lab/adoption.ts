// Measures which protocol a race adopts and how soon there is a connection, over P2's delays and losses, for our
// client, peers and browsers.
import { beginStep, formatDuration, heading, printLine } from '../run/display.ts';
import {
  ADOPTION,
  type AdoptionFindings,
  type AdoptionJournal,
  type AdoptionPlan,
  CELLS,
  type Cell,
  estimate,
  type Line,
  measure,
  planRun,
  progress,
  remaining,
} from './adoption/turns.ts';
import {
  type Client,
  type ClientKind,
  isAbsent,
  type Opener,
  ours,
  type PhotofinishClientOptions,
  type UnavailableClient,
} from './client.ts';
import { BROWSER_CLIENTS } from './clients/browsers.ts';
import { curl, goAltSvc, goRace, quinn, sctpPlain, sctpTls, undici } from './clients/peers.ts';
import {
  BadUsage,
  choose,
  type Experiment,
  loadLines,
  numberOr,
  readOptions,
  readSeed,
  runExperiment,
} from './experiment.ts';
import { briefAccuracy } from './link.ts';
import { openServedTestbed, type ServedTestbed, servedBy } from './testbed.ts';

interface ClientChoice {
  readonly name: string;
  readonly kind: ClientKind;
  /** Measured only on request: shows the effect of one idea. */
  readonly ablation: boolean;
  /** Trials per cell under `--full`. */
  readonly fullTrials: number;
  readonly open: Opener;
}

/** Hypotheses are judged on these. */
const FULL_TRIALS = { ours: 1000, peer: 100, browser: 30 } as const;

type Mode = PhotofinishClientOptions['mode'];
type OwnOptions = Omit<PhotofinishClientOptions, 'name' | 'title' | 'mode'>;

function own(mode: Mode, name: string, title: string, options: OwnOptions = {}): ClientChoice {
  const open = ours({ name, title, mode, ...options });
  return { name, kind: 'ours', ablation: false, fullTrials: FULL_TRIALS.ours, open };
}

/** A race that lacks one idea. */
function ablated(name: string, title: string, options: OwnOptions): ClientChoice {
  return { ...own('race', name, title, options), ablation: true };
}

function other(kind: 'peer' | 'browser', name: string, open: Opener): ClientChoice {
  return { name, kind, ablation: false, fullTrials: FULL_TRIALS[kind], open };
}

const KNOWN = { known: true } as const;
const CLASSICAL = { options: ['--no-post-quantum'] } as const;
const NOT_FRESH = { options: ['--no-fresh-quic'] } as const;
/** quinn's default before it has measured a round trip (RFC 9002 section 6.2.2). */
const UNKNOWN_RTT = { options: ['--initial-rtt', '333'] } as const;
/** P2's fixed connection start delay. */
const FIXED_DELAY = { options: ['--start-delay', '10'] } as const;

export const CLIENTS: readonly ClientChoice[] = [
  own('race', 'race', 'race, first contact'),
  own('race', 'race-known', 'race, known host', KNOWN),
  own('alt-svc', 'alt-svc', 'Alt-Svc, first contact'),
  own('alt-svc', 'alt-svc-known', 'Alt-Svc, known host', KNOWN),
  ablated('race-classical', 'race, first contact, no post-quantum key share', CLASSICAL),
  ablated('race-known-classical', 'race, known host, no post-quantum key share', { ...KNOWN, ...CLASSICAL }),
  ablated('race-one-quic', 'race, first contact, without the fresh QUIC attempt', NOT_FRESH),
  ablated('race-known-one-quic', 'race, known host, without the fresh QUIC attempt', {
    ...KNOWN,
    ...NOT_FRESH,
  }),
  ablated('race-known-default-rtt', 'race, known host, RTT not used for the first Initial', {
    ...KNOWN,
    ...UNKNOWN_RTT,
  }),
  ablated('race-known-fixed-delay', 'race, known host, start delay fixed at 10 ms', {
    ...KNOWN,
    ...FIXED_DELAY,
  }),
  // The client that ours is compared with needs as many trials.
  { ...other('peer', 'go-race', goRace), fullTrials: FULL_TRIALS.ours },
  { ...other('peer', 'go-alt-svc', goAltSvc), fullTrials: FULL_TRIALS.ours },
  other('peer', 'curl', curl),
  other('peer', 'quinn', quinn),
  other('peer', 'undici', undici),
  other('peer', 'sctp-udp', sctpPlain),
  other('peer', 'sctp-udp-tls', sctpTls),
  ...Object.entries(BROWSER_CLIENTS).map(([name, open]) => other('browser', name, open)),
];

const USAGE = `usage: npm run lab -- adoption [OPTION...]
  --full            as many trials as hypotheses are judged on; with the ablations
  --ablations       each idea of ours also on its own
  --trials N        trials of each client in each cell
  --cells A,B       only these links, such as delay-50,loss-10
  --only A,B        only these clients
  --no-browsers     all but the browsers
  --seed N          decides order and losses; default: 1
  --fresh           start a new record instead of resuming the last one`;

interface AdoptionOptions {
  readonly full: boolean;
  readonly trials: Readonly<Record<ClientKind, number>>;
  /** Per cell. */
  readonly trialsOf: (choice: ClientChoice) => number;
  readonly cells: readonly Cell[];
  readonly choices: readonly ClientChoice[];
  readonly seed: number;
  readonly fresh: boolean;
}

const OPTIONS = {
  full: { type: 'boolean', default: false },
  ablations: { type: 'boolean', default: false },
  trials: { type: 'string' },
  cells: { type: 'string' },
  only: { type: 'string' },
  'no-browsers': { type: 'boolean', default: false },
  seed: { type: 'string' },
  fresh: { type: 'boolean', default: false },
} as const;

/** Enough to show a trend. */
const TREND_TRIALS = { ours: 100, peer: 100, browser: 5 } as const;
const MAX_TRIALS = 100_000;

function chooseClients(values: ReturnType<typeof readOptions<typeof OPTIONS>>): readonly ClientChoice[] {
  const chosen =
    values.only === undefined
      ? CLIENTS.filter(({ ablation }) => !ablation || values.ablations || values.full)
      : choose('only', values.only, CLIENTS, ({ name }) => name);
  const choices = chosen.filter(({ kind }) => kind !== 'browser' || !values['no-browsers']);
  if (choices.length === 0)
    throw new BadUsage('--only names nothing but browsers, and --no-browsers no browser');
  return choices;
}

/** Throws BadUsage for the first mistake. */
export function parseOptions(args: readonly string[]): AdoptionOptions {
  const values = readOptions(args, OPTIONS);
  const { full } = values;
  if (full && values.trials !== undefined) throw new BadUsage('choose one of --full and --trials');
  const asked = numberOr(null, 'trials', values.trials, 1, MAX_TRIALS);
  const usual = full ? FULL_TRIALS : TREND_TRIALS;
  const trials = asked === null ? usual : { ours: asked, peer: asked, browser: asked };
  return {
    full,
    trials,
    trialsOf: ({ kind, fullTrials }) => (full ? fullTrials : trials[kind]),
    cells: choose('cells', values.cells, CELLS, ({ id }) => id),
    choices: chooseClients(values),
    seed: readSeed(values.seed),
    fresh: values.fresh,
  };
}

/** Trials per turn; a browser's cold start makes its trials long. */
const BATCH = { ours: 10, peer: 10, browser: 2 } as const;

interface RunOptions extends AdoptionOptions {
  /** Whether to measure the accuracy of the link first, which takes seconds. */
  readonly checksLink: boolean;
}

async function checkLink(): Promise<void> {
  const step = beginStep('how exact the link is');
  const lines = await briefAccuracy();
  step.end(true);
  for (const line of lines) printLine(`    ${line}`);
}

async function openClients(testbed: ServedTestbed, choices: readonly ClientChoice[]) {
  const clients: Client[] = [];
  const absent: UnavailableClient[] = [];
  for (const { name, open } of choices) {
    const step = beginStep(name);
    const opened = await open(testbed);
    if (isAbsent(opened)) {
      absent.push(opened);
      step.end(false, opened.why);
    } else {
      clients.push(opened);
      const versions = Object.entries(opened.versions).map((pair) => pair.join(' '));
      step.end(true, versions.join(', '));
    }
  }
  return { clients, absent };
}

function printMachine({ awake }: ServedTestbed): void {
  for (const line of loadLines(', and times measured now are too long')) printLine(`  ${line}`);
  if (!awake) printLine('  processors may sleep between packets, and times hold their waking up');
}

type Clients = Awaited<ReturnType<typeof open>>;

async function open(choices: readonly ClientChoice[], seed: number) {
  await using opening = new AsyncDisposableStack();
  const step = beginStep('opening the link and the servers');
  const testbed = await openServedTestbed(seed);
  opening.defer(testbed.close);
  step.end(true, `Caddy ${testbed.caddy.version.split(' ')[0]}`);
  heading('Clients');
  const opened = await openClients(testbed, choices);
  for (const client of opened.clients) opening.defer(() => client.close());
  const closing = opening.move();
  return { testbed, ...opened, close: () => closing.disposeAsync() };
}

function planOf(
  { full, trials, cells, choices, trialsOf }: RunOptions,
  { testbed, clients }: Clients,
): AdoptionPlan {
  const portions = clients.flatMap(({ name, title, kind, versions }) => {
    const choice = choices.find((each) => each.name === name);
    if (choice === undefined) return [];
    return { name, title, kind, versions, trials: trialsOf(choice), batch: BATCH[kind] };
  });
  const scenarios = [...cells];
  return { served: servedBy(testbed), full, trials: { ...trials }, scenarios, clients: portions };
}

async function measureOn(
  { seed, checksLink }: RunOptions,
  { testbed, clients }: Clients,
  journal: AdoptionJournal,
): Promise<boolean> {
  heading('Measuring');
  const { meta } = journal;
  const plan = planRun(meta.asked.scenarios, meta.asked.clients, seed);
  const left = remaining(plan, journal);
  const duration = estimate(clients);
  printLine(`  Estimated duration: ${formatDuration(duration.cellsMs(left))}`);
  printMachine(testbed);
  if (checksLink && left.some(({ turns }) => turns.length > 0)) await checkLink();
  await measure({ link: testbed.server, clients, journal, estimate: duration }, left);
  const { made, asked } = progress(journal);
  if (made < asked)
    printLine(`\n${made} of ${asked} trials were measured; run it again to measure the others.`);
  return made === asked;
}

/** Measures what the options select and the journal does not contain yet. */
export function adoption(options: RunOptions): Experiment<AdoptionPlan, AdoptionFindings, Line, Clients> {
  const { seed, fresh, choices } = options;
  return {
    schema: ADOPTION,
    seed,
    fresh,
    open: (drawn) => open(choices, drawn),
    plan: (opened) => planOf(options, opened),
    find: async ({ absent }) => ({ absent }),
    measure: (opened, journal) => measureOn(options, opened, journal),
  };
}

if (import.meta.main)
  await runExperiment(USAGE, (args) => adoption({ ...parseOptions(args), checksLink: true }));
