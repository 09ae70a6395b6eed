// The report as one HTML page that needs nothing else, readable offline, in the dark, in forced colours and on grey
// paper, from one origin to thousands. Every plot stands beside a table of the same numbers, or in it.
import type { Adoption } from './adoption.ts';
import { type Mark, markOf, markSvg } from './marks.ts';
import { escapeMarkup as esc, formatBytes } from './markup.ts';
import type { Report, ReportOrigin, ReportSite } from './report.ts';
import {
  addProtocols,
  type Counts,
  countCells,
  countHeads,
  protocolBar,
  protocolLegend,
  shareBar,
  totalOf,
} from './report-bars.ts';
import { totalAdoption } from './report-compare.ts';
import { conditionEntries, hostMarkup, languageOf, reportPage } from './report-page.ts';
import { gainsSection, raceFigure } from './report-races.ts';
import { shareWords } from './report-words.ts';
import { verdictName } from './verdict-names.ts';
import { VERDICT_CODES } from './verdict-schema.ts';
import { say, sayNumber } from './words.ts';

/** Races drawn per origin, newest first, and on the whole page; the others are counted and are in the JSON. */
const RACES_DRAWN = 3;
const RACES_DRAWN_IN_ALL = 120;
const SITES_DRAWN = 30;
/** With more origins than this, sites are folded on screen; paper shows all. */
const ORIGINS_UNFOLDED = 60;
/** From so many sites on a list of contents is worth its room. */
const SITES_LISTED = 3;
const MARK_PX = 16;

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

function conditions(report: Report): string {
  const entries = conditionEntries(report).map(([k, v]) => `<div><dt>${k}</dt><dd>${v}</dd></div>`);
  return `<dl class="conditions">${entries.join('')}</dl>`;
}

function total(report: Report): string {
  const { byRequest, byOrigin, byNavigation } = totalAdoption(report);
  const figures = [
    [say('reportOfRequests'), byRequest],
    [say('reportOfOrigins'), byOrigin],
    [say('reportOfNavigations'), byNavigation],
  ] as const;
  const boxes = figures.map(([name, adoption]) => {
    const counts = { part: adoption.h3, whole: adoption.known, hidden: adoption.hidden };
    return `<div class="figure"><b>${shareWords(adoption)}</b> <span>${name}</span><small>${say('reportKnownHidden', counts)}</small></div>`;
  });
  const counts = addProtocols(report.sites.flatMap((s) => s.origins));
  const title = say(report.sites.length === 1 ? 'reportAdoptionOne' : 'reportAdoptionAll');
  return `<section aria-labelledby="total"><h2 id="total">${title}</h2><div class="figures">${boxes.join('')}</div>${protocolBar(counts)}${protocolLegend()}</section>`;
}

function contents(sites: readonly ReportSite[]): string {
  if (sites.length < SITES_LISTED) return '';
  const entries = sites.map(
    ({ site, adoption }, i) =>
      `<li><a href="#site-${i}">${hostMarkup(site)}</a> <small>${shareWords(adoption.byRequest)}</small></li>`,
  );
  return `<nav aria-labelledby="contents"><h2 id="contents">${say('reportContents')}</h2><ul class="contents">${entries.join('')}</ul></nav>`;
}

