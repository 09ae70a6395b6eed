// The report as one HTML page that needs nothing else: no script, no font, no picture from anywhere, readable offline,
// in the dark, in forced colours and on grey paper. Every plot stands beside a table of the same numbers.
import { type Adoption, addAdoption, adoptionPercent, NO_ADOPTION } from './adoption.ts';
import { type Mark, markOf, markSvg } from './marks.ts';
import { escapeMarkup as esc, formatBytes, formatMs, plural } from './markup.ts';
import type { OriginRace } from './outcome.ts';
import { type Lane, laneWords, photoFinish } from './photo-finish.ts';
import { photoFinishSvg } from './photo-finish-svg.ts';
import { PROTOCOL_NAMES, type Protocol } from './protocol.ts';
import type { Report, ReportOrigin, ReportSite } from './report.ts';
import { REPORT_CSS } from './report-style.ts';

/** Races drawn per origin, newest first; the others are counted and are in the JSON. */
const RACES_DRAWN = 3;
const DRAWING_PX = 560;
const MARK_PX = 16;
const COLUMNS: readonly (readonly [Mark, string, keyof ReportOrigin['protocols']])[] = [
  ['h3', 'HTTP/3', 'h3'],
  ['h2', 'HTTP/2', 'h2'],
  ['h1', 'HTTP/1.1', 'http/1.1'],
  ['unknown', 'unknown', 'unknown'],
];
type Counts = ReportOrigin['protocols'];
const BROWSER_NAMES: Record<Report['browser']['name'], string> = { chromium: 'Chromium', firefox: 'Firefox' };

function instant(at: string | number): string {
  const iso = new Date(at).toISOString();
  return `<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC</time>`;
}

function share(adoption: Adoption): string {
  const percent = adoptionPercent(adoption);
  return percent === null ? 'unknown' : `${percent} %`;
}

function adoptionCell(adoption: Adoption): string {
  const hidden = adoption.hidden > 0 ? `<br>${adoption.hidden} hidden` : '';
  return `<td class="n"><b>${share(adoption)}</b> <small>${adoption.h3} of ${adoption.known}${hidden}</small></td>`;
}

function ratioCell(ratio: ReportSite['accuracy']): string {
  if (ratio.of === 0) return '<td class="n">none</td>';
  return `<td class="n"><b>${Math.round((100 * ratio.hits) / ratio.of)} %</b> <small>${ratio.hits} of ${ratio.of}</small></td>`;
}

function addProtocols(origins: readonly ReportOrigin[]): Counts {
  const sum = { h3: 0, h2: 0, 'http/1.1': 0, unknown: 0 };
  for (const { protocols } of origins) for (const [, , key] of COLUMNS) sum[key] += protocols[key];
  return sum;
}

function totalOf(counts: Counts): number {
  return COLUMNS.reduce((sum, [, , key]) => sum + counts[key], 0);
}

/** A bar of all network answers; figure and texture say what colour says. */
function bar(counts: Counts): string {
  const parts = COLUMNS.filter(([, , key]) => counts[key] > 0);
  const words = parts.map(([, name, key]) => `${name} ${counts[key]}`).join(', ') || 'no requests';
  const drawn = parts.map(
    ([mark, , key]) =>
      `<span class="part ${mark}" style="flex-grow:${counts[key]}"><i>${mark === 'unknown' ? '?' : mark.slice(1)}</i></span>`,
  );
  return `<div class="bar" role="img" aria-label="${esc(words)}" title="${esc(words)}">${drawn.join('')}</div>`;
}

function legend(): string {
  const entries = COLUMNS.map(([mark, name]) => `<span>${markSvg(mark, MARK_PX)} ${name}</span>`);
  return `<p class="legend">${entries.join('')}</p>`;
}

function countCells(counts: Counts): string {
  return COLUMNS.map(
    ([, , key]) => `<td class="n${counts[key] === 0 ? ' zero' : ''}">${counts[key]}</td>`,
  ).join('');
}

const COUNT_HEADS = COLUMNS.map(
  ([mark, name]) => `<th scope="col" class="n">${markSvg(mark, 12)}&nbsp;${name}</th>`,
).join('');

