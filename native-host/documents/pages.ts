// The generated parts of docs/, rendered from the code: verdicts and failure codes, the command line's help, the port's
// limits and errors. `npm run docs` runs this file, which writes them; a test compares.
import { MAX_START_DELAY_MS, RACES_AT_ONCE, RACES_PER_MINUTE } from '@photofinish/shared/port/race-limits';
import '@photofinish/shared/language/english';
import { readFile, writeFile } from 'node:fs/promises';
import {
  MAX_FORECAST_ORIGINS,
  MAX_INBOUND_BYTES,
  MAX_OBSERVATIONS,
  MAX_REPLY_BYTES,
  WIRE_ERRORS,
} from '@photofinish/shared/port/wire';
import { CERTIFICATE_REASONS } from '@photofinish/shared/race/terms';
import { markdownCode, markdownTable, markdownText } from '@photofinish/shared/report/markdown';
import { type CodeRow, failureRows, verdictRows } from '@photofinish/shared/verdict/codes';
import { COMMANDS } from '../cli/command-table.ts';
import { helpText } from '../cli/help.ts';
import { MAX_ATTEMPTS_PER_MINUTE, RACE_LIMITS } from '../race/budget.ts';
import { COLUMNS } from '../survey/export-columns.ts';

/** Names of the marks in pages, and the text between them. */
const PARTS: Readonly<Record<string, () => string>> = {
  verdicts: () => codeTable(verdictRows(), 'What to do'),
  failures: () => codeTable(failureRows(), 'Where to look'),
  'certificate reasons': () => `${CERTIFICATE_REASONS.map(markdownCode).join(', ')}.`,
  help: () => helpBlocks().join('\n\n'),
  'port limits': portLimits,
  'port errors': () =>
    markdownTable(
      ['Code', 'What it says'],
      Object.entries(WIRE_ERRORS).map(([code, message]) => [markdownCode(code), markdownText(message)]),
    ).join('\n'),
  'survey columns': () =>
    markdownTable(
      ['Column', 'Type', 'Meaning'],
      COLUMNS.map(({ name, type, means }) => [markdownCode(name), markdownCode(type), means]),
    ).join('\n'),
};

/** The pages with generated parts, relative to docs/. */
export const PAGES_WITH_PARTS = ['verdicts.md', 'cli.md', 'protocol.md', 'survey.md'] as const;

function codeTable(rows: readonly CodeRow[], remedyHead: string): string {
  return markdownTable(
    ['Code', 'In short', 'What it means', remedyHead],
    rows.map(({ code, name, means, remedy, browserOnly }) => [
      `<a id="${code}"></a>${markdownCode(code)}${browserOnly ? ' \\*' : ''}`,
      markdownText(name),
      markdownText(means),
      markdownText(remedy),
    ]),
  ).join('\n');
}

function helpBlocks(): string[] {
  const block = (title: string, text: string): string =>
    `### ${title}\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\``;
  return [
    block('photofinish', helpText(null)),
    ...COMMANDS.map((name) => block(`photofinish ${name}`, helpText(name))),
  ];
}

const kib = (bytes: number): string => `${bytes / 1024} KiB`;

function portLimits(): string {
  return markdownTable(
    ['Limit', 'Value'],
    [
      ['a message to the helper', kib(MAX_INBOUND_BYTES)],
      ['a message from the helper; longer ones travel as `chunk`s', kib(MAX_REPLY_BYTES)],
      ['origins in a `forecast`', `${MAX_FORECAST_ORIGINS}`],
      ['observations in an `observed`', `${MAX_OBSERVATIONS}`],
      ['`startDelayMs` of a `race`', `${MAX_START_DELAY_MS} ms`],
      ['races at once', `${RACES_AT_ONCE}`],
      ['races begun in a minute', `${RACES_PER_MINUTE}`],
      ['attempts of a race', `${RACE_LIMITS.attempts}, at ${RACE_LIMITS.endpoints} endpoints`],
      [
        'bytes and packets of a race, both ways, after which no attempt begins',
        `${kib(RACE_LIMITS.bytes)}, ${RACE_LIMITS.packets}`,
      ],
      [
        'attempts in a minute, after which no race begins',
        `${MAX_ATTEMPTS_PER_MINUTE.click} on clicks, ${MAX_ATTEMPTS_PER_MINUTE.navigation} on first visits`,
      ],
    ],
  ).join('\n');
}

const MARKED = /(<!-- begin generated: ([a-z ]+) -->\n)[\s\S]*?(<!-- end generated -->)/g;

/** The page with its generated parts up to date. Throws for an unknown part. */
export function withParts(page: string): string {
  return page.replace(MARKED, (_, begin: string, name: string, end: string) => {
    const part = PARTS[name];
    if (part === undefined) throw new Error(`no part of a page is called "${name}"`);
    return `${begin}\n${part()}\n\n${end}`;
  });
}

if (import.meta.main)
  for (const name of PAGES_WITH_PARTS) {
    const file = new URL(`../../docs/${name}`, import.meta.url);
    const page = await readFile(file, 'utf8');
    const renewed = withParts(page);
    if (renewed !== page) await writeFile(file, renewed);
    console.log(`docs/${name}${renewed === page ? ' is current' : ' written'}`);
  }
