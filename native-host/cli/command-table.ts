// Every command with its options: the single table used for parsing the command line, help, shell completion and "did
// you mean".
import { ATTEMPT_ERROR_CODES } from '@photofinish/shared/race/terms';
import { VERDICT_CODES } from '@photofinish/shared/race/verdict-schema';
import { BROWSER_NAMES } from '../install/browser-names.ts';
import {
  CACHE_FILE,
  type Completion,
  EXPLAIN_OPTIONS,
  flag,
  json,
  type OptionTable,
  RACE_OPTIONS,
  repeatable,
  SURVEY_ACTIONS,
  SURVEY_OPTIONS,
  valued,
} from './option-tables.ts';

export interface CommandSpec {
  /** One line in the overview. */
  readonly summary: string;
  /** Arguments after the name, one string per form. */
  readonly forms: readonly string[];
  /** Possible first arguments; absent: not a closed list. */
  readonly actions?: readonly string[];
  /** Whether arguments are files, for shells. */
  readonly argument?: Completion;
  readonly options: OptionTable;
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export const CACHE_ACTIONS = ['list', 'show', 'forget', 'clear'] as const;
export const CACHE_OPTIONS = {
  cache: CACHE_FILE,
  yes: flag('clear without asking'),
  json: json('photofinish.cache/1'),
} as const satisfies OptionTable;

export const NETWORK_ACTIONS = ['list', 'name', 'unname'] as const;
export const NETWORK_OPTIONS = {
  cache: CACHE_FILE,
  json: json('photofinish.networks/1'),
} as const satisfies OptionTable;

const USER_DATA_DIR = valued(
  'DIR',
  'a Chromium profile elsewhere; nothing outside DIR is written (not on Windows)',
  'directory',
);

function browsers(usual: string) {
  const help = `${BROWSER_NAMES.join(', ')}; may be repeated\n  (default: ${usual})`;
  return repeatable('NAME', help, BROWSER_NAMES);
}

export const INSTALL_OPTIONS = {
  browser: browsers('every browser found'),
  'user-data-dir': USER_DATA_DIR,
  config: valued('FILE', "the helper's settings file", 'file'),
  'extension-id': repeatable(
    'ID',
    "also allow this Chromium extension: a store's edition has an ID of its own; may be repeated",
  ),
  json: json('photofinish.install/1'),
} as const satisfies OptionTable;

export const UNINSTALL_OPTIONS = {
  browser: browsers('all of them'),
  'user-data-dir': USER_DATA_DIR,
  json: json('photofinish.install/1'),
} as const satisfies OptionTable;

export const DOCTOR_OPTIONS = {
  'user-data-dir': valued('DIR', 'check the Chromium profile in DIR instead', 'directory'),
  'extension-id': repeatable('ID', 'expect this Chromium extension to be allowed, too; may be repeated'),
  json: json('photofinish.doctor/1'),
} as const satisfies OptionTable;

export const REPORT_OPTIONS = {
  diff: flag('compare two FILEs'),
  site: repeatable('SITE', 'only this site; may be repeated'),
  html: valued('OUT', 'write one self-contained page to OUT', 'file'),
  csv: valued('OUT', 'write a table to OUT', 'file'),
  markdown: flag('print a summary of at most 40 lines for a ticket'),
  json: flag('print the document itself, checked; with --diff, one photofinish.report-diff/2 document'),
} as const satisfies OptionTable;

export const CODES_OPTIONS = { json: json('photofinish.codes/1') } as const satisfies OptionTable;

const SPECS = {
  race: {
    summary: 'race origins now',
    forms: ['ORIGIN... [OPTIONS]', '- [OPTIONS]'],
    options: RACE_OPTIONS,
  },
  survey: {
    summary: 'race a list from many vantage points, over NATS JetStream',
    forms: [
      'run LIST --out DIR [OPTIONS]',
      'load LIST [OPTIONS]',
      'work --vantage NAME [OPTIONS]',
      'collect DIR [OPTIONS]',
      'status|pause|resume|doctor [OPTIONS]',
      'budget --per-network N|--total N',
      'opt-out [NAME|ADDRESS|CIDR...|-]',
      'withdraw --vantage NAME --worker NAME',
      'export DIR [--out DIR]',
      'report DIR [--html OUT]',
    ],
    actions: SURVEY_ACTIONS,
    argument: 'file',
    options: SURVEY_OPTIONS,
  },
  explain: {
    summary: 'say why HTTP/3 is used there or not, with the evidence',
    forms: ['ORIGIN [OPTIONS]'],
    options: EXPLAIN_OPTIONS,
  },
  report: {
    summary: 'show, convert or compare reports exported by the extension',
    forms: ['FILE... [OPTIONS]', '--diff BEFORE AFTER [OPTIONS]'],
    argument: 'file',
    options: REPORT_OPTIONS,
  },
  cache: {
    summary: 'show the host cache, forget an origin, or clear it',
    forms: ['list [OPTIONS]', 'show ORIGIN [OPTIONS]', 'forget ORIGIN... [OPTIONS]', 'clear [OPTIONS]'],
    actions: CACHE_ACTIONS,
    options: CACHE_OPTIONS,
  },
  network: {
    summary: 'list the networks you were on, and name them',
    forms: ['list [OPTIONS]', 'name [NETWORK] NAME [OPTIONS]', 'unname [NETWORK] [OPTIONS]'],
    actions: NETWORK_ACTIONS,
    options: NETWORK_OPTIONS,
  },
  install: {
    summary: 'let your browsers start the helper',
    forms: ['[OPTIONS]'],
    options: INSTALL_OPTIONS,
  },
  uninstall: { summary: 'remove what install wrote', forms: ['[OPTIONS]'], options: UNINSTALL_OPTIONS },
  doctor: {
    summary: 'check that browsers can start the helper, and that it can race',
    forms: ['[OPTIONS]'],
    options: DOCTOR_OPTIONS,
  },
  codes: {
    summary: 'say what verdicts and failure codes mean, and what to do',
    forms: ['[CODE...] [OPTIONS]'],
    argument: [...VERDICT_CODES, ...ATTEMPT_ERROR_CODES],
    options: CODES_OPTIONS,
  },
  completion: {
    summary: 'print a completion script for your shell',
    forms: [SHELLS.join('|')],
    actions: SHELLS,
    options: {},
  },
} as const satisfies Readonly<Record<string, CommandSpec>>;

export type Command = keyof typeof SPECS;
export const COMMANDS = Object.keys(SPECS) as readonly Command[];
export const TABLE: Readonly<Record<Command, CommandSpec>> = SPECS;
