// The report as one HTML page that needs nothing else, readable offline, in the dark, in forced colours and on grey
// paper, from one origin to hundreds of thousands. Every plot stands beside a table of the same numbers, or in it.
import { escapeMarkup as esc } from '../language/markup.ts';
import { say, sayNumber } from '../language/words.ts';
import { VERDICT_CODES } from '../race/verdict-schema.ts';
import { verdictName } from '../verdict/verdict-names.ts';
import type { Report } from './report.ts';
import { addProtocols, protocolBar, protocolLegend, shareBar, totalOf } from './report-bars.ts';
import { totalAdoption } from './report-compare.ts';
import { meaningsSection, meansLink } from './report-meanings.ts';
import { conditionEntries, reportPage } from './report-page.ts';
import { gainsSection } from './report-races.ts';
import { bySite, siteSections, sitesOnPage } from './report-sites.ts';
import { shareWords } from './report-words.ts';

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
      return `<tr><th scope="row">${meansLink(code, verdictName(code))}</th><td class="plot">${shareBar(share)}</td><td class="n"><b>${sayNumber(own.length)}</b></td><td class="n">${percent}</td><td class="n">${sayNumber(totalOf(addProtocols(own)))}</td></tr>`;
    });
  return `<section aria-labelledby="verdicts"><h2 id="verdicts">${say('reportVerdicts')}</h2><p class="what">${say('reportVerdictsWhat')}</p><div class="scroll"><table class="verdicts"><thead><tr><th scope="col">${say('reportVerdict')}</th><td class="plot"></td><th scope="col" class="n">${say('reportOrigins')}</th><th scope="col" class="n">${say('reportShare')}</th><th scope="col" class="n">${say('reportRequests')}</th></tr></thead><tbody>${rows.join('')}</tbody></table></div></section>`;
}

function body(report: Report): string {
  const onPage = sitesOnPage(report);
  return `${total(report)}${verdictBreakdown(report)}${bySite(report.sites, onPage)}${gainsSection(report)}${siteSections(onPage)}${meaningsSection(report)}`;
}

/** The whole page as a string; every text of the report is escaped, and nothing in it can run or load anything. */
export function reportToHtml(report: Report): string {
  const [one, another] = report.sites;
  const title = one && !another ? say('reportTitleSite', { site: one.site }) : say('reportTitle');
  return reportPage({
    title,
    conditions: conditions(report),
    main: one === undefined ? `<p>${say('reportNothing')}</p>` : body(report),
    footer: say('reportFooter', { schema: esc(report.schema) }),
  });
}
