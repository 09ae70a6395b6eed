// A comparison of two reports in GitHub Flavored Markdown that fits a ticket: conditions, sums, and the origins that
// changed with the reason on either side.

import { say } from '../language/words.ts';
import { verdictText } from '../verdict/verdict-text.ts';
import type { Adoption } from './adoption.ts';
import { markdownCode, markdownTable, markdownText } from './markdown.ts';
import type { OriginDiff, ReportDiff } from './report-diff.ts';
import { changesWords, conditionWords, gainWords, pointsWords, summaryWords } from './report-diff-words.ts';
import { browserWords, networksWords, periodWords, shareCountsWords } from './report-words.ts';

const ORIGINS_LISTED = 12;

function sideCell(origin: OriginDiff, side: 'before' | 'after'): string {
  const adoption = origin.adoption[side];
  const verdict = origin.verdict[side];
  const gain = origin.gain[side];
  if (adoption === null || verdict === null) return say('diffAbsent');
  const gained = origin.changes.includes('gain') && gain !== null ? ` ${markdownText(gainWords(gain))}.` : '';
  // The same words twice help nobody; they stand with what is now.
  const { before, after } = origin.verdict;
  const same = before !== null && after !== null && verdictText(before) === verdictText(after);
  const why = side === 'before' && same ? '' : ` ${markdownText(verdictText(verdict))}`;
  return `${shareCountsWords(adoption)}.${why}${gained}`;
}

function totals({ total }: ReportDiff): string[] {
  const row = (name: string, before: Adoption, after: Adoption) => [
    name,
    shareCountsWords(before),
    shareCountsWords(after),
    pointsWords(before, after),
  ];
  const { before, after } = total.adoption;
  const { common } = total;
  const origins = say('reportSiteOrigins', { count: common.origins });
  return markdownTable(
    [say('diffMeasure'), say('diffBefore'), say('diffAfter'), say('diffChange')],
    [
      row(say('reportByRequest'), before.byRequest, after.byRequest),
      row(say('reportByOrigin'), before.byOrigin, after.byOrigin),
      row(say('reportByNavigation'), before.byNavigation, after.byNavigation),
      row(say('diffCommon', { origins }), common.before, common.after),
    ],
  );
}

function changed(diff: ReportDiff): string[] {
  const all = diff.sites.flatMap(({ site, origins }) => origins.map((origin) => ({ site, origin })));
  if (all.length === 0) return [];
  const rows = all
    .slice(0, ORIGINS_LISTED)
    .map(({ site, origin }) => [
      markdownCode(site),
      markdownCode(origin.origin),
      changesWords(origin),
      sideCell(origin, 'before'),
      sideCell(origin, 'after'),
    ]);
  const heads = (['reportSite', 'reportOrigin', 'diffWhat', 'diffBefore', 'diffAfter'] as const).map((key) =>
    say(key),
  );
  const more = all.length - rows.length;
  return [...markdownTable(heads, rows), ...(more > 0 ? ['', say('diffMore', { count: more })] : [])];
}

function conditionLines(diff: ReportDiff): string[] {
  const side = (name: string, of: ReportDiff['before']) =>
    `- ${name}: ${[browserWords(of.browser), networksWords(of), periodWords(of.period)].map(markdownText).join(' · ')}`;
  const unfair = diff.conditions.filter((condition) => condition.unfair);
  const warning =
    unfair.length === 0
      ? [say('diffFair')]
      : [`**${say('diffUnfair')}** ${unfair.map((c) => markdownText(conditionWords(c, diff))).join(' ')}`];
  return [side(say('diffBefore'), diff.before), side(say('diffAfter'), diff.after), '', ...warning];
}

/** The comparison in at most 40 lines, ended by a line break. */
export function reportDiffToMarkdown(diff: ReportDiff): string {
  return [
    `## ${say('diffTitle')}`,
    '',
    ...conditionLines(diff),
    '',
    ...totals(diff),
    '',
    summaryWords(diff),
    '',
    ...changed(diff),
    '',
  ].join('\n');
}
