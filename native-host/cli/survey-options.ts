// `photofinish survey`: its actions and their options, all validated before anything is connected to.
import { hostname } from 'node:os';
import { MAX_LABEL_CHARS } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { DEFAULT_TIMEOUT_MS } from '../race/pacing.ts';
import type { ServerOptions } from '../survey/connect.ts';
import { type Budget, type BudgetChange, budgetSchema } from '../survey/control.ts';
import { optOut } from '../survey/opt-out.ts';
import { nameSchema, SURVEY_MODES } from '../survey/schema.ts';
import { isIdle, linesOf, MAX_LINE_CHARS } from './input-lines.ts';
import { DEFAULT_SEED, SURVEY_ACTIONS, SURVEY_OPTIONS } from './option-tables.ts';
import { readPins, readResolver } from './race-options.ts';
import { Complaint, listed, oneOf, parseCommand, readOrigin, wholeNumber } from './usage.ts';

export type SurveyAction = (typeof SURVEY_ACTIONS)[number];

const DEFAULT_SERVER = 'nats://127.0.0.1:4222';
const DEFAULT_SURVEY = 'survey';
/** What a survey begins with. */
const DEFAULT_BUDGET: Budget = { perNetworkPerSecond: 2, totalPerSecond: 0 };

export type SurveyCommand = Readonly<ReturnType<typeof parseSurveyCommand>>;

function readName(option: string, text: string): string {
  if (v.is(nameSchema, text)) return text;
  throw new Complaint('bad-survey', `--${option} takes up to 32 letters, digits and hyphens, not "${text}"`);
}

function readSeed(text: string): string {
  if (text.length <= MAX_LABEL_CHARS) return text;
  throw new Complaint('bad-survey', `--seed takes up to ${MAX_LABEL_CHARS} characters`);
}

function readRate(option: string, text: string): number {
  const value = /^\d{1,6}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value))
    throw new Complaint(
      'bad-number',
      `--${option} takes races a second, for example 2 or 0.5, not "${text}"`,
    );
  return value;
}

function readBudget(perNetwork: string | undefined, total: string | undefined): BudgetChange {
  const change = {
    ...(perNetwork !== undefined && { perNetworkPerSecond: readRate('per-network', perNetwork) }),
    ...(total !== undefined && { totalPerSecond: readRate('total', total) }),
  };
  if (!v.is(v.partial(budgetSchema), change))
    throw new Complaint('bad-number', '--per-network takes 0.001 to 1000, --total 0 (no limit) to 100000');
  return change;
}

function readContact(text: string): string {
  if (/^[\x21-\x7e]{3,200}$/.test(text) && !/[()\\]/.test(text)) return text;
  throw new Complaint('bad-usage', '--contact takes an address or a URL, which goes into the User-Agent');
}

/** HOST:PORT alone would be read as a URL whose scheme is the host. */
function readMonitor(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && ['http:', 'https:'].includes(url.protocol) && url.username + url.password === '')
    return text;
  throw new Complaint('bad-usage', `--monitor takes a URL, for example http://127.0.0.1:8222, not "${text}"`);
}

/** The hostname as a worker's name. */
export function ownName(): string {
  const name = hostname()
    .replaceAll(/[^A-Za-z0-9-]/g, '-')
    .replace(/^-+/, '')
    .slice(0, 32);
  return name === '' ? 'worker' : name;
}

/** Throws a Complaint for an option of other actions, which would otherwise be ignored silently. */
function checkApplies(option: string, action: SurveyAction): void {
  const { actions }: { readonly actions: readonly SurveyAction[] } =
    SURVEY_OPTIONS[option as keyof typeof SURVEY_OPTIONS];
  if (actions.includes(action)) return;
  throw new Complaint(
    'bad-usage',
    `survey ${action} does not take --${option}, which belongs to ${actions.join(', ')}`,
  );
}

/** The others are of a survey that --survey names, with no further word. */
const WITH_WORDS: readonly SurveyAction[] = ['run', 'load', 'collect', 'export', 'report', 'opt-out'];

/**
 * Throws a Complaint for an argument that would be ignored: usually the name of the survey, of which the default would
 * then be used.
 */
function checkWords(action: SurveyAction, [word]: readonly string[]): void {
  if (word === undefined || WITH_WORDS.includes(action)) return;
  throw new Complaint('bad-usage', `survey ${action} takes no argument "${word}"; --survey names the survey`);
}

