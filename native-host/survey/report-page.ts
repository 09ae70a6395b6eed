// The report of a survey as a page, in the manner of the extension's report: what was reached from where, what differs,
// and for each vantage point its verdicts, why HTTP/3 fails, and what it gains.
import { formatNumber } from '@photofinish/shared/language/catalog';
import { formatMs } from '@photofinish/shared/language/markup';
import type { Adoption } from '@photofinish/shared/report/adoption';
import {
  columns,
  count,
  host,
  type PageBlock,
  type PageValue,
  paragraph,
  type ReportDocument,
  type Row,
  type Section,
  section,
  table,
  text,
  type Value,
} from '@photofinish/shared/report/document';
import { documentToHtml } from '@photofinish/shared/report/html';
import type { Counts } from '@photofinish/shared/report/report';
import { attemptErrorText, failureRows, verdictName, verdictRows } from '@photofinish/shared/verdict/codes';
import { looksBlocked } from '@photofinish/shared/verdict/evidence';
import { blocksUdp } from '@photofinish/shared/verdict/verdict';
import { badLineText } from './archive.ts';
import { MAX_HOSTS } from './facts.ts';
import {
  type GainClass,
  type JobState,
  medianDifferenceMs,
  type SurveyReport,
  type VantageReport,
} from './report.ts';

const heads = columns<PageValue>;
const pageTable = table<PageValue>;

const BAD_LINES_SHOWN = 20;

const STATE_WORDS: Record<JobState, string> = {
  missing: 'not measured',
  unproven: 'no evidence',
  h3: 'HTTP/3',
  'h3-failed': 'HTTP/3 failed',
  tcp: 'HTTP/3 not tried to the end',
  not: 'not reached',
};

const origins = (n: number): string => `${formatNumber(n)} ${n === 1 ? 'origin' : 'origins'}`;
const hostCount = (n: number): string =>
  `${formatNumber(n)}${n < MAX_HOSTS ? '' : ' or more'} ${n === 1 ? 'host' : 'hosts'}`;

function reachedOf({ reach }: VantageReport): { counts: Counts; adoption: Adoption } {
  const counts = { h3: reach.h3, h2: reach.h2, 'http/1.1': reach['http/1.1'], unknown: 0 };
  return { counts, adoption: { h3: reach.h3, known: reach.h3 + reach.h2 + reach['http/1.1'], hidden: 0 } };
}

function overview({ vantages }: SurveyReport): Section {
  const head = [
    ...heads('text', 'Vantage point'),
    ...heads('number', 'Measured', 'HTTP/3', 'HTTP/2', 'HTTP/1.1', 'Not reached', 'No evidence', 'Missing'),
    ...heads('text', ''),
  ];
  const rows = vantages.map(
    ({ vantage, measured, missing, reach, network }): Row<PageValue> => [
      vantage,
      count(measured, 'strong'),
      ...[reach.h3, reach.h2, reach['http/1.1'], reach.not, reach.unproven, missing].map((n) => count(n)),
      blocksUdp(network) ? text('UDP is blocked', 'strong') : '',
    ],
  );
  const bars = vantages.map((each) => ({ site: each.vantage, ...reachedOf(each) }));
  return section(
    'reached',
    'Reached from each vantage point',
    paragraph(
      'The share of HTTP/3 is of the origins reached. Each origin counts once, with the best it was reached over.',
      'aside',
    ),
    { kind: 'bars', bars },
    pageTable('total', head, rows),
    paragraph(
      'Missing: no result in the archive; not raced yet, or given up. No evidence: nothing that was measured proves anything, because the worker was too busy, or did not race the origin.',
      'aside',
    ),
  );
}

