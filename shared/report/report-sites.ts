// The sites of the HTML report. A page of every site that a year has seen would be 160 MB that no browser shows: the
// sites with most requests stand in full, as many as fit, and the others are counted, so that every sum still adds up.

import { escapeMarkup as esc } from '../language/markup.ts';
import { say } from '../language/words.ts';
import type { Adoption } from './adoption.ts';
import type { Report, ReportSite } from './report.ts';
import { addProtocols, countCells, countHeads, protocolBar, totalOf } from './report-bars.ts';
import { totalAdoption } from './report-compare.ts';
import { bytesOf, racesLeft, siteSection } from './report-origins.ts';
import { hostMarkup, languageOf } from './report-page.ts';
import { shareWords } from './report-words.ts';

/** What the sites in full may take; with what stands on every page it is less than 5 MB. */
const SITES_BYTES = 4_000_000;
const SITES_DRAWN = 30;
/** With more origins than this, sites are folded on screen; paper shows all. */
const ORIGINS_UNFOLDED = 60;
/** From so many sites on a list of contents is worth its room. */
const SITES_LISTED = 3;

type Counted = Pick<ReportSite, 'origins' | 'adoption' | 'hitRatio' | 'accuracy'>;

function adoptionCell(adoption: Adoption): string {
  const hidden = adoption.hidden > 0 ? `<br>${say('reportHidden', { count: adoption.hidden })}` : '';
  const counts = say('countOf', { part: adoption.h3, whole: adoption.known });
  return `<td class="n"><b>${shareWords(adoption)}</b> <small>${counts}${hidden}</small></td>`;
}

function ratioCell({ hits, of }: ReportSite['accuracy']): string {
  if (of === 0) return `<td class="n">${say('reportNone')}</td>`;
  const percent = say('percent', { value: Math.round((100 * hits) / of) });
  return `<td class="n"><b>${percent}</b> <small>${say('countOf', { part: hits, whole: of })}</small></td>`;
}

function countedCells({ origins, adoption, hitRatio, accuracy }: Counted): string {
  return `${countCells(addProtocols(origins))}${adoptionCell(adoption.byRequest)}${adoptionCell(adoption.byOrigin)}${adoptionCell(adoption.byNavigation)}${ratioCell(hitRatio)}${ratioCell(accuracy)}`;
}

function contentsEntry({ site, adoption }: ReportSite, index: number): string {
  return `<li><a href="#site-${index}">${hostMarkup(site)}</a> <small>${shareWords(adoption.byRequest)}</small></li>`;
}

interface SiteMarkup {
  readonly row: string;
  readonly entry: string;
  readonly section: string;
}

/** A report's sites as its page has them: in full in the report's order, or counted. */
export interface SitesOnPage {
  readonly inFull: readonly SiteMarkup[];
  readonly rest: readonly ReportSite[];
  readonly allRacesDrawn: boolean;
}

/** Chooses the sites with most requests, as many as fit, and writes them. */
export function sitesOnPage(report: Report): SitesOnPage {
  const origins = report.sites.reduce((sum, site) => sum + site.origins.length, 0);
  const page = {
    language: languageOf(report),
    open: origins <= ORIGINS_UNFOLDED,
    networkNames: report.networkNames,
  };
  const busiest = report.sites
    .map((site, index) => ({ site, index, requests: totalOf(addProtocols(site.origins)) }))
    .toSorted((a, b) => b.requests - a.requests);
  const races = racesLeft();
  const written = new Map<number, SiteMarkup>();
  let left = SITES_BYTES;
  for (const { site, index } of busiest) {
    const parts = {
      row: `<tr><th scope="row">${hostMarkup(site.site)}</th>${countedCells(site)}</tr>`,
      entry: contentsEntry(site, index),
      section: siteSection(site, index, page, races),
    };
    left -= bytesOf(parts.row) + bytesOf(parts.entry) + bytesOf(parts.section);
    if (left < 0) break;
    written.set(index, parts);
  }
  const rest = report.sites.filter((_, index) => !written.has(index));
  const raced = rest.some((site) => site.origins.some((origin) => origin.races.length > 0));
  return {
    inFull: report.sites.flatMap((_, index) => written.get(index) ?? []),
    rest,
    allRacesDrawn: races.leftOut === 0 && !raced,
  };
}

