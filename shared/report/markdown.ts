// Documents in GitHub Flavored Markdown. Text remains text: nothing in it becomes markup, a link, a mention or a
// reference.

import type { Block, ReportDocument, Value } from './document.ts';
import { valueText } from './report-text.ts';

/** Control characters and those that change the direction of text. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;
const ACTIVE = /[\\`*_{}[\]<>#|~&@$]|:(?=\/\/)|\.(?<=www\.)/gi;
/** GitHub looks for mentions and references after rendering Markdown, so escaping alone does not prevent them. */
const REFERRING = /\\[@#]|\bGH(?=-\d)/gi;
const WORD_JOINER = '\u2060';
const NOT_FOR_CODE = /[`|\\]/;

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(UNSEEN, '').trim();
}

/** Any text on one line, for a paragraph or a cell of a table; not for the beginning of a line. */
export function markdownText(text: string): string {
  return oneLine(text)
    .replace(ACTIVE, (active) => `\\${active}`)
    .replace(REFERRING, (referring) => `${referring}${WORD_JOINER}`);
}

/** A name such as an origin as code, which also keeps it from becoming a link. */
export function markdownCode(text: string): string {
  const line = oneLine(text);
  return line === '' || NOT_FOR_CODE.test(line) ? markdownText(line) : `\`${line}\``;
}

/** A table of cells that are Markdown already. */
export function markdownTable(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)];
}

function written(value: Value): string {
  const code = typeof value === 'object' && value.kind === 'host';
  return code ? markdownCode(value.host) : markdownText(valueText(value));
}

function lines(block: Block): string[] {
  switch (block.kind) {
    case 'paragraph':
      return [block.tone === 'strong' ? `**${written(block.words)}**` : written(block.words)];
    case 'list':
      return block.items.map((item) => `- ${written(item)}`);
    case 'warning':
      return [`**${markdownText(block.words)}** ${block.reasons.map(markdownText).join(' ')}`];
    case 'table':
      return markdownTable(
        block.columns.map(({ title }) => written(title)),
        [...block.rows, ...(block.rest ? [block.rest] : [])].map((row) => row.map(written)),
      );
  }
}

/** The document, ending with a line break; its footer is omitted. */
export function documentToMarkdown({ title, conditions, blocks }: ReportDocument): string {
  const under = conditions.map(([, value]) => written(value)).join(' · ');
  const parts = [[`## ${markdownText(title)}`], under === '' ? [] : [under], ...blocks.map(lines)];
  return `${parts
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n')}\n`;
}
