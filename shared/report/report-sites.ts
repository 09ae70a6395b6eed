// The sites of a report's page. A page with every site of a year would have 160 MB, more than browsers can show: the
// sites with the most requests are shown in full with their busiest origins, as many as fit, and all others are
// counted, so that every total still adds up.

import { LANE_COLUMNS, laneNumbers, photoFinish } from '../drawing/photo-finish.ts';
import { getMessage } from '../language/catalog.ts';
import type { OriginRace } from '../race/outcome.ts';
import { otherFindings, verdictText } from '../verdict/verdict-text.ts';
import { hiddenCountText, type ObservationModes } from '../web/observation.ts';
import { markOf, protocolName } from '../web/protocol.ts';
import {
  type Article,
  adoptionValue,
  type Column,
  type ContentsEntry,
  columns,
  type Figure,
  hiddenCount,
  host,
  ORIGINS_UNFOLDED,
  type PageBlock,
  type PageSizes,
  type PageValue,
  paragraph,
  protocolCount,
  type Row,
  type Section,
  section,
  table,
  text,
  type Value,
} from './document.ts';
import {
  addProtocols,
  type Counts,
  modesOf,
  PROTOCOL_COLUMNS,
  type Report,
  type ReportOrigin,
  type ReportSite,
  totalOf,
} from './report.ts';
import { totalAdoption } from './report-compare.ts';
import { foreignLanguage, type NetworkNames, networkText } from './report-text.ts';

/** One race, its photo finish beside its numbers; `id` is unique on the page. */
function raceFigure(race: OriginRace, id: string, names: NetworkNames): Figure {
  const at: Value = { kind: 'instant', at: race.atMs };
  const params = { at, network: networkText(race.network, names), mode: race.mode };
  const head: Value = { kind: 'sentence', key: 'reportRaceHead', params };
  const message = race.error?.message;
  if (race.trials.length === 0) {
    const why = getMessage('reportNotRaced', { message: message || getMessage('reportNoTrial') });
    return { kind: 'figure', id, finish: null, lines: [head, why], table: null };
  }
  const finish = photoFinish(race);
  const { result, caption, title } = finish;
  const shown = text(
    result === null ? caption : `${title}, ${caption}`,
    result?.winner === null ? undefined : 'strong',
  );
  const ended = message ? [getMessage('reportEndedEarly', { message })] : [];
  const titles = LANE_COLUMNS.map((key) => getMessage(key));
  const heads = [
    ...columns('text', ...titles.slice(0, 2)),
    ...columns('number', ...titles.slice(2, -1)),
    ...columns('trials', ...titles.slice(-1)),
  ];
  const numbers = table('lanes', heads, finish.lanes.map(laneNumbers));
  return { kind: 'figure', id, finish, lines: [shown, head, ...ended], table: numbers };
}

/** Size limit of the sites in full; together with the rest of the page it is less than 5 MB. */
const SITES_BYTES = 4_000_000;
/** Enough for a site of about a thousand ordinary origins. */
const SITE_BYTES = 1_000_000;
/** An upper bound for an entry in the table of contents, besides the site's name in its section. */
const ENTRY_BYTES = 400;
/** Bars in the chart of sites. */
const SITES_DRAWN = 30;
/** Races drawn per origin, newest first, and on the whole page; the others are counted and are in the JSON. */
const RACES_DRAWN = 3;
const RACES_DRAWN_IN_ALL = 120;
/** From this number of sites on there is a table of contents. */
const SITES_LISTED = 3;

/** What all sites of a page share. */
interface Page {
  readonly sizes: PageSizes;
  readonly language: string | undefined;
  readonly networkNames: NetworkNames;
  readonly open: boolean;
  /** How many more races may be drawn, and whether any was not. */
  drawable: number;
  racesLeftOut: boolean;
}

function protocolHeads(): PageValue[] {
  return PROTOCOL_COLUMNS.map(([mark, key]) => ({ kind: 'protocol', mark, name: protocolName(key) }));
}

function protocolCells(counts: Counts, modes: ObservationModes): Value[] {
  return PROTOCOL_COLUMNS.map(([, key]) => protocolCount(counts, key, modes));
}

/** The items in descending order of their requests, each with its index. */
function busiest<T>(items: readonly T[], countsOf: (item: T) => Counts): { item: T; at: number }[] {
  return items
    .map((item, at) => ({ item, at, requests: totalOf(countsOf(item)) }))
    .toSorted((a, b) => b.requests - a.requests);
}

/** An origin's name, marked with the newest protocol seen. */
function originName({ origin, protocols }: ReportOrigin): Value {
  const used = (['h3', 'h2', 'http/1.1'] as const).find((key) => protocols[key] > 0);
  return host(origin, markOf(used ?? 'unknown'));
}

