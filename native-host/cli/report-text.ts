// Reports and comparisons as text for a terminal: tables if they fit, otherwise a paragraph per row.
import type { Block, ReportDocument, Row, Table, Value } from '@photofinish/shared/report/document';
import { ratioWords, valueWords } from '@photofinish/shared/report/report-words';
import { type Paint, printable, table, wrapped } from './text.ts';

const INDENT = '  ';

function words(value: Value): string {
  // Narrow, so that a row of shares fits a terminal.
  const narrow = typeof value === 'object' && value.kind === 'adoption';
  return printable(narrow ? ratioWords(value.adoption.h3, value.adoption.known) : valueWords(value));
}

/** A row too wide for columns: its key on one line, and each sentence below. */
function entry(cells: Row, { columns }: Table, paint: Paint): string[] {
  const named = columns.map((column, i) => ({ ...column, value: cells[i] ?? '' }));
  const isLong = ({ kind }: (typeof named)[number]) => kind === 'verdict' || kind === 'side';
  const name = named
    .filter((each) => !isLong(each))
    .map(({ value }) => {
      const host = typeof value === 'object' && value.kind === 'host';
      return host ? paint('bold', words(value)) : words(value);
    });
  const long = named.filter(isLong);
  const label = (title: string) => (long.length > 1 ? `${INDENT}${title.toLowerCase()}` : '');
  const width = Math.max(0, ...long.map(({ title }) => label(words(title)).length)) + INDENT.length;
  const lines = long.flatMap(({ title, value }) =>
    wrapped(words(value), label(words(title)).padEnd(width), ' '.repeat(width)),
  );
  return ['', name.join(' · '), ...lines];
}

function tableLines(block: Table, paint: Paint): string[] {
  if (block.columns.some(({ kind }) => kind === 'verdict' || kind === 'side'))
    return block.rows.flatMap((row) => entry(row, block, paint)).slice(1);
  return table(
    block.columns.map(({ kind, title }) => ({
      title: words(title).toUpperCase(),
      align: kind === 'number' ? 'right' : 'left',
    })),
    block.rows.map((row) => row.map((value) => ({ text: words(value) }))),
    paint,
  );
}

function lines(block: Block, paint: Paint): string[] {
  switch (block.kind) {
    case 'paragraph':
      return wrapped(words(block.words), '').map((line) =>
        block.tone === 'strong' ? paint('bold', line) : line,
      );
    case 'list':
      return block.items.flatMap((item) => wrapped(words(item), '- ', INDENT));
    case 'warning':
      return [
        ...wrapped(printable(block.words), ''),
        ...block.reasons.flatMap((reason) =>
          wrapped(printable(reason), '- ', INDENT).map((line) => paint('yellow', line)),
        ),
      ];
    case 'table':
      return tableLines(block, paint);
  }
}

/** The document, with blank lines between blocks and without its footer, which is for saved documents. */
export function documentText({ title, conditions, blocks }: ReportDocument, paint: Paint): string {
  const under = conditions.map(([, value]) => words(value)).join(' · ');
  const parts = [
    [paint('bold', printable(title)), ...(under === '' ? [] : wrapped(under, ''))],
    ...blocks.map((block) => lines(block, paint)),
  ];
  return parts.map((part) => part.join('\n')).join('\n\n');
}
