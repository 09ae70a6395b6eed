// A report as a document. The summary fits a ticket: conditions, totals, and the origins that cost most, each with its
// verdict and what to do. The listing has every site and every verdict. The page is in `report-page`.

import { getMessage } from '../language/catalog.ts';
import { VERDICT_CODES, type VerdictCode } from '../race/verdict-schema.ts';
import { verdictName } from '../verdict/codes.ts';
import { gainCellText } from '../verdict/gain.ts';
import { verdictText } from '../verdict/verdict-text.ts';
import { lightNote, type ObservationModes } from '../web/observation.ts';
import { protocolName } from '../web/protocol.ts';
import {
  adoptionValue,
  type Block,
  columns,
  count,
  hiddenCount,
  host,
  type Paragraph,
  paragraph,
  protocolCount,
  type ReportDocument,
  type Row,
  type Table,
  table,
  type Value,
} from './document.ts';
import {
  addProtocols,
  modesOf,
  modesOfSites,
  PROTOCOL_COLUMNS,
  type Report,
  type ReportOrigin,
  type ReportSite,
} from './report.ts';
import { adoptionOf, newestComparison, totalAdoption } from './report-compare.ts';
import { browserText, isBrief, networksText, shareCountsText, valueText } from './report-text.ts';

const WORST_LISTED = 10;

/** A version that fits a ticket: at most 40 lines of Markdown. */
export function reportSummary(report: Report): ReportDocument {
  const blocks = blocksOf(report, () => [...sums(report), verdictsTable(report), ...worst(report)]);
  return { ...reportHead(report), blocks };
}

/** Every site with its shares, and the verdict on every origin; of several sites under the name of each. */
export function reportListing(report: Report): ReportDocument {
  const several = report.sites.length > 1;
  const blocks = blocksOf(report, () => [
    paragraph(adoptionTitle(report), 'strong'),
    sitesTable(report),
    ...report.sites.flatMap((site): Block[] => [
      ...(several ? [{ kind: 'paragraph', tone: 'strong', words: host(site.site) } as const] : []),
      originsTable(site),
    ]),
  ]);
  return { ...reportHead(report), blocks };
}

type Condition = ReportDocument['conditions'][number];

const instant = (at: string, seconds = false): Value => ({ kind: 'instant', at, seconds });

/** Names and values of the conditions a report was made under. */
export function conditionsOf(
  report: Pick<Report, 'browser' | 'network' | 'networks' | 'networkNames' | 'period'>,
): Condition[] {
  const { from, to } = report.period;
  const seconds = isBrief(report.period);
  const params = { from: instant(from, seconds), to: instant(to, seconds) };
  return [
    [getMessage('reportBrowser'), browserText(report.browser)],
    [getMessage('reportNetwork'), networksText(report)],
    [getMessage('reportPeriod'), { kind: 'sentence', key: 'reportFromTo', params }],
  ];
}

/** When a report was made. */
export function madeCondition({ createdAt }: Pick<Report, 'createdAt'>): Condition {
  return [getMessage('reportMade'), instant(createdAt)];
}

/** The parts that all documents of one report share. */
export function reportHead(report: Report): Omit<ReportDocument, 'blocks'> {
  const [one, another] = report.sites;
  return {
    title: one && !another ? getMessage('reportTitleSite', { site: one.site }) : getMessage('reportTitle'),
    conditions: conditionsOf(report),
    footer: getMessage('reportFooter', { schema: report.schema }),
  };
}

/** The heading of the shares of the sites' adoption. */
export function adoptionTitle({ sites }: Report): string {
  return getMessage(sites.length === 1 ? 'reportAdoptionOne' : 'reportAdoptionAll');
}

/** The blocks below a note on what light mode lacks if any figure was counted in it, or a note that there is no data. */
export function blocksOf<B>({ sites }: Report, make: () => B[]): (B | Block)[] {
  if (sites.length === 0) return [paragraph(getMessage('reportNothing'))];
  return [...lightNotes(modesOfSites(sites)), ...make()];
}

/** A note on what figures of these modes lack; none for full ones. */
export function lightNotes(modes: ObservationModes): Paragraph[] {
  const note = lightNote(modes);
  return note === null ? [] : [paragraph(note, 'note')];
}