/** A table of codes with their counts, most frequent first. */
function codeTable<Code extends Extract<PageValue, { kind: 'code' }>['code']>(
  title: string,
  counts: ReadonlyMap<Code, number>,
  words: (code: Code) => string,
): PageBlock {
  const all = counts.values().reduce((sum, n) => sum + n, 0);
  const rows = [...counts]
    .toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(
      ([code, n]): Row<PageValue> => [
        { kind: 'code', code, words: words(code) },
        { kind: 'share-bar', share: n / all },
        count(n, 'strong'),
        { kind: 'share', part: n, whole: all },
      ],
    );
  const head = [...heads('text', title), ...heads('plot', ''), ...heads('number', 'Origins', 'Share')];
  return pageTable('verdicts', head, rows);
}

function classText({ fromMs, toMs }: GainClass): string {
  return toMs === Number.POSITIVE_INFINITY ? `${fromMs} ms and more` : `${fromMs} to ${toMs} ms`;
}

function gainBlocks({ gains }: VantageReport): PageBlock[] {
  const measured = gains.filter(({ differences }) => differences.size > 0);
  if (measured.length === 0) return [];
  const head = [
    ...heads('text', 'Round trip'),
    ...heads('number', 'Compared', 'HTTP/3 faster', 'HTTP/3 slower', 'No clear difference', 'Median gain'),
  ];
  const rows = measured.map((each): Row<PageValue> => {
    const { h3Quicker, h2Quicker, unclear } = each;
    const medianMs = medianDifferenceMs(each) ?? 0;
    return [
      classText(each),
      ...[h3Quicker + h2Quicker + unclear, h3Quicker, h2Quicker, unclear].map((n) => count(n)),
      text(formatMs(medianMs), 'strong'),
    ];
  });
  return [
    {
      kind: 'article',
      title: 'What HTTP/3 gains, by round trip',
      blocks: [
        paragraph(
          'How much sooner HTTP/3 connects than HTTP over TCP (HTTP/2 or HTTP/1.1) where both were compared, each alone; the median is over all of them.',
          'aside',
        ),
        pageTable('total', head, rows),
      ],
    },
  ];
}

function causeBlocks({ causes, network }: VantageReport): PageBlock[] {
  const isBlocked = blocksUdp(network);
  const hosts = new Map([...causes].filter(([code]) => !isBlocked || !looksBlocked({ code })));
  const rule = `UDP is blocked there. QUIC was unanswered at ${hostCount(network.failedHosts)} that advertise HTTP/3 and that TCP reached, and no host answered over it: that is the network, and says nothing about the hosts. Their verdicts hold for this network only.`;
  const { reachedHosts, answeredHosts = 0 } = network;
  const works =
    reachedHosts > 0
      ? `${hostCount(reachedHosts)} reached over HTTP/3 from there`
      : `${hostCount(answeredHosts)} answered over UDP from there, though HTTP/3 failed`;
  const proof =
    reachedHosts + answeredHosts > 0
      ? `${works}, so the network does not block UDP as such: these failures are of the hosts, or of paths to them.`
      : 'No host was reached over HTTP/3, and too few that advertise it were silent to tell whether the network or the hosts are to blame.';
  const shown = hosts.size > 0 ? [codeTable('Failure', hosts, attemptErrorText)] : [];
  if (isBlocked)
    return [
      paragraph(rule, 'note'),
      ...(shown.length > 0
        ? [paragraph('What failed otherwise, over HTTP/3, where TCP works:', 'aside'), ...shown]
        : []),
    ];
  if (shown.length === 0) return [];
  return [
    {
      kind: 'article',
      title: 'Why HTTP/3 fails where it is advertised and TCP works',
      blocks: [paragraph(proof, 'aside'), ...shown],
    },
  ];
}

function vantageSection(report: VantageReport, i: number): Section {
  const { vantage, measured, missing, verdicts } = report;
  const gaps = missing === 0 ? '' : `, ${formatNumber(missing)} missing`;
  return section(
    `vantage-${i}`,
    vantage,
    paragraph(`${origins(measured)} measured${gaps}.`),
    ...causeBlocks(report),
    { kind: 'article', title: 'Verdicts', blocks: [codeTable('Verdict', verdicts, verdictName)] },
    ...gainBlocks(report),
  );
}