function conditions(report: Report): string {
  const entries = [
    ['Browser', `${BROWSER_NAMES[report.browser.name]} ${esc(report.browser.version)}`],
    ['Network', esc(report.network)],
    ['Period', `${instant(report.period.from)} to ${instant(report.period.to)}`],
    ['Made', instant(report.createdAt)],
  ];
  return `<dl class="conditions">${entries.map(([k, v]) => `<div><dt>${k}</dt><dd>${v}</dd></div>`).join('')}</dl>`;
}

function total(report: Report): string {
  const sum = (of: 'byRequest' | 'byOrigin' | 'byNavigation') =>
    report.sites.map((s) => s.adoption[of]).reduce(addAdoption, NO_ADOPTION);
  const byRequest = sum('byRequest');
  const counts = addProtocols(report.sites.flatMap((s) => s.origins));
  const figures = [
    ['of requests', byRequest],
    ['of origins', sum('byOrigin')],
    ['of navigations', sum('byNavigation')],
  ] as const;
  const boxes = figures.map(
    ([name, a]) =>
      `<div class="figure"><b>${share(a)}</b> <span>${name} over HTTP/3</span><small>${a.h3} of ${a.known} known, ${a.hidden} hidden</small></div>`,
  );
  return `<section aria-labelledby="total"><h2 id="total">Adoption of HTTP/3, all sites</h2><div class="figures">${boxes.join('')}</div>${bar(counts)}${legend()}</section>`;
}

