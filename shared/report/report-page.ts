// A report as a page: adoption, verdicts, sites, gains of HTTP/3, every site with its origins and races, and the
// meanings of the codes in it, so that a page that is passed on can be understood offline and without Photofinish.

import { getMessage } from '../language/catalog.ts';
import { median, pairGains } from '../race/statistics.ts';
import { failureRows, verdictName, verdictRows } from '../verdict/codes.ts';
import { gainCellText } from '../verdict/gain.ts';
import { otherFindings } from '../verdict/verdict-text.ts';
import {
  columns,
  count,
  type GainAxis,
  host,
  type PageBlock,
  type PageSizes,
  type PageValue,
  paragraph,
  type ReportDocument,
  type Row,
  type Section,
  section,
  table,
  text,
} from './document.ts';
import { addProtocols, modesOf, type Report, totalOf } from './report.ts';
import { newestComparison, type RaceComparison, totalAdoption } from './report-compare.ts';
import { adoptionTitle, blocksOf, madeCondition, originsByVerdict, reportHead } from './report-document.ts';
import { siteSections, sitesOnPage, sitesSection } from './report-sites.ts';
import { networkText } from './report-text.ts';

const COMPARISONS_DRAWN = 40;
/** An axis shows pairs up to this many times as far from the median as half of them are. */
const NOT_FAR = 5;

function totalSection(report: Report): Section {
  const { byRequest, byOrigin, byNavigation } = totalAdoption(report);
  const figures = [
    { adoption: byRequest, words: getMessage('reportOfRequests') },
    { adoption: byOrigin, words: getMessage('reportOfOrigins') },
    { adoption: byNavigation, words: getMessage('reportOfNavigations') },
  ];
  const origins = report.sites.flatMap((site) => site.origins);
  const counts = addProtocols(origins);
  const modes = modesOf(origins);
  const blocks = [
    { kind: 'figures', figures, modes },
    { kind: 'protocols', counts },
    { kind: 'legend' },
  ] as const;
  return section('total', adoptionTitle(report), ...blocks);
}

function verdictsSection(report: Report): Section {
  const all = report.sites.reduce((sum, { origins }) => sum + origins.length, 0);
  const rows = originsByVerdict(report).map(
    ([code, origins]): Row<PageValue> => [
      { kind: 'code', code, words: verdictName(code) },
      { kind: 'share-bar', share: origins.length / all },
      count(origins.length, 'strong'),
      { kind: 'share', part: origins.length, whole: all },
      count(totalOf(addProtocols(origins))),
    ],
  );
  const heads = [
    ...columns('text', getMessage('reportVerdict')),
    ...columns('plot', ''),
    ...columns(
      'number',
      getMessage('reportOrigins'),
      getMessage('reportShare'),
      getMessage('reportRequests'),
    ),
  ];
  const what = paragraph(getMessage('reportVerdictsWhat'), 'aside');
  return section('verdicts', getMessage('reportVerdicts'), what, table<PageValue>('verdicts', heads, rows));
}

/** A comparison with the gain in each of its pairs, and the difference of its medians. */
interface DrawableComparison extends RaceComparison {
  readonly gainsMs: readonly number[];
  readonly medianMs: number;
}

/** The newest comparison of each origin, on whichever network, newest first. */
function comparisons(report: Report): RaceComparison[] {
  const newest = new Map<string, RaceComparison>();
  for (const { origins } of report.sites)
    for (const origin of origins) {
      const compared = newestComparison(origin);
      // An origin has the same races on all of its sites.
      if (compared !== undefined) newest.set(origin.origin, compared);
    }
  return [...newest.values()].toSorted((a, b) => b.race.atMs - a.race.atMs);
}

/** The pairs of a comparison that are close enough to its median to be on the axis. */
function nearMedian(gainsMs: readonly number[]): number[] {
  const middle = median(gainsMs) ?? 0;
  const half = median(gainsMs.map((ms) => Math.abs(ms - middle))) ?? 0;
  return gainsMs.filter((ms) => Math.abs(ms - middle) <= NOT_FAR * half);
}

