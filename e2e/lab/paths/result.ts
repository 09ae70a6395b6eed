// What a run of `paths` has measured, as it is kept: JSON with every sample, CSV with every figure, and a page.
import { csvText } from '@photofinish/shared/csv';
import type { LinkReport } from '../../network/shape.ts';
import type { Absent } from '../contestant.ts';
import { leaveResults } from '../folder.ts';
import { type GoalRow, judgeGoal } from '../results/goal-row.ts';
import type { Figure } from './figure.ts';
import { pathsPage } from './page.ts';

export type JudgedFigure = GoalRow & Pick<Figure, 'samples' | 'plotted'>;

export interface RowResult {
  readonly name: string;
  readonly title: string;
  readonly trials: number;
  readonly goals: readonly JudgedFigure[];
  /** What the link did meanwhile. */
  readonly link: LinkReport;
}

export interface PathsRun {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly seed: number;
  readonly full: boolean;
  readonly versions: Readonly<Record<string, string>>;
  readonly absent: readonly Absent[];
  readonly rows: readonly RowResult[];
}

/** Judges a row's figures; `tooFew` says why they cannot be. */
export function judged(figures: readonly Figure[], tooFew: string | undefined): JudgedFigure[] {
  return figures.map((figure) => {
    const { samples, plotted, ...claim } = figure;
    return { ...judgeGoal(claim, tooFew), samples, ...(plotted !== undefined && { plotted }) };
  });
}

const HEAD = [
  'row',
  'group',
  'name',
  'unit',
  'value',
  'low',
  'high',
  'goal',
  'limit',
  'verdict',
  'anchor',
  'note',
];

/** One line a figure. */
export function toCsv({ rows }: Pick<PathsRun, 'rows'>): string {
  const lines = rows.flatMap((row) =>
    row.goals.map(({ group, name, unit, measured, goal, verdict, anchor, note }) => {
      const numbers = [measured?.value, measured?.low, measured?.high, goal?.kind, goal?.value];
      const found = numbers.map((each) => each ?? '');
      return [row.name, group, name, unit, ...found, verdict, anchor, note ?? ''];
    }),
  );
  return csvText([HEAD, ...lines]);
}

/** Writes the run to `.photofinish/lab/paths/`. */
export async function write(run: PathsRun): Promise<void> {
  await leaveResults('paths', {
    'paths.json': `${JSON.stringify({ schema: 'photofinish.lab-paths/1', ...run }, null, 1)}\n`,
    'paths.csv': toCsv(run),
    'paths.html': pathsPage(run),
  });
}