/** An origin's races, as many as may be drawn; null without races. */
function originArticle(origin: ReportOrigin, id: string, page: Page): Article | null {
  const races = origin.races.toSorted((a, b) => b.atMs - a.atMs);
  const drawn = races.slice(0, Math.min(RACES_DRAWN, page.drawable));
  if (drawn.length === 0) return null;
  const figures = drawn.map((race, i) => raceFigure(race, `${id}-${i}`, page.networkNames));
  const older = races.length - drawn.length;
  const rest = older > 0 ? [paragraph(getMessage('reportOlderRaces', { count: older }), 'aside')] : [];
  return { kind: 'article', title: originName(origin), blocks: [...figures, ...rest] };
}

function countedCells(
  { protocols, hidden, bytes }: Pick<ReportOrigin, 'protocols' | 'hidden' | 'bytes'>,
  modes: ObservationModes,
): Value[] {
  return [...protocolCells(protocols, modes), hiddenCount(hidden, modes), { kind: 'bytes', bytes }];
}

function originRow(origin: ReportOrigin, { language }: Page): Row<PageValue> {
  const why = text(verdictText(origin.verdict), undefined, language);
  const findings = otherFindings(origin.verdict).map((finding) => finding.text);
  const verdict = { kind: 'verdict', why, code: origin.verdict.code, findings } as const;
  return [originName(origin), ...countedCells(origin, modesOf([origin])), verdict];
}

function originColumns(): Column<PageValue>[] {
  return [
    ...columns('text', getMessage('reportOrigin')),
    ...columns('number', ...protocolHeads(), getMessage('reportHiddenOfThese'), getMessage('reportBytes')),
    ...columns('verdict', getMessage('reportVerdict')),
  ];
}

interface OriginBlocks {
  readonly row: Row<PageValue>;
  readonly article: Article | null;
}

/** The origins with the most requests, as long as they fit, by index. */
function originsThatFit(
  origins: readonly ReportOrigin[],
  heads: readonly Column<PageValue>[],
  index: number,
  page: Page,
): Map<number, OriginBlocks> {
  const fitting = new Map<number, OriginBlocks>();
  let left = SITE_BYTES;
  for (const { item: origin, at } of busiest(origins, ({ protocols }) => protocols)) {
    const row = originRow(origin, page);
    const article = originArticle(origin, `race-${index}-${at}`, page);
    left -= page.sizes.row(row, heads) + (article === null ? 0 : page.sizes.block(article));
    if (left < 0) break;
    fitting.set(at, { row, article });
    if (article !== null) page.drawable -= Math.min(RACES_DRAWN, page.drawable, origin.races.length);
    else if (origin.races.length > 0) page.racesLeftOut = true;
  }
  return fitting;
}

/** A site in full; `index` is its position in the report. */
function siteSection({ site, origins, hidden }: ReportSite, index: number, page: Page): Section {
  const heads = originColumns();
  const fitting = originsThatFit(origins, heads, index, page);
  const left = origins.filter((_, at) => !fitting.has(at));
  if (left.some(({ races }) => races.length > 0)) page.racesLeftOut = true;
  // In the order of the report, regardless of the order of selection.
  const shown = origins.flatMap((_, at) => fitting.get(at) ?? []);
  const sum = (of: 'hidden' | 'bytes') => left.reduce((total, origin) => total + origin[of], 0);
  const counted = { protocols: addProtocols(left), hidden: sum('hidden'), bytes: sum('bytes') };
  const name = getMessage('reportFurtherOrigins', { count: left.length });
  const rest = [name, ...countedCells(counted, modesOf(left)), getMessage('reportFurtherWhere')];
  const rows = shown.map(({ row }) => row);
  const words = getMessage('reportSiteWhat', {
    origins: getMessage('reportSiteOrigins', { count: origins.length }),
    requests: getMessage('reportSiteRequests', { count: totalOf(addProtocols(origins)) }),
    hidden: hiddenCountText(hidden, modesOf(origins)),
  });
  const blocks = [
    table('origins', heads, rows, left.length > 0 ? rest : undefined),
    ...shown.flatMap(({ article }) => article ?? []),
  ];
  return { ...section(`site-${index}`, host(site), ...blocks), fold: { open: page.open, words } };
}

type SiteCounts = Pick<ReportSite, 'origins' | 'adoption' | 'hitRatio' | 'accuracy'>;

function siteColumns(): Column<PageValue>[] {
  const shares = ['reportByRequest', 'reportByOrigin', 'reportByNavigation'] as const;
  const forecasts = ['reportForecastHits', 'reportForecastsRight'] as const;
  const numbers = [...shares, ...forecasts].map((key) => getMessage(key));
  return [...columns('text', getMessage('reportSite')), ...columns('number', ...protocolHeads(), ...numbers)];
}