/** The origins of each verdict that occurs, the most frequent first. */
export function originsByVerdict(report: Report): [VerdictCode, ReportOrigin[]][] {
  const by = Map.groupBy(
    report.sites.flatMap(({ origins }) => origins),
    ({ verdict }) => verdict.code,
  );
  return VERDICT_CODES.map((code): [VerdictCode, ReportOrigin[]] => [code, by.get(code) ?? []])
    .filter(([, origins]) => origins.length > 0)
    .toSorted(([, a], [, b]) => b.length - a.length);
}

function verdictsTable(report: Report): Table {
  const heads = [
    ...columns('text', getMessage('reportVerdict')),
    ...columns('number', getMessage('reportOrigins')),
  ];
  const rows = originsByVerdict(report).map(([code, { length }]) => [verdictName(code), count(length)]);
  return table('verdicts', heads, rows);
}

/** Requests known to have used a protocol older than HTTP/3. */
function olderRequests(origin: ReportOrigin): number {
  const { known, h3 } = adoptionOf(origin);
  return known - h3;
}

function worst(report: Report): Block[] {
  const all = report.sites
    .flatMap(({ site, origins }) => origins.map((origin) => ({ site, origin, older: olderRequests(origin) })))
    .filter(({ older }) => older > 0)
    .toSorted((a, b) => b.older - a.older);
  // Of protocols that are all unknown nothing can be said; that they are is in the sums.
  if (all.length === 0)
    return totalAdoption(report).byRequest.known === 0 ? [] : [paragraph(getMessage('reportNoneWithout'))];
  const listed = all.slice(0, WORST_LISTED);
  const several = report.sites.length > 1;
  const heads = [
    ...columns('text', ...(several ? [getMessage('reportSite')] : []), getMessage('reportOrigin')),
    ...columns('number', getMessage('reportNotH3'), getMessage('reportGain')),
    ...columns('verdict', getMessage('reportWhatToDo')),
  ];
  const rows = listed.map(({ site, origin, older }): Row => {
    const compared = newestComparison(origin);
    return [
      ...(several ? [host(site)] : []),
      host(origin.origin),
      getMessage('countOf', { part: older, whole: adoptionOf(origin).known }),
      compared === undefined ? '–' : gainCellText(compared.comparison),
      verdictText(origin.verdict),
    ];
  });
  const title = getMessage('reportWorst', { count: listed.length, all: all.length });
  return [paragraph(title, 'strong'), table('origins', heads, rows)];
}

function sums(report: Report): Block[] {
  const { byRequest, byOrigin, byNavigation } = totalAdoption(report);
  const origins = report.sites.flatMap((site) => site.origins);
  const counts = addProtocols(origins);
  const modes = modesOf(origins);
  const summary = getMessage('reportSummary', {
    requests: shareCountsText(byRequest, modes),
    origins: shareCountsText(byOrigin, modes),
    navigations: shareCountsText(byNavigation, modes),
  });
  const protocols = PROTOCOL_COLUMNS.map(
    ([, key]) => `${protocolName(key)} ${valueText(protocolCount(counts, key, modes))}`,
  );
  return [paragraph(summary), paragraph(`${getMessage('reportRequests')}: ${protocols.join(' · ')}`)];
}

function sitesTable({ sites }: Report): Table {
  const shares = ['reportByNavigation', 'reportByRequest', 'reportByOrigin'] as const;
  const numbers = [...shares, 'reportHiddenHead', 'reportForecastsRight'] as const;
  const heads = [
    ...columns('text', getMessage('reportSite')),
    ...columns('number', ...numbers.map((key) => getMessage(key))),
  ];
  const rows = sites.map(
    ({ site, origins, adoption: { byNavigation, byRequest, byOrigin }, hidden, accuracy }): Row => {
      const modes = modesOf(origins);
      return [
        host(site),
        ...[byNavigation, byRequest, byOrigin].map((adoption) => adoptionValue(adoption, modes)),
        hiddenCount(hidden, modes),
        { kind: 'ratio', part: accuracy.hits, whole: accuracy.of },
      ];
    },
  );
  return table('sites', heads, rows);
}

/** The verdict on every origin of a site. */
function originsTable({ origins }: ReportSite): Table {
  const heads = [
    ...columns('text', getMessage('reportOrigin')),
    ...columns('verdict', getMessage('reportVerdict')),
  ];
  return table(
    'origins',
    heads,
    origins.map(({ origin, verdict }): Row => [host(origin), verdictText(verdict)]),
  );
}