function sitesTable(sites: readonly ReportSite[]): string {
  const rows = sites.map(({ site, origins, adoption, hitRatio, accuracy }) => {
    const counts = addProtocols(origins);
    return `<tr><th scope="row">${esc(site)}</th>${countCells(counts)}${adoptionCell(adoption.byRequest)}${adoptionCell(adoption.byOrigin)}${adoptionCell(adoption.byNavigation)}${ratioCell(hitRatio)}${ratioCell(accuracy)}</tr>`;
  });
  return `<div class="scroll"><table><caption>The same numbers: requests by protocol, adoption by request, origin and navigation, and how good the forecasts were</caption><thead><tr><th scope="col">Site</th>${COUNT_HEADS}<th scope="col" class="n">By request</th><th scope="col" class="n">By origin</th><th scope="col" class="n">By navigation</th><th scope="col" class="n">Forecast hits</th><th scope="col" class="n">Forecasts right</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function bySite(sites: readonly ReportSite[]): string {
  const rows = sites.map((s) => {
    const counts = addProtocols(s.origins);
    return `<div class="site-row"><span class="name" title="${esc(s.site)}">${esc(s.site)}</span>${bar(counts)}<span class="share"><b>${share(s.adoption.byRequest)}</b> of ${s.adoption.byRequest.known}</span></div>`;
  });
  return `<section aria-labelledby="sites"><h2 id="sites">By site</h2><p class="what">All requests over the network; the share is HTTP/3 of those whose protocol is known.</p><div class="chart">${rows.join('')}</div>${sitesTable(sites)}</section>`;
}

/** The protocol that stands for an origin: the newest version it was seen to use. */
function markFor(counts: Counts): Mark {
  const seen = (['h3', 'h2', 'http/1.1'] as const).find((key: Protocol & keyof Counts) => counts[key] > 0);
  return markOf(seen ?? 'unknown');
}

function originsTable(origins: readonly ReportOrigin[]): string {
  const rows = origins.map(
    (o) =>
      `<tr><th scope="row"><span class="origin">${markSvg(markFor(o.protocols), MARK_PX)}<span>${esc(o.origin)}</span></span></th>${countCells(o.protocols)}<td class="n">${o.hidden}</td><td class="n">${formatBytes(o.bytes)}</td><td class="verdict">${esc(o.verdict.text)}</td></tr>`,
  );
  return `<div class="scroll"><table class="origins"><thead><tr><th scope="col">Origin</th>${COUNT_HEADS}<th scope="col" class="n">of these hidden</th><th scope="col" class="n">Bytes seen</th><th scope="col">Verdict</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function laneRow(lane: Lane): string {
  const ms = (value: number | null) => `<td class="n">${value === null ? '–' : formatMs(value)}</td>`;
  const trials = lane.trialsMs.map(formatMs).join(', ') || '–';
  return `<tr><th scope="row">${PROTOCOL_NAMES[lane.protocol]}</th><td>${lane.state === 'established' ? 'established' : esc(laneWords(lane))}</td>${ms(lane.state === 'absent' ? null : lane.startMs)}${ms(lane.transportMs)}${ms(lane.establishedMs)}${ms(lane.firstByteMs)}<td class="n">${lane.established} of ${lane.tried}</td><td class="trials">${trials}</td></tr>`;
}

function raceFigure(race: OriginRace, id: string): string {
  const head = `${instant(race.atMs)}, network ${esc(race.network)}, mode ${race.mode}`;
  const error = race.error ? esc(race.error.message) : '';
  if (race.trials.length === 0)
    return `<figure><figcaption>${head}</figcaption><p>Could not be raced: ${error || 'no trial was run'}.</p></figure>`;
  const finish = photoFinish(race);
  const result =
    finish.margin === null ? esc(finish.caption) : `${esc(finish.title)}, ${esc(finish.caption)}`;
  return `<figure>${photoFinishSvg(finish, id, DRAWING_PX)}<figcaption><b>${result}</b><br>${head}${error ? `<br>Ended early: ${error}.` : ''}</figcaption><div class="scroll"><table class="small"><thead><tr><th scope="col">Protocol</th><th scope="col">Outcome</th><th scope="col" class="n">Started</th><th scope="col" class="n">Transport</th><th scope="col" class="n">Established</th><th scope="col" class="n">First byte</th><th scope="col" class="n">Finished</th><th scope="col">Established, single trials</th></tr></thead><tbody>${finish.lanes.map(laneRow).join('')}</tbody></table></div></figure>`;
}

function originArticle(origin: ReportOrigin, id: string): string {
  if (origin.races.length === 0 && origin.verdict.findings.length === 0) return '';
  const findings = origin.verdict.findings.map((f) => `<li>${esc(f.text)}</li>`).join('');
  const races = origin.races.toSorted((a, b) => b.atMs - a.atMs);
  const more = races.length - RACES_DRAWN;
  const rest = more > 0 ? `<p class="what">${plural(more, 'older race')} in the JSON report.</p>` : '';
  const drawn = races.slice(0, RACES_DRAWN).map((race, i) => raceFigure(race, `${id}-${i}`));
  return `<article><h3 class="origin">${markSvg(markFor(origin.protocols), 20)}<span>${esc(origin.origin)}</span></h3><p>${esc(origin.verdict.text)}</p>${findings ? `<ul>${findings}</ul>` : ''}${drawn.join('')}${rest}</article>`;
}

function siteSection(site: ReportSite, index: number): string {
  const requests = totalOf(addProtocols(site.origins));
  const words = `${plural(site.origins.length, 'origin')}, ${plural(requests, 'request')} over the network, ${site.hidden} hidden.`;
  const articles = site.origins.map((o, i) => originArticle(o, `race-${index}-${i}`)).join('');
  return `<section class="site" aria-labelledby="site-${index}"><h2 id="site-${index}">${esc(site.site)}</h2><p class="what">${words}</p>${originsTable(site.origins)}${articles}</section>`;
}

/** The whole page as a string; every text of the report is escaped, and nothing in it can run or load anything. */
export function reportToHtml(report: Report): string {
  const one = report.sites.length === 1 ? report.sites[0] : undefined;
  const title = `Photofinish report${one ? `: ${one.site}` : ''}`;
  const body =
    report.sites.length === 0
      ? '<p>Nothing was recorded in this period.</p>'
      : `${total(report)}${bySite(report.sites)}${report.sites.map(siteSection).join('')}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>${esc(title)}</title>
<style>${REPORT_CSS}</style>
</head>
<body>
<header><h1>${esc(title)}</h1>${conditions(report)}</header>
<main>${body}</main>
<footer>Adoption counts answers that came over the network; those whose protocol a site hides stand beside it, not in it. Margins come from comparisons in which each protocol ran alone. Schema ${esc(report.schema)}.</footer>
</body>
</html>
`;
}
