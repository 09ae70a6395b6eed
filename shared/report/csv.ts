// Reports and their comparisons as CSV (RFC 4180). The columns are a contract: new ones come last. Intended for
// spreadsheets, which run cells that look like formulas. Where the comma is the decimal sign (as in German), they
// separate at semicolons instead, quoted or not, so that a cell may begin anywhere.

import { roundedMs } from '../race/statistics.ts';
import type { Verdict } from '../race/verdict-schema.ts';
import { verdictText } from '../verdict/verdict-text.ts';
import { printable } from '../web/untrusted.ts';
import { type Counts, modesOf, PROTOCOL_COLUMNS, type Report } from './report.ts';
import { gainOf, newestComparison } from './report-compare.ts';
import type { DiffGain, OriginDiff, ReportDiff } from './report-diff.ts';
import { networkName } from './report-text.ts';

/**
 * What spreadsheets take for the beginning of a formula (OWASP, "CSV Injection"), including full-width forms, at the
 * beginning of a text or after a semicolon, at which some of them separate; preceding spaces and quotes do not prevent
 * it.
 */
const FORMULA = /(^|;)(?=[\s"']*[=+\-@|\uff1d\uff0b\uff0d\uff20])/g;

const PROTOCOLS = PROTOCOL_COLUMNS.map(([, protocol]) => protocol);
const VERDICT = ['verdict', 'verdict_text'] as const;
const GAIN = ['gain_ms', 'gain_pairs', 'gain_network'] as const;
const RANGE = ['quicker', 'gain_low_ms', 'gain_high_ms'] as const;
const MODES = 'modes';
/** Over which the counts came; `network` is the one at the export. */
const NETWORKS = ['networks', 'network_names'] as const;
const COMPARED = 'compared_with';
const CONDITIONS = [
  'browser',
  'browser_version',
  'network',
  'period_from',
  'period_to',
  'created_at',
] as const;

type Cell = string | number;

function written(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  // `printable` leaves neither line ends nor tabs.
  const text = printable(cell).replace(FORMULA, "$1'");
  return /[",;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Records with CRLF after each; numbers stay plain, text that a spreadsheet would run is neutralised with an
 * apostrophe.
 */
function csvText(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(written).join(',')}\r\n`).join('');
}

function countCells(counts: Counts | null): Cell[] {
  return PROTOCOLS.map((protocol) => counts?.[protocol] ?? '');
}

function verdictCells(verdict: Verdict | null): Cell[] {
  return verdict === null ? ['', ''] : [verdict.code, verdictText(verdict)];
}

function gainCells(gain: DiffGain | null): Cell[] {
  return [gain?.quicker ? gain.gainMs : '', gain?.pairs ?? '', gain?.network ?? ''];
}

function comparedWith(gain: DiffGain | null): string {
  return gain === null ? '' : (gain.old ?? 'h2');
}

function rangeCells(gain: DiffGain | null): Cell[] {
  const ms = (end: number | undefined) => (end === undefined ? '' : roundedMs(end));
  if (gain === null) return ['', '', ''];
  // There `h2` is TCP and TLS, whatever ALPN then selected.
  const quicker = gain.quicker === 'h2' ? comparedWith(gain) : (gain.quicker ?? 'none');
  return [quicker, ms(gain.lowMs), ms(gain.highMs)];
}

/**
 * One row per (site, origin) below a header, conditions repeated in every row so that rows of several reports can be
 * combined in one sheet. Counts are plain numbers; `gain_ms` is empty if nothing was measured and if there is no clear
 * difference, negative if the protocol in `compared_with` connects sooner: `h2`, or the older one of an origin without
 * it. `quicker` distinguishes the two: it is `h3`, that protocol or `none`, and empty if nothing was measured.
 */
export function reportToCsv(report: Report): string {
  const { browser, network, networkNames, period, createdAt } = report;
  const conditions = [
    browser.name,
    browser.version,
    network,
    period.from,
    period.to,
    createdAt,
    networkName(network, networkNames) ?? '',
  ];
  const counted = report.networks ?? [network];
  const countedNames = counted.flatMap((label) => networkName(label, networkNames) ?? []).join('; ');
  const columns = ['site', 'origin', ...PROTOCOLS, 'hidden', 'bytes', ...VERDICT, 'races', ...GAIN];
  const rows = report.sites.flatMap(({ site, origins }) =>
    origins.map((origin) => {
      const gain = gainOf(newestComparison(origin));
      return [
        ...[site, origin.origin, ...countCells(origin.protocols), origin.hidden, origin.bytes],
        ...[...verdictCells(origin.verdict), origin.races.length, ...gainCells(gain)],
        ...[...conditions, ...rangeCells(gain), modesOf([origin]).join(' '), counted.join(' '), countedNames],
        comparedWith(gain),
      ];
    }),
  );
  const later = [...RANGE, MODES, ...NETWORKS, COMPARED];
  return csvText([[...columns, ...CONDITIONS, 'network_name', ...later], ...rows]);
}

function onBothSides(names: readonly string[]): string[] {
  return ['before', 'after'].flatMap((side) => names.map((name) => `${name}_${side}`));
}

function sideCells(origin: OriginDiff, side: 'before' | 'after'): Cell[] {
  const [counts, verdict, gain] = [origin.protocols[side], origin.verdict[side], origin.gain[side]];
  return [...countCells(counts), ...verdictCells(verdict), ...gainCells(gain)];
}

/**
 * One row per changed origin below a header, with columns for both sides; those of a side without the origin are empty.
 */
export function reportDiffToCsv(diff: ReportDiff): string {
  const periods = [diff.before, diff.after].map(({ period }) => `${period.from}/${period.to}`);
  const sides = onBothSides([...PROTOCOLS, ...VERDICT, ...GAIN]);
  const columns = [
    'site',
    'origin',
    'changes',
    ...sides,
    ...onBothSides(['period']),
    ...onBothSides(RANGE),
    ...onBothSides([MODES]),
    ...onBothSides([COMPARED]),
  ];
  const rows = diff.sites.flatMap(({ site, origins }) =>
    origins.map((origin) => [
      ...[site, origin.origin, origin.changes.join(' ')],
      ...[...sideCells(origin, 'before'), ...sideCells(origin, 'after'), ...periods],
      ...[...rangeCells(origin.gain.before), ...rangeCells(origin.gain.after)],
      ...[origin.modes?.before, origin.modes?.after].map((modes) => modes?.join(' ') ?? ''),
      ...[origin.gain.before, origin.gain.after].map(comparedWith),
    ]),
  );
  return csvText([columns, ...rows]);
}