function sumOf(sites: readonly ReportSite[]): Counted {
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

/** What is counted and not shown; empty when everything is shown. */
function restWords({ rest }: SitesOnPage): string {
  if (rest.length === 0) return '';
  const origins = rest.reduce((sum, site) => sum + site.origins.length, 0);
  return say('reportFurther', {
    sites: say('reportFurtherSites', { count: rest.length }),
    origins: say('reportSiteOrigins', { count: origins }),
  });
}

function sitesTable({ inFull, rest }: SitesOnPage): string {
  const further =
    rest.length === 0
      ? ''
      : `<tr class="rest"><th scope="row">${say('reportFurtherSites', { count: rest.length })}</th>${countedCells(sumOf(rest))}</tr>`;
  const heads = (
    [
      'reportByRequest',
      'reportByOrigin',
      'reportByNavigation',
      'reportForecastHits',
      'reportForecastsRight',
    ] as const
  ).map((key) => `<th scope="col" class="n">${say(key)}</th>`);
  return `<div class="scroll"><table class="sites"><caption>${say('reportSitesTable')}</caption><thead><tr><th scope="col">${say('reportSite')}</th>${countHeads()}${heads.join('')}</tr></thead><tbody>${inFull.map(({ row }) => row).join('')}${further}</tbody></table></div>`;
}

/** The sites with most requests as bars, and all of them as a table. */
export function bySite(sites: readonly ReportSite[], onPage: SitesOnPage): string {
  const busiest = sites
    .map((site) => ({ site, counts: addProtocols(site.origins) }))
    .toSorted((a, b) => totalOf(b.counts) - totalOf(a.counts))
    .slice(0, SITES_DRAWN);
  const rows = busiest.map(({ site: { site, adoption }, counts }) => {
    const { h3: part, known: whole } = adoption.byRequest;
    return `<div class="site-row"><span class="name" title="${esc(site)}">${hostMarkup(site)}</span>${protocolBar(counts)}<span class="share"><b>${shareWords(adoption.byRequest)}</b> ${say('countOf', { part, whole })}</span></div>`;
  });
  const more = sites.length > SITES_DRAWN ? ` ${say('reportSitesMore', { count: SITES_DRAWN })}` : '';
  const further = restWords(onPage);
  const note = further === '' ? '' : `<p class="note" role="note">${further}</p>`;
  return `<section aria-labelledby="sites"><h2 id="sites">${say('reportSites')}</h2><p class="what">${say('reportSitesWhat')}${more}</p>${note}<div class="chart">${rows.join('')}</div>${sitesTable(onPage)}</section>`;
}

function contents({ inFull }: SitesOnPage): string {
  if (inFull.length < SITES_LISTED) return '';
  const entries = inFull.map(({ entry }) => entry).join('');
  return `<nav aria-labelledby="contents"><h2 id="contents">${say('reportContents')}</h2><ul class="contents">${entries}</ul></nav>`;
}

/** The list of contents, the sites in full, and what is said of the others. */
export function siteSections(onPage: SitesOnPage): string {
  const further = restWords(onPage);
  const notes = [
    ...(onPage.allRacesDrawn ? [] : [`<p class="what">${say('reportRacesAll')}</p>`]),
    ...(further === '' ? [] : [`<p class="note" role="note">${further}</p>`]),
  ];
  const after = notes.length === 0 ? '' : `<section>${notes.join('')}</section>`;
  return `${contents(onPage)}${onPage.inFull.map(({ section }) => section).join('')}${after}`;
}