function sitesTable(sites: readonly ReportSite[]): string {
  const rows = sites.map(({ site, origins, adoption, hitRatio, accuracy }) => {
    const counts = addProtocols(origins);
    return `<tr><th scope="row">${hostMarkup(site)}</th>${countCells(counts)}${adoptionCell(adoption.byRequest)}${adoptionCell(adoption.byOrigin)}${adoptionCell(adoption.byNavigation)}${ratioCell(hitRatio)}${ratioCell(accuracy)}</tr>`;
  });
  const heads = (
    [
      'reportByRequest',
      'reportByOrigin',
      'reportByNavigation',
      'reportForecastHits',
      'reportForecastsRight',
    ] as const
  ).map((key) => `<th scope="col" class="n">${say(key)}</th>`);
  return `<div class="scroll"><table><caption>${say('reportSitesTable')}</caption><thead><tr><th scope="col">${say('reportSite')}</th>${countHeads()}${heads.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function bySite(sites: readonly ReportSite[]): string {
  const busiest = sites
    .map((site) => ({ site, counts: addProtocols(site.origins) }))
    .toSorted((a, b) => totalOf(b.counts) - totalOf(a.counts))
    .slice(0, SITES_DRAWN);
  const rows = busiest.map(({ site: { site, adoption }, counts }) => {
    const { h3: part, known: whole } = adoption.byRequest;
    return `<div class="site-row"><span class="name" title="${esc(site)}">${hostMarkup(site)}</span>${protocolBar(counts)}<span class="share"><b>${shareWords(adoption.byRequest)}</b> ${say('countOf', { part, whole })}</span></div>`;
  });
  const more = sites.length > SITES_DRAWN ? ` ${say('reportSitesMore', { count: SITES_DRAWN })}` : '';
  return `<section aria-labelledby="sites"><h2 id="sites">${say('reportSites')}</h2><p class="what">${say('reportSitesWhat')}${more}</p><div class="chart">${rows.join('')}</div>${sitesTable(sites)}</section>`;
}

function verdictBreakdown(report: Report): string {
  const origins = report.sites.flatMap((site) => site.origins);
  const rows = VERDICT_CODES.map((code) => ({
    code,
    own: origins.filter(({ verdict }) => verdict.code === code),
  }))
    .filter(({ own }) => own.length > 0)
    .toSorted((a, b) => b.own.length - a.own.length)
    .map(({ code, own }) => {
      const share = own.length / origins.length;
      const percent = say('percent', { value: Math.round(100 * share) });
      return `<tr><th scope="row">${verdictName(code)}</th><td class="plot">${shareBar(share)}</td><td class="n"><b>${sayNumber(own.length)}</b></td><td class="n">${percent}</td><td class="n">${sayNumber(totalOf(addProtocols(own)))}</td></tr>`;
    });
  return `<section aria-labelledby="verdicts"><h2 id="verdicts">${say('reportVerdicts')}</h2><p class="what">${say('reportVerdictsWhat')}</p><div class="scroll"><table class="verdicts"><thead><tr><th scope="col">${say('reportVerdict')}</th><td class="plot"></td><th scope="col" class="n">${say('reportOrigins')}</th><th scope="col" class="n">${say('reportShare')}</th><th scope="col" class="n">${say('reportRequests')}</th></tr></thead><tbody>${rows.join('')}</tbody></table></div></section>`;
}

/** The protocol that stands for an origin: the newest version it was seen to use. */
function markFor(counts: Counts): Mark {
  return markOf((['h3', 'h2', 'http/1.1'] as const).find((key) => counts[key] > 0) ?? 'unknown');
}

function originHead({ origin, protocols }: ReportOrigin, sizePx: number): string {
  return `${markSvg(markFor(protocols), sizePx)}<span>${hostMarkup(origin)}</span>`;
}

function originsTable(origins: readonly ReportOrigin[], language: string): string {
  const rows = origins.map((o) => {
    const findings = o.verdict.findings.map(({ text }) => `<li>${esc(text)}</li>`).join('');
    const list = findings ? `<ul>${findings}</ul>` : '';
    return `<tr><th scope="row"><span class="origin">${originHead(o, MARK_PX)}</span></th>${countCells(o.protocols)}<td class="n">${sayNumber(o.hidden)}</td><td class="n">${formatBytes(o.bytes)}</td><td class="verdict"${language}>${esc(o.verdict.text)}${list}</td></tr>`;
  });
  return `<div class="scroll"><table class="origins"><thead><tr><th scope="col">${say('reportOrigin')}</th>${countHeads()}<th scope="col" class="n">${say('reportHiddenOfThese')}</th><th scope="col" class="n">${say('reportBytes')}</th><th scope="col">${say('reportVerdict')}</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

/** An origin's races, as many as are left to draw. */
function originArticle(origin: ReportOrigin, id: string, left: number): string {
  const races = origin.races.toSorted((a, b) => b.atMs - a.atMs);
  const drawn = races.slice(0, Math.min(RACES_DRAWN, left)).map((race, i) => raceFigure(race, `${id}-${i}`));
  if (drawn.length === 0) return '';
  const older = races.length - drawn.length;
  const rest = older > 0 ? `<p class="what">${say('reportOlderRaces', { count: older })}</p>` : '';
  return `<article><h3 class="origin">${originHead(origin, 20)}</h3>${drawn.join('')}${rest}</article>`;
}

function siteSection(
  site: ReportSite,
  index: number,
  articles: string,
  page: { language: string; open: boolean },
): string {
  const words = say('reportSiteWhat', {
    origins: say('reportSiteOrigins', { count: site.origins.length }),
    requests: say('reportSiteRequests', { count: totalOf(addProtocols(site.origins)) }),
    hidden: site.hidden,
  });
  return `<section class="site" aria-labelledby="site-${index}"><details${page.open ? ' open' : ''}><summary><h2 id="site-${index}">${hostMarkup(site.site)}</h2> <span class="what">${words}</span></summary>${originsTable(site.origins, page.language)}${articles}</details></section>`;
}

function siteSections(report: Report): string {
  const origins = report.sites.reduce((sum, site) => sum + site.origins.length, 0);
  const page = { language: languageOf(report), open: origins <= ORIGINS_UNFOLDED };
  let left = RACES_DRAWN_IN_ALL;
  let leftOut = 0;
  const sections = report.sites.map((site, index) => {
    const articles = site.origins.map((origin, i) => {
      const article = originArticle(origin, `race-${index}-${i}`, left);
      if (article === '') leftOut += origin.races.length;
      else left -= Math.min(RACES_DRAWN, left, origin.races.length);
      return article;
    });
    return siteSection(site, index, articles.join(''), page);
  });
  const note = leftOut > 0 ? `<p class="what">${say('reportRacesAll')}</p>` : '';
  return `${sections.join('')}${note}`;
}

/** The whole page as a string; every text of the report is escaped, and nothing in it can run or load anything. */
export function reportToHtml(report: Report): string {
  const [one, another] = report.sites;
  const title = one && !another ? say('reportTitleSite', { site: one.site }) : say('reportTitle');
  const main =
    one === undefined
      ? `<p>${say('reportNothing')}</p>`
      : `${total(report)}${verdictBreakdown(report)}${bySite(report.sites)}${gainsSection(report)}${contents(report.sites)}${siteSections(report)}`;
  return reportPage({
    title,
    conditions: conditions(report),
    main,
    footer: say('reportFooter', { schema: esc(report.schema) }),
  });
}
