// A run of `paths` as a page: what holds, how the times are distributed, and every figure beside its goal.

import type { Mark } from '@photofinish/shared/marks';
import { escapeMarkup as esc } from '@photofinish/shared/markup';
import { describeMachine } from '../../bench/result.ts';
import type { ContestantKind } from '../contestant.ts';
import { figure, goalCounts, goalsMarkup, labPage, section } from '../results/page-frame.ts';
import { signOf } from '../results/plots/drawing.ts';
import { type Strip, stripPlotSvg } from '../results/plots/strip-plot.ts';
import { DEADLINE_MS } from '../trial.ts';
import type { PathsRun, RowResult } from './result.ts';

const MARK_OF: Readonly<Record<ContestantKind, Mark>> = { ours: 'h3', peer: 'h2', browser: 'h1' };
const PLOT_PX = 760;
/** Ends of the axis: round trips are 50 ms and more, and a failed trial counts as the deadline. */
const AXIS = { fromMs: 50, toMs: 10_000, axisTitle: 'ms' };

/** The distributions of one group's times; empty where it has none to compare. */
function distribution(id: string, group: string, goals: RowResult['goals']): string {
  const shown = goals.flatMap(({ plotted, samples }) =>
    plotted === undefined ? [] : [{ plotted, samples }],
  );
  if (shown.length < 2) return '';
  const seen: Record<ContestantKind, number> = { ours: 0, peer: 0, browser: 0 };
  const strips = shown.map(({ plotted: { label, kind }, samples }): Strip => {
    const sign = signOf(MARK_OF[kind], seen[kind]);
    seen[kind] += 1;
    const valuesMs = samples.filter((ms) => ms < DEADLINE_MS);
    return { label, sign, valuesMs, failed: samples.length - valuesMs.length };
  });
  const title = `${group}: every trial`;
  const description =
    'One strip for each client on a logarithmic axis of milliseconds; the median is marked.';
  const drawing = stripPlotSvg({ id, widthPx: PLOT_PX, title, description, strips, ...AXIS });
  return figure(title, esc(`${description} The figures are in the table.`), drawing);
}

function rowMarkup({ name, goals }: RowResult): string {
  const groups = [...Map.groupBy(goals, ({ group }) => group)];
  const drawn = groups.map(([group, its], index) => distribution(`plot-${name}-${index}`, group, its));
  return section(name, name, `${goalsMarkup(goals)}${drawn.join('')}`);
}

function lateness({ rows }: PathsRun): string {
  const worst = rows.flatMap(({ link }) => [link.up.lateUs?.p99 ?? 0, link.down.lateUs?.p99 ?? 0]);
  return `${Math.max(0, ...worst)} µs at the 99th percentile of the worst row`;
}

/** One self-contained document. */
export function pathsPage(run: PathsRun): string {
  const { cpu, cores, memoryGiB, system, versions } = describeMachine(run.versions);
  const spoken = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const absent = run.absent.map(({ title, why }) => `<p>Not here: ${esc(title)}, ${esc(why)}</p>`).join('');
  const counts = goalCounts(run.rows.flatMap(({ goals }) => goals));
  return labPage({
    title: 'Broken and lossy paths',
    lead: 'What a race costs where it matters most: UDP lost, refused or known to be lost, everything dead, first flights lost. Server: Caddy at its defaults.',
    conditions: [
      ['measured', new Date(run.startedAtMs).toISOString()],
      ['trials', run.full ? 'those of --full' : 'the usual'],
      ['machine', `${cpu}, ${cores} cores, ${memoryGiB} GiB, ${system}`],
      ['versions', spoken.join(', ')],
      ['seed', String(run.seed)],
      ["the link's lateness", lateness(run)],
    ],
    main: [section('goals', 'Goals', `${counts}${absent}`), ...run.rows.map(rowMarkup)].join('\n'),
    footer:
      '<p>A goal holds if it lies within the favourable end of the 95 % interval. A failed trial counts as 30 000 ms. Records do not say when an attempt failed: the time from a refusal to the start of TCP is derived from the round trip of TCP’s connecting.</p>',
  });
}
