// Two reports compared as one HTML page that needs nothing else: conditions first, then the sum, then every origin that
// changed with what it was and what it is.

import { escapeMarkup as esc } from '../language/markup.ts';
import { say, sayNumber } from '../language/words.ts';
import { verdictName } from '../verdict/verdict-names.ts';
import { verdictText } from '../verdict/verdict-text.ts';
import type { Adoption } from './adoption.ts';
import { protocolBar, protocolLegend } from './report-bars.ts';
import type { OriginDiff, ReportDiff, SiteDiff } from './report-diff.ts';
import { changesWords, conditionWords, gainWords, pointsWords, summaryWords } from './report-diff-words.ts';
import { conditionEntries, hostMarkup, languageOf, reportPage } from './report-page.ts';
import { shareCountsWords, shareWords } from './report-words.ts';

type Side = 'before' | 'after';

/** With more changed origins than this, sites are folded on screen. */
const ORIGINS_UNFOLDED = 60;

function heads(...keys: readonly Parameters<typeof say>[0][]): string {
  return keys.map((key) => `<th scope="col">${say(key)}</th>`).join('');
}

function conditions(diff: ReportDiff): string {
  const [before, after] = [conditionEntries(diff.before), conditionEntries(diff.after)];
  const rows = before.map(
    ([name, value], i) =>
      `<tr><th scope="row">${name}</th><td>${value}</td><td>${after[i]?.[1] ?? ''}</td></tr>`,
  );
  const table = `<div class="scroll"><table><thead><tr><td></td>${heads('diffBefore', 'diffAfter')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
  const said = (unfair: boolean) =>
    diff.conditions
      .filter((condition) => condition.unfair === unfair)
      .map((condition) => `<li>${esc(conditionWords(condition, diff))}</li>`)
      .join('');
  const [unfair, other] = [said(true), said(false)];
  const warning =
    unfair === ''
      ? `<p class="what">${say('diffFair')}</p>`
      : `<div class="warning" role="note"><p>${say('diffUnfair')}</p><ul>${unfair}</ul></div>`;
  return `<section aria-labelledby="conditions"><h2 id="conditions">${say('diffConditions')}</h2>${table}${warning}${other && `<ul class="what notes">${other}</ul>`}</section>`;
}

function totalRow(name: string, before: Adoption, after: Adoption): string {
  const cell = (side: Adoption) => {
    const counts = say('reportKnownHidden', { part: side.h3, whole: side.known, hidden: side.hidden });
    return `<td class="n"><b>${shareWords(side)}</b> <small>${counts}</small></td>`;
  };
  return `<tr><th scope="row">${name}</th>${cell(before)}${cell(after)}<td class="n"><b>${pointsWords(before, after)}</b></td></tr>`;
}

function total({ total: { adoption, common, verdicts } }: ReportDiff, summary: string): string {
  const { before, after } = adoption;
  const rows = [
    totalRow(say('reportByRequest'), before.byRequest, after.byRequest),
    totalRow(say('reportByOrigin'), before.byOrigin, after.byOrigin),
    totalRow(say('reportByNavigation'), before.byNavigation, after.byNavigation),
    totalRow(
      say('diffCommon', { origins: say('reportSiteOrigins', { count: common.origins }) }),
      common.before,
      common.after,
    ),
  ];
  const numberHeads = (['diffBefore', 'diffAfter', 'diffChange'] as const)
    .map((key) => `<th scope="col" class="n">${say(key)}</th>`)
    .join('');
  const verdictRows = verdicts.map(({ code, before: was, after: is }) => {
    const sign = is === was ? '' : is > was ? '+' : '−';
    return `<tr><th scope="row">${verdictName(code)}</th><td class="n">${sayNumber(was)}</td><td class="n">${sayNumber(is)}</td><td class="n"><b>${sign}${sayNumber(Math.abs(is - was))}</b></td></tr>`;
  });
  return `<section aria-labelledby="total"><h2 id="total">${say('diffTotal')}</h2><p>${summary}</p><div class="scroll"><table><thead><tr><th scope="col">${say('diffMeasure')}</th>${numberHeads}</tr></thead><tbody>${rows.join('')}</tbody></table></div></section><section aria-labelledby="verdicts"><h2 id="verdicts">${say('diffVerdicts')}</h2><div class="scroll"><table><thead><tr><th scope="col">${say('reportVerdict')}</th>${numberHeads}</tr></thead><tbody>${verdictRows.join('')}</tbody></table></div></section>`;
}

function sideCell(origin: OriginDiff, side: Side, language: string): string {
  const protocols = origin.protocols[side];
  const adoption = origin.adoption[side];
  const verdict = origin.verdict[side];
  const gain = origin.gain[side];
  if (protocols === null || adoption === null || verdict === null)
    return `<td class="side zero">${say('diffAbsent')}</td>`;
  const gained = gain === null ? '' : `<p class="what">${esc(gainWords(gain))}</p>`;
  const { code } = verdict;
  return `<td class="side">${protocolBar(protocols)}${shareCountsWords(adoption)}<p><b>${verdictName(code)}</b><br><span${language}>${esc(verdictText(verdict))}</span></p>${gained}</td>`;
}

function siteSection(site: SiteDiff, index: number, diff: ReportDiff, open: boolean): string {
  const rows = site.origins.map(
    (origin) =>
      `<tr><th scope="row">${hostMarkup(origin.origin)}</th><td class="changes">${esc(changesWords(origin))}</td>${sideCell(origin, 'before', languageOf(diff.before))}${sideCell(origin, 'after', languageOf(diff.after))}</tr>`,
  );
  const [before, after] = [site.adoption.before, site.adoption.after].map((side) => side?.byRequest ?? null);
  const share = (side: Adoption | null | undefined) => (side ? shareWords(side) : say('diffAbsent'));
  const words = `${share(before)} → ${share(after)}. ${say('diffUnchanged', { count: site.unchanged })}`;
  return `<section class="site" aria-labelledby="site-${index}"><details${open ? ' open' : ''}><summary><h2 id="site-${index}">${hostMarkup(site.site)}</h2> <span class="what">${words}</span></summary><div class="scroll"><table class="diff"><thead><tr>${heads('reportOrigin', 'diffWhat', 'diffBefore', 'diffAfter')}</tr></thead><tbody>${rows.join('')}</tbody></table></div></details></section>`;
}

/** The whole page as a string; every text of the reports is escaped, and nothing in it can run or load anything. */
export function reportDiffToHtml(diff: ReportDiff): string {
  const open = diff.total.origins.changed <= ORIGINS_UNFOLDED;
  const sites = diff.sites.map((site, i) => siteSection(site, i, diff, open));
  const legend = sites.length === 0 ? '' : `<section>${protocolLegend()}</section>`;
  return reportPage({
    title: say('diffTitle'),
    conditions: '',
    main: `${conditions(diff)}${total(diff, summaryWords(diff))}${legend}${sites.join('')}`,
    footer: say('diffFooter', { schema: esc(diff.schema) }),
  });
}