/** The command, every value validated. Throws a Complaint for the first mistake. */
export function parseSurveyCommand(args: readonly string[]) {
  const { values, positionals } = parseCommand('survey', args, SURVEY_OPTIONS);
  const [word, ...rest] = positionals;
  if (word === undefined) throw new Complaint('bad-usage', `survey takes ${listed(SURVEY_ACTIONS)}`);
  const action = oneOf('bad-usage', 'survey', word, SURVEY_ACTIONS);
  for (const option of Object.keys(values)) checkApplies(option, action);
  checkWords(action, rest);
  const credentials = [values.creds, values.nkey].filter((file) => file !== undefined);
  if (credentials.length > 1) throw new Complaint('bad-usage', '--creds and --nkey cannot be combined');
  const isOwn = action === 'run' && values.server === undefined;
  if (isOwn && [...credentials, values['tls-ca']].some((file) => file !== undefined))
    throw new Complaint('bad-usage', 'survey run takes --creds, --nkey and --tls-ca only with --server');
  const server: ServerOptions = {
    servers: values.server ?? [DEFAULT_SERVER],
    credsFile: values.creds ?? null,
    nkeyFile: values.nkey ?? null,
    caFile: values['tls-ca'] ?? null,
  };
  const budgetChange = readBudget(values['per-network'], values.total);
  return {
    action,
    /** What follows the action. */
    rest,
    survey: readName('survey', values.survey ?? DEFAULT_SURVEY),
    /** Null: one of its own is started. */
    server: isOwn ? null : server,
    vantage: values.vantage === undefined ? null : readName('vantage', values.vantage),
    worker: values.worker === undefined ? null : readName('worker', values.worker),
    out: values.out,
    html: values.html,
    json: values.json ?? false,
    monitor: values.monitor === undefined ? null : readMonitor(values.monitor),
    /** Whether it ends when nothing is left. */
    drain: values.drain ?? false,
    replicas: wholeNumber('replicas', values.replicas, 1, 5, 1),
    seed: readSeed(values.seed ?? DEFAULT_SEED),
    mode: oneOf('bad-mode', '--mode', values.mode ?? 'race', SURVEY_MODES),
    trials: wholeNumber('trials', values.trials, 1, 100_000, null),
    timeoutMs: wholeNumber('timeout', values.timeout, 1, 600_000, DEFAULT_TIMEOUT_MS),
    canaries: (values.canary ?? []).map((text) => readOrigin(text).origin),
    contact: values.contact === undefined ? null : readContact(values.contact),
    /** What a survey begins with. */
    budget: { ...DEFAULT_BUDGET, ...budgetChange },
    /** The part of it that the command line sets. */
    budgetChange,
    concurrency: wholeNumber('concurrency', values.concurrency, 1, 256, null),
    caFiles: values.ca ?? [],
    pins: readPins(values.resolve ?? []),
    resolver: values.resolver === undefined ? null : readResolver(values.resolver),
    allowPrivate: values['allow-private'] ?? false,
    /** Whether a worker uses and extends what other machines share. */
    fleet: values.fleet ?? false,
  };
}

/** Means standard input in place of entries: a command line cannot hold as many as a list. */
const INPUT = '-';

async function entriesIn(input: AsyncIterable<string>): Promise<readonly string[]> {
  const entries: string[] = [];
  for await (const line of linesOf(input, MAX_LINE_CHARS)) if (!isIdle(line)) entries.push(line.trim());
  if (entries.length === 0) throw new Complaint('bad-usage', 'standard input names nothing to opt out');
  return entries;
}

/** The entries, read one a line from `input` if the only word is `-`. Rejects with a Complaint for the first mistake. */
export async function readOptOut(
  words: readonly string[],
  input: () => AsyncIterable<string>,
): Promise<readonly string[]> {
  const isInput = words.includes(INPUT);
  if (isInput && words.length > 1)
    throw new Complaint(
      'bad-usage',
      `give entries on the command line or read them with "${INPUT}", not both`,
    );
  const entries = isInput ? await entriesIn(input()) : words;
  const read = optOut(entries);
  if (!read.ok) throw new Complaint('bad-usage', read.message);
  return entries;
}