function siteRow(name: Value, { origins, adoption, hitRatio, accuracy }: SiteCounts): Row<PageValue> {
  const modes = modesOf(origins);
  const shares = [adoption.byRequest, adoption.byOrigin, adoption.byNavigation];
  return [
    name,
    ...protocolCells(addProtocols(origins), modes),
    ...shares.map((share) => adoptionValue(share, modes)),
    ...[hitRatio, accuracy].map(({ hits, of }) => ({ kind: 'ratio', part: hits, whole: of }) as const),
  ];
}

function sumOf(sites: readonly ReportSite[]): SiteCounts {
  const ratio = (of: 'hitRatio' | 'accuracy') => ({
    hits: sites.reduce((sum, site) => sum + site[of].hits, 0),
    of: sites.reduce((sum, site) => sum + site[of].of, 0),
  });
  return {
    origins: sites.flatMap((site) => site.origins),
    adoption: totalAdoption({ sites }),
    hitRatio: ratio('hitRatio'),
    accuracy: ratio('accuracy'),
  };
}

interface SiteBlocks {
  readonly row: Row<PageValue>;
  readonly entry: ContentsEntry;
  readonly section: Section;
}

/** A report's sites on its page: in full, in the report's order, or counted. */
export interface SitesOnPage {
  readonly heads: Column<PageValue>[];
  readonly inFull: readonly SiteBlocks[];
  readonly rest: readonly ReportSite[];
  readonly racesLeftOut: boolean;
}

/** Selects the sites with the most requests, as many as fit. */
export function sitesOnPage(report: Report, sizes: PageSizes): SitesOnPage {
  const origins = report.sites.reduce((sum, site) => sum + site.origins.length, 0);
  const page: Page = {
    sizes,
    language: foreignLanguage(report),
    networkNames: report.networkNames,
    open: origins <= ORIGINS_UNFOLDED,
    drawable: RACES_DRAWN_IN_ALL,
    racesLeftOut: false,
  };
  const heads = siteColumns();
  const chosen = new Map<number, SiteBlocks>();
  let left = SITES_BYTES;
  for (const { item: site, at } of busiest(report.sites, (each) => addProtocols(each.origins))) {
    const inFull = siteSection(site, at, page);
    const row = siteRow(host(site.site), site);
    left -= sizes.row(row, heads) + sizes.block(inFull) + ENTRY_BYTES;
    if (left < 0) break;
    const entry = { id: inFull.id, site: site.site, adoption: site.adoption.byRequest };
    chosen.set(at, { row, entry, section: inFull });
  }
  const rest = report.sites.filter((_, at) => !chosen.has(at));
  const unseen = rest.some((site) => site.origins.some(({ races }) => races.length > 0));
  return {
    heads,
    inFull: report.sites.flatMap((_, at) => chosen.get(at) ?? []),
    rest,
    racesLeftOut: page.racesLeftOut || unseen,
  };
}

/** A note on what is counted but not shown; none if everything is shown. */
function restNote({ rest }: SitesOnPage): PageBlock[] {
  if (rest.length === 0) return [];
  const origins = rest.reduce((sum, site) => sum + site.origins.length, 0);
  const words = getMessage('reportFurther', {
    count: rest.length,
    sites: getMessage('reportFurtherSites', { count: rest.length }),
    origins: getMessage('reportSiteOrigins', { count: origins }),
  });
  return [paragraph(words, 'note')];
}

/** The sites with the most requests as bars, and all of them as a table. */
export function sitesSection({ sites }: Report, onPage: SitesOnPage): Section {
  const { heads, inFull, rest } = onPage;
  // In the order of the report, like the table below.
  const bars = busiest(sites, ({ origins }) => addProtocols(origins))
    .slice(0, SITES_DRAWN)
    .toSorted((a, b) => a.at - b.at)
    .map(({ item: { site, origins, adoption } }) => {
      return { site, counts: addProtocols(origins), adoption: adoption.byRequest };
    });
  const more = sites.length > SITES_DRAWN ? ` ${getMessage('reportSitesMore', { count: SITES_DRAWN })}` : '';
  const further = getMessage('reportFurtherSites', { count: rest.length });
  const restRow = rest.length > 0 ? siteRow(further, sumOf(rest)) : undefined;
  const rows = inFull.map(({ row }) => row);
  const all = { ...table('sites', heads, rows, restRow), caption: getMessage('reportSitesTable') };
  const what = paragraph(`${getMessage('reportSitesWhat')}${more}`, 'aside');
  return section('sites', getMessage('reportSites'), what, ...restNote(onPage), { kind: 'bars', bars }, all);
}

/** The table of contents, the sites in full, and the note about the others. */
export function siteSections(onPage: SitesOnPage): PageBlock[] {
  const entries = onPage.inFull.map(({ entry }) => entry);
  return [
    ...(entries.length < SITES_LISTED ? [] : [{ kind: 'contents', entries } as const]),
    ...onPage.inFull.map((site) => site.section),
    ...(onPage.racesLeftOut ? [paragraph(getMessage('reportRacesAll'), 'aside')] : []),
    ...restNote(onPage),
  ];
}