function differencesSection({ differences, vantages }: SurveyReport): Section {
  const { count: all, named, vantages: compared } = differences;
  const left = vantages.map(({ vantage }) => vantage).filter((vantage) => !compared.includes(vantage));
  const sentences = [
    all === 0
      ? 'No origin was reached over HTTP/3 from one vantage point and failed from another.'
      : `${origins(all)}: reached over HTTP/3 from one vantage point where it failed from another, or reached at all from one only.`,
    ...(left.length > 0 ? [`Not compared, because UDP is blocked there: ${left.join(', ')}.`] : []),
    ...(all > named.length ? [`The first ${formatNumber(named.length)} are listed.`] : []),
  ];
  const rows = named.map(
    ({ origin, states }): Row<PageValue> => [
      host(origin),
      ...states.map((state): PageValue => text(STATE_WORDS[state], state === 'h3' ? 'strong' : undefined)),
    ],
  );
  const head = heads('text', 'Origin', ...compared);
  return section(
    'differences',
    'Origins that differ between vantage points',
    paragraph(sentences.join(' '), 'aside'),
    ...(rows.length === 0 ? [] : [pageTable('total', head, rows)]),
  );
}

function badLines({ tally }: SurveyReport): PageBlock[] {
  if (tally.bad === 0) return [];
  const named = tally.badLines.slice(0, BAD_LINES_SHOWN);
  const reasons = named.map(badLineText);
  const more = tally.bad - named.length;
  if (more > 0) reasons.push(`and ${formatNumber(more)} more`);
  return [
    { kind: 'warning', words: 'Lines of the archive that hold no result, and are not counted here', reasons },
  ];
}

function conditions({ archive: { survey }, periodMs, vantages }: SurveyReport): (readonly [string, Value])[] {
  const instant = (at: number): Value => ({ kind: 'instant', at });
  return [
    ['Survey', survey.survey],
    ['Origins in the list', count(survey.list.jobs)],
    ['Vantage points', count(vantages.length)],
    ['Mode', survey.mode],
    ...(periodMs === null
      ? []
      : ([
          ['First race', instant(periodMs[0])],
          ['Last race', instant(periodMs[1])],
        ] as const)),
    ...(survey.contact === null ? [] : ([['Contact', survey.contact]] as const)),
  ];
}

function meanings({ vantages }: SurveyReport): Section {
  const codes = new Set<string>(
    vantages.flatMap(({ verdicts, causes }) => [...verdicts.keys(), ...causes.keys()]),
  );
  const rows = [...verdictRows(), ...failureRows()].filter(({ code }) => codes.has(code));
  return section('means', 'What the codes mean', { kind: 'meanings', rows });
}

function pageOf(report: SurveyReport): ReportDocument<PageBlock> {
  const { survey } = report.archive;
  const none = paragraph('The archive holds no result.');
  return {
    title: `HTTP/3 from ${report.vantages.length === 1 ? 'one vantage point' : `${report.vantages.length} vantage points`}: ${survey.survey}`,
    conditions: conditions(report),
    blocks: [
      ...badLines(report),
      ...(report.vantages.length === 0
        ? [none]
        : [
            overview(report),
            ...(report.vantages.length > 1 ? [differencesSection(report)] : []),
            ...report.vantages.map(vantageSection),
            meanings(report),
          ]),
    ],
    footer: `A vantage point's network is said to block UDP if QUIC was unanswered at two or more hosts that advertise HTTP/3 while TCP worked, and no host was reached over HTTP/3. Made by Photofinish from the archive alone. List: SHA-256 ${survey.list.sha256}.`,
  };
}

/** One self-contained HTML page. */
export function surveyReportHtml(report: SurveyReport): string {
  return documentToHtml(() => pageOf(report));
}
