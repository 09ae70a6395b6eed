// A site of the HTML report with its origins and their races: those with most requests, as many as fit into the bytes
// that a site may take; the others are one row that counts them, so that the table still adds up.

import { type Mark, markOf, markSvg } from '../drawing/marks.ts';
import { escapeMarkup as esc, formatBytes } from '../language/markup.ts';
import { say, sayNumber } from '../language/words.ts';
import { otherFindings, verdictText } from '../verdict/verdict-text.ts';
import type { ReportOrigin, ReportSite } from './report.ts';
import { addProtocols, type Counts, countCells, countHeads, totalOf } from './report-bars.ts';
import { meansLink } from './report-meanings.ts';
import { hostMarkup } from './report-page.ts';
import { raceFigure } from './report-races.ts';
import type { NetworkNames } from './report-words.ts';

/** A site of ordinary origins has room for about a thousand of them. */
const SITE_BYTES = 1_000_000;
/** Races drawn per origin, newest first, and on the whole page; the others are counted and are in the JSON. */
const RACES_DRAWN = 3;
const RACES_DRAWN_IN_ALL = 120;
const MARK_PX = 16;

const encoder = new TextEncoder();

/** What a text takes in a file. */
export function bytesOf(text: string): number {
  return encoder.encode(text).length;
}

/** How many races the page may still draw. */
export interface RacesLeft {
  drawable: number;
  leftOut: number;
}

export function racesLeft(): RacesLeft {
  return { drawable: RACES_DRAWN_IN_ALL, leftOut: 0 };
}

/** The protocol that stands for an origin: the newest version it was seen to use. */
function markFor(counts: Counts): Mark {
  return markOf((['h3', 'h2', 'http/1.1'] as const).find((key) => counts[key] > 0) ?? 'unknown');
}

function originHead({ origin, protocols }: ReportOrigin, sizePx: number): string {
  return `${markSvg(markFor(protocols), sizePx)}<span>${hostMarkup(origin)}</span>`;
}

function countsCells(origins: readonly ReportOrigin[]): string {
  const sum = (of: 'hidden' | 'bytes') => origins.reduce((total, origin) => total + origin[of], 0);
  return `${countCells(addProtocols(origins))}<td class="n">${sayNumber(sum('hidden'))}</td><td class="n">${formatBytes(sum('bytes'))}</td>`;
}

function originRow(origin: ReportOrigin, language: string): string {
  const findings = otherFindings(origin.verdict)
    .map(({ text }) => `<li>${esc(text)}</li>`)
    .join('');
  const list = findings ? `<ul>${findings}</ul>` : '';
  return `<tr><th scope="row"><span class="origin">${originHead(origin, MARK_PX)}</span></th>${countsCells([origin])}<td class="verdict"${language}>${esc(verdictText(origin.verdict))} ${meansLink(origin.verdict.code)}${list}</td></tr>`;
}

function restRow(rest: readonly ReportOrigin[]): string {
  const name = say('reportFurtherOrigins', { count: rest.length });
  return `<tr class="rest"><th scope="row">${name}</th>${countsCells(rest)}<td class="verdict">${say('reportFurtherWhere')}</td></tr>`;
}

function originsTable(rows: readonly string[]): string {
  return `<div class="scroll"><table class="origins"><thead><tr><th scope="col">${say('reportOrigin')}</th>${countHeads()}<th scope="col" class="n">${say('reportHiddenOfThese')}</th><th scope="col" class="n">${say('reportBytes')}</th><th scope="col">${say('reportVerdict')}</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

/** An origin's races, as many as may be drawn. */
function originArticle(origin: ReportOrigin, id: string, drawable: number, names: NetworkNames): string {
  const races = origin.races.toSorted((a, b) => b.atMs - a.atMs);
  const drawn = races
    .slice(0, Math.min(RACES_DRAWN, drawable))
    .map((race, i) => raceFigure(race, `${id}-${i}`, names));
  if (drawn.length === 0) return '';
  const older = races.length - drawn.length;
  const rest = older > 0 ? `<p class="what">${say('reportOlderRaces', { count: older })}</p>` : '';
  return `<article><h3 class="origin">${originHead(origin, 20)}</h3>${drawn.join('')}${rest}</article>`;
}

/** What all sites of a page share. */
export interface SitePage {
  /** The attribute of verdicts. */
  readonly language: string;
  readonly open: boolean;
  readonly networkNames: NetworkNames;
}

interface OriginMarkup {
  readonly row: string;
  readonly article: string;
}

/** The origins with most requests, while they fit, by their places. */
function originsThatFit(
  { origins }: ReportSite,
  index: number,
  { language, networkNames }: SitePage,
  races: RacesLeft,
): Map<number, OriginMarkup> {
  const fitting = new Map<number, OriginMarkup>();
  const busiest = origins
    .map((origin, at) => ({ origin, at, requests: totalOf(origin.protocols) }))
    .toSorted((a, b) => b.requests - a.requests);
  let left = SITE_BYTES;
  for (const { origin, at } of busiest) {
    const row = originRow(origin, language);
    const article = originArticle(origin, `race-${index}-${at}`, races.drawable, networkNames);
    left -= bytesOf(row) + bytesOf(article);
    if (left < 0) break;
    fitting.set(at, { row, article });
    if (article === '') races.leftOut += origin.races.length;
    else races.drawable -= Math.min(RACES_DRAWN, races.drawable, origin.races.length);
  }
  return fitting;
}

/** A site's section; `index` is its place in the report. */
export function siteSection(site: ReportSite, index: number, page: SitePage, races: RacesLeft): string {
  const { origins } = site;
  const fitting = originsThatFit(site, index, page, races);
  const rest = origins.filter((_, at) => !fitting.has(at));
  for (const origin of rest) races.leftOut += origin.races.length;
  // In the order of the report, whichever order they were chosen in.
  const shown = origins.flatMap((_, at) => fitting.get(at) ?? []);
  const rows = [...shown.map(({ row }) => row), ...(rest.length > 0 ? [restRow(rest)] : [])];
  const words = say('reportSiteWhat', {
    origins: say('reportSiteOrigins', { count: origins.length }),
    requests: say('reportSiteRequests', { count: totalOf(addProtocols(origins)) }),
    hidden: site.hidden,
  });
  const articles = shown.map(({ article }) => article).join('');
  return `<section class="site" aria-labelledby="site-${index}"><details${page.open ? ' open' : ''}><summary><h2 id="site-${index}">${hostMarkup(site.site)}</h2> <span class="what">${words}</span></summary>${originsTable(rows)}${articles}</details></section>`;
}