/** The axis always contains 0, because a gain is meaningless without its origin, and all medians. */
function axisOf(drawn: readonly DrawableComparison[]): GainAxis {
  const shown = drawn.flatMap(({ gainsMs, medianMs }) => [medianMs, ...nearMedian(gainsMs)]);
  const [fromMs, toMs] = [Math.min(0, ...shown), Math.max(0, ...shown)];
  return toMs > fromMs ? { fromMs, toMs } : { fromMs: -1, toMs: 1 };
}

/** The gain of HTTP/3 in every comparison, pair by pair on one axis; no section without comparisons. */
function gainsSection(report: Report): Section[] {
  const all = comparisons(report);
  if (all.length === 0) return [];
  const drawn = all.slice(0, COMPARISONS_DRAWN).map(({ race, comparison }): DrawableComparison => {
    const medianMs = comparison.h2Ms - comparison.h3Ms;
    return { race, comparison, medianMs, gainsMs: pairGains(race.trials) };
  });
  const axis = axisOf(drawn);
  const beyond = drawn.flatMap(({ gainsMs }) => gainsMs).filter((ms) => ms > axis.toMs || ms < axis.fromMs);
  const rows = drawn.map(({ race, comparison, gainsMs, medianMs }): Row<PageValue> => {
    const clear = comparison.quicker !== null;
    return [
      host(race.origin),
      networkText(race.network, report.networkNames),
      { kind: 'gain-strip', axis, gainsMs, medianMs, clear },
      text(gainCellText(comparison), clear ? 'strong' : undefined),
      count(gainsMs.length),
    ];
  });
  const heads = [
    ...columns<PageValue>('text', getMessage('reportOrigin'), getMessage('reportNetwork')),
    ...columns<PageValue>('plot', { kind: 'gain-axis', axis }),
    ...columns<PageValue>('number', getMessage('reportMedianGain'), getMessage('reportPairs')),
  ];
  const notes = [
    ...(beyond.length > 0 ? [getMessage('reportGainsBeyond', { count: beyond.length })] : []),
    ...(all.length > drawn.length
      ? [getMessage('reportGainsMore', { count: all.length - drawn.length })]
      : []),
  ];
  const blocks = [
    paragraph(getMessage('reportGainsWhat'), 'aside'),
    table('gains', heads, rows),
    ...(notes.length > 0 ? [paragraph(notes.join(' '), 'aside')] : []),
  ];
  return [section('gains', getMessage('reportGains'), ...blocks)];
}

function codesIn({ sites }: Report): ReadonlySet<string> {
  const codes = new Set<string>();
  for (const { verdict, races } of sites.flatMap(({ origins }) => origins)) {
    codes.add(verdict.code);
    for (const { code } of otherFindings(verdict)) codes.add(code);
    for (const { error, trials } of races) {
      const attempts = trials.flatMap((trial) => trial.attempts);
      for (const each of [error, ...attempts.map((attempt) => attempt.error)])
        if (each !== undefined) codes.add(each.code);
    }
  }
  return codes;
}

/** The meanings of the codes that occur. */
function meaningsSection(report: Report): Section {
  const codes = codesIn(report);
  const rows = [...verdictRows(), ...failureRows()].filter(({ code }) => codes.has(code));
  return section('means', getMessage('codesTitle'), { kind: 'meanings', rows });
}

/** The page; it has as many sites in full as fit, given `sizes`. */
export function reportPage(report: Report, sizes: PageSizes): ReportDocument<PageBlock> {
  const head = reportHead(report);
  const blocks = blocksOf<PageBlock>(report, () => {
    const onPage = sitesOnPage(report, sizes);
    return [
      totalSection(report),
      verdictsSection(report),
      sitesSection(report, onPage),
      ...gainsSection(report),
      ...siteSections(onPage),
      meaningsSection(report),
    ];
  });
  return { ...head, conditions: [...head.conditions, madeCondition(report)], blocks };
}
