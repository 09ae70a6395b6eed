// The report as a summary in GitHub Flavored Markdown that fits a ticket: conditions, sums, and the origins that cost
// most, each with its verdict and what to do. Everything else is in the other forms.

import { say, sayNumber } from '../language/words.ts';
import { VERDICT_CODES } from '../race/verdict-schema.ts';
import { gainCellWords } from '../verdict/gain.ts';
import { verdictName } from '../verdict/verdict-names.ts';
import { verdictText } from '../verdict/verdict-text.ts';
import { protocolName } from '../web/protocol.ts';
import { markdownCode, markdownTable, markdownText } from './markdown.ts';
import type { Report, ReportOrigin } from './report.ts';
import { addProtocols, PROTOCOL_COLUMNS } from './report-bars.ts';
import { adoptionOf, newestComparison, totalAdoption } from './report-compare.ts';
import { browserWords, networksWords, periodWords, shareCountsWords } from './report-words.ts';

const ORIGINS_LISTED = 10;

interface Listed {
  readonly site: string;
  readonly origin: ReportOrigin;
  /** Requests known to have gone over something older than HTTP/3. */
  readonly older: number;
}

function worstOrigins(report: Report): Listed[] {
  return report.sites
    .flatMap(({ site, origins }) =>
      origins.map((origin) => {
        const { known, h3 } = adoptionOf(origin);
        return { site, origin, older: known - h3 };
      }),
    )
    .filter(({ older }) => older > 0)
    .toSorted((a, b) => b.older - a.older);
}

function verdictRows(report: Report): string[][] {
  const origins = report.sites.flatMap((site) => site.origins);
  return VERDICT_CODES.map((code) => ({
    code,
    count: origins.filter(({ verdict }) => verdict.code === code).length,
  }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
    .map(({ code, count }) => [verdictName(code), sayNumber(count)]);
}

function originRow({ site, origin, older }: Listed, sites: number): string[] {
  const { known } = adoptionOf(origin);
  const compared = newestComparison(origin);
  return [
    ...(sites > 1 ? [markdownCode(site)] : []),
    markdownCode(origin.origin),
    say('countOf', { part: older, whole: known }),
    compared === undefined ? '–' : gainCellWords(compared.comparison),
    markdownText(verdictText(origin.verdict)),
  ];
}

function worst(report: Report): string[] {
  const all = worstOrigins(report);
  if (all.length === 0) return [say('reportNoneWithout')];
  const listed = all.slice(0, ORIGINS_LISTED);
  const heads = [
    ...(report.sites.length > 1 ? [say('reportSite')] : []),
    say('reportOrigin'),
    say('reportNotH3'),
    say('reportGain'),
    say('reportWhatToDo'),
  ];
  const rows = listed.map((each) => originRow(each, report.sites.length));
  return [
    `**${say('reportWorst', { count: listed.length, all: all.length })}**`,
    '',
    ...markdownTable(heads, rows),
  ];
}

function sums(report: Report): string[] {
  const { byRequest, byOrigin, byNavigation } = totalAdoption(report);
  const counts = addProtocols(report.sites.flatMap((site) => site.origins));
  const summary = say('reportSummary', {
    requests: shareCountsWords(byRequest),
    origins: shareCountsWords(byOrigin),
    navigations: shareCountsWords(byNavigation),
  });
  const protocols = PROTOCOL_COLUMNS.map(([, key]) => `${protocolName(key)} ${sayNumber(counts[key])}`);
  return [summary, '', `${say('reportRequests')}: ${protocols.join(' · ')}`];
}

/** The summary, at most 40 lines, ended by a line break. */
export function reportToMarkdown(report: Report): string {
  const [one, another] = report.sites;
  const title = one && !another ? say('reportTitleSite', { site: one.site }) : say('reportTitle');
  const conditions = [browserWords(report.browser), networksWords(report), periodWords(report.period)];
  const body =
    one === undefined
      ? [say('reportNothing')]
      : [
          ...sums(report),
          '',
          ...markdownTable([say('reportVerdict'), say('reportOrigins')], verdictRows(report)),
          '',
          ...worst(report),
        ];
  return [`## ${markdownText(title)}`, '', conditions.map(markdownText).join(' · '), '', ...body, ''].join(
    '\n',
  );
}
