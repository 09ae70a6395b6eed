// Reports and their comparison as text for a terminal: conditions first, then counts, then every verdict in words.

import type { Adoption } from '@photofinish/shared/report/adoption';
import { adoptionPercent } from '@photofinish/shared/report/adoption';
import type { Report } from '@photofinish/shared/report/report';
import type { OriginDiff, ReportDiff } from '@photofinish/shared/report/report-diff';
import {
  changesWords,
  conditionWords,
  gainWords,
  pointsWords,
  summaryWords,
} from '@photofinish/shared/report/report-diff-words';
import {
  browserWords,
  networksWords,
  periodWords,
  shareCountsWords,
} from '@photofinish/shared/report/report-words';
import { verdictText } from '@photofinish/shared/verdict/verdict-text';
import { type Cell, type Paint, printable, table, wrapped } from './text.ts';

function adoptionText(adoption: Adoption): string {
  const percent = adoptionPercent(adoption);
  return percent === null ? '–' : `${adoption.h3} of ${adoption.known} (${percent} %)`;
}

function ratioText({ hits, of }: { readonly hits: number; readonly of: number }): string {
  return of === 0 ? '–' : `${hits} of ${of} (${Math.round((100 * hits) / of)} %)`;
}

/** Columns of which the first is text and the others are numbers. */
function columns(titles: readonly string[]) {
  return titles.map((title, index) => ({
    title,
    align: index === 0 ? ('left' as const) : ('right' as const),
  }));
}

/** One report: its sites in a table, then the verdict on each origin. */
export function reportText(report: Report, paint: Paint): string {
  const { browser, period } = report;
  const head = [
    paint(
      'bold',
      `${browser.name} ${printable(browser.version)}, network ${printable(networksWords(report))}`,
    ),
    periodWords(period),
    '',
  ];
  if (report.sites.length === 0) return [...head, 'No site was recorded.'].join('\n');
  const rows = report.sites.map((site) => [
    { text: printable(site.site) },
    { text: adoptionText(site.adoption.byNavigation) },
    { text: adoptionText(site.adoption.byRequest) },
    { text: adoptionText(site.adoption.byOrigin) },
    { text: String(site.hidden) },
    { text: ratioText(site.accuracy) },
  ]);
  const titles = ['SITE', 'NAVIGATIONS H3', 'REQUESTS H3', 'ORIGINS H3', 'HIDDEN', 'FORECASTS RIGHT'];
  const verdicts = report.sites.flatMap((site) =>
    site.origins.flatMap((origin) => [
      '',
      paint('bold', origin.origin),
      ...wrapped(printable(verdictText(origin.verdict)), '  '),
    ]),
  );
  return [...head, ...table(columns(titles), rows, paint), ...verdicts].join('\n');
}

const LABELS = { before: '  before  ', after: '  after   ' } as const;
const FURTHER = ' '.repeat(LABELS.before.length);

function sideLines(origin: OriginDiff, side: 'before' | 'after'): string[] {
  const adoption = origin.adoption[side];
  const verdict = origin.verdict[side];
  const gain = origin.gain[side];
  if (adoption === null || verdict === null) return [];
  const said = [
    `${shareCountsWords(adoption)}.`,
    verdictText(verdict),
    ...(gain ? [`${gainWords(gain)}.`] : []),
  ];
  return wrapped(printable(said.join(' ')), LABELS[side], FURTHER);
}

function conditionLines(diff: ReportDiff, paint: Paint): string[] {
  const side = (of: ReportDiff['before'], name: 'before' | 'after') =>
    wrapped(
      printable(`${browserWords(of.browser)}, network ${networksWords(of)}, ${periodWords(of.period)}`),
      LABELS[name].trimStart(),
      FURTHER.slice(2),
    );
  const differ = diff.conditions.flatMap((condition) => {
    const [first = '', ...rest] = wrapped(
      printable(conditionWords(condition, diff)),
      condition.unfair ? 'unfair: ' : 'note: ',
      '  ',
    );
    return [condition.unfair ? paint('yellow', first) : first, ...rest];
  });
  return [...side(diff.before, 'before'), ...side(diff.after, 'after'), ...differ];
}

function totalLines({ total: { adoption, common } }: ReportDiff, paint: Paint): string[] {
  const row = (name: string, before: Adoption, after: Adoption): Cell[] =>
    [name, adoptionText(before), adoptionText(after), pointsWords(before, after)].map((text) => ({ text }));
  const { before, after } = adoption;
  return table(
    columns(['HTTP/3', 'BEFORE', 'AFTER', 'CHANGE']),
    [
      row('requests', before.byRequest, after.byRequest),
      row('origins', before.byOrigin, after.byOrigin),
      row('navigations', before.byNavigation, after.byNavigation),
      row(`requests of the ${common.origins} origins of both`, common.before, common.after),
    ],
    paint,
  );
}

/** Two reports compared: what makes it unfair, the sums, and each origin that changed with both sides' verdicts. */
export function reportDiffText(diff: ReportDiff, paint: Paint): string {
  const origins = diff.sites.flatMap(({ site, origins: changed }) =>
    changed.flatMap((origin) => [
      '',
      `${paint('bold', printable(origin.origin))} on ${printable(site)}: ${changesWords(origin)}`,
      ...sideLines(origin, 'before'),
      ...sideLines(origin, 'after'),
    ]),
  );
  return [
    ...conditionLines(diff, paint),
    '',
    ...totalLines(diff, paint),
    '',
    summaryWords(diff),
    ...origins,
  ].join('\n');
}
