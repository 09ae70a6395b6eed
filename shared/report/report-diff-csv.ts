// A comparison of two reports as CSV: one row per changed origin, both sides beside each other.
import { verdictText } from '../verdict/verdict-text.ts';
import { csvText } from './csv.ts';
import type { OriginDiff, ReportDiff } from './report-diff.ts';

const SIDE_COLUMNS = [
  'h3',
  'h2',
  'http/1.1',
  'unknown',
  'verdict',
  'verdict_text',
  'gain_ms',
  'gain_pairs',
  'gain_network',
] as const;
const RANGE_COLUMNS = ['quicker', 'gain_low_ms', 'gain_high_ms'] as const;
const COLUMNS = [
  'site',
  'origin',
  'changes',
  ...SIDE_COLUMNS.map((name) => `${name}_before`),
  ...SIDE_COLUMNS.map((name) => `${name}_after`),
  'period_before',
  'period_after',
  ...RANGE_COLUMNS.map((name) => `${name}_before`),
  ...RANGE_COLUMNS.map((name) => `${name}_after`),
];

function sideCells(origin: OriginDiff, side: 'before' | 'after'): (string | number)[] {
  const protocols = origin.protocols[side];
  const verdict = origin.verdict[side];
  const gain = origin.gain[side];
  return [
    ...(['h3', 'h2', 'http/1.1', 'unknown'] as const).map((protocol) => protocols?.[protocol] ?? ''),
    ...[verdict?.code ?? '', verdict === null ? '' : verdictText(verdict)],
    ...[gain?.quicker ? gain.gainMs : '', gain?.pairs ?? '', gain?.network ?? ''],
  ];
}

function rangeCells(origin: OriginDiff, side: 'before' | 'after'): (string | number)[] {
  const gain = origin.gain[side];
  return gain === null ? ['', '', ''] : [gain.quicker ?? 'none', gain.lowMs ?? '', gain.highMs ?? ''];
}

/** The rows with a header; cells of a side that does not have the origin are empty. */
export function reportDiffToCsv(diff: ReportDiff): string {
  const periods = [diff.before, diff.after].map(({ period }) => `${period.from}/${period.to}`);
  const rows = diff.sites.flatMap(({ site, origins }) =>
    origins.map((origin) => [
      site,
      origin.origin,
      origin.changes.join(' '),
      ...sideCells(origin, 'before'),
      ...sideCells(origin, 'after'),
      ...periods,
      ...rangeCells(origin, 'before'),
      ...rangeCells(origin, 'after'),
    ]),
  );
  return csvText([COLUMNS, ...rows]);
}
