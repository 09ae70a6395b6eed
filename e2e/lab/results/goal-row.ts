// One claim of the laboratory: what was to be reached, what was measured with both ends of its interval, beside whom,
// and what follows. Every experiment says its goals in this form, so that they are judged by one rule.
import { formatTable } from '../../run/table.ts';

/** A measured value with its 95 % interval; `high` may be Infinity. Without an interval both ends are the value. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

export interface Bound {
  readonly kind: 'at most' | 'below' | 'at least';
  readonly value: number;
}

export type Verdict =
  | 'holds'
  | 'holds, whole interval'
  | 'MISSED'
  | 'not judged'
  | 'not measured'
  | 'reported';

export interface GoalClaim {
  /** What rows that belong together have in common, such as "adoption by delay". */
  readonly group: string;
  /** Who and where: "race, delay 50 ms". */
  readonly name: string;
  /** Behind each figure: "ms", "%", "x"; empty for none. */
  readonly unit: string;
  /** Null: there is no goal, the figure is reported. */
  readonly goal: Bound | null;
  /** Null: it could not be measured; `note` says why. */
  readonly measured: Estimate | null;
  /** The published figure, or the peer's of this run, that the goal is set against. */
  readonly anchor: string;
  readonly note?: string;
}

export interface GoalRow extends GoalClaim {
  readonly verdict: Verdict;
  /** What the verdict would be, where the trials are too few to judge. */
  readonly trend?: 'holds' | 'missed';
  /** Why it is not judged. */
  readonly reason?: string;
}

function meets(value: number, { kind, value: limit }: Bound): boolean {
  if (kind === 'at least') return value >= limit;
  return kind === 'below' ? value < limit : value <= limit;
}

/**
 * Judges a claim. It holds if the favourable end of the interval meets the goal, and with the whole interval if the
 * unfavourable end does too. `tooFew` says why the trials do not suffice for that; then there is only a trend.
 */
export function judgeGoal(claim: GoalClaim, tooFew?: string): GoalRow {
  const { goal, measured } = claim;
  if (measured === null) return { ...claim, verdict: 'not measured' };
  if (goal === null) return { ...claim, verdict: 'reported' };
  const [best, worst] =
    goal.kind === 'at least' ? [measured.high, measured.low] : [measured.low, measured.high];
  const holds = meets(best, goal);
  if (tooFew !== undefined)
    return { ...claim, verdict: 'not judged', trend: holds ? 'holds' : 'missed', reason: tooFew };
  if (!holds) return { ...claim, verdict: 'MISSED' };
  return { ...claim, verdict: meets(worst, goal) ? 'holds, whole interval' : 'holds' };
}

/** Up to four significant figures, at most three decimals, and a true minus sign. */
export function formatNumber(value: number): string {
  if (value === Infinity) return '∞';
  const size = Math.abs(value);
  const digits = size === 0 ? 0 : Math.max(0, Math.min(3, 3 - Math.floor(Math.log10(size))));
  const text = value.toFixed(digits);
  return (text.includes('.') ? text.replace(/\.?0+$/, '') : text)
    .replace(/^-(?=.*[1-9])/, '−')
    .replace(/^-/, '');
}

/** "1.7 to 2.1", or "at least 1.7" where the interval has no upper end. */
export function formatInterval({ low, high }: Pick<Estimate, 'low' | 'high'>): string {
  if (high === Infinity) return `at least ${formatNumber(low)}`;
  return `${formatNumber(low)} to ${formatNumber(high)}`;
}

const withUnit = (text: string, unit: string) => (unit === '' ? text : `${text} ${unit}`);

/** The verdict with what makes it smaller or larger: "not judged (100 of 1000 trials; trend: holds)". */
export function formatVerdict({ verdict, reason, trend }: GoalRow): string {
  return verdict === 'not judged' ? `not judged (${reason}; trend: ${trend})` : verdict;
}

/** The cells of a goal's row, as text: claim, goal, measured, interval, anchor, verdict, note. */
export function goalCells(row: GoalRow): readonly string[] {
  const { name, goal, measured, unit, anchor, note = '' } = row;
  return [
    name,
    goal === null ? '' : withUnit(`${goal.kind} ${formatNumber(goal.value)}`, unit),
    measured === null || Number.isNaN(measured.value) ? '–' : withUnit(formatNumber(measured.value), unit),
    measured === null ? '' : formatInterval(measured),
    anchor,
    formatVerdict(row),
    note,
  ];
}

export const GOAL_COLUMNS = [
  { title: 'claim' },
  { title: 'goal', align: 'right' },
  { title: 'measured', align: 'right' },
  { title: '95 % interval', align: 'right' },
  { title: 'anchor' },
  { title: 'verdict' },
  { title: 'note' },
] as const;

/** The groups in the order in which they first appear, each with its rows. */
export function byGroup(rows: readonly GoalRow[]): ReadonlyMap<string, readonly GoalRow[]> {
  return Map.groupBy(rows, ({ group }) => group);
}

/** The goals as text, one table a group; without a trailing newline. */
export function formatGoals(rows: readonly GoalRow[]): string {
  const tables = [...byGroup(rows)].map(
    ([group, members]) => `${group}\n${formatTable(GOAL_COLUMNS, members.map(goalCells))}`,
  );
  return tables.join('\n\n');
}

/** Whether any judged goal is missed. */
export function anyMissed(rows: readonly GoalRow[]): boolean {
  return rows.some(({ verdict }) => verdict === 'MISSED');
}
