// What the link did while the trials ran: losses asked and got, and how late its packets were.
import type { Direction, DirectionReport, LinkReport } from '../../network/shape.ts';
import type { AdoptionRun, CellResult } from '../adoption/run.ts';
import type { Estimate } from './goal-row.ts';
import { wilson } from './intervals.ts';

export interface LinkAccuracy {
  readonly cellId: string;
  readonly direction: Direction;
  readonly packets: number;
  readonly askedDelayMs: number;
  /** The least time that any packet took; null without packets. */
  readonly shortestMs: number | null;
  readonly askedLoss: number;
  /** Null without packets. */
  readonly gotLoss: Estimate | null;
  readonly overflowed: number;
  /** Later than asked, microseconds: the median turn's median, the worst turn's 99th percentile, the worst packet. */
  readonly lateUs: { readonly median: number; readonly p99: number; readonly max: number } | null;
}

/** The reports of several turns as one: counts added, the lateness of the worst. */
function accuracyOf(result: CellResult, direction: Direction): LinkAccuracy {
  const reports = result.link.map(({ report }) => report[direction]);
  const sum = (count: (report: DirectionReport) => number) =>
    reports.reduce((total, report) => total + count(report), 0);
  const lost = sum((report) => report.lost);
  const packets = lost + sum((report) => report.delivered);
  const late = reports.flatMap(({ lateUs }) => lateUs ?? []);
  const medians = late.map(({ median }) => median).sort((a, b) => a - b);
  const shortest = reports.flatMap(({ shortestUs }) => shortestUs ?? []);
  return {
    cellId: result.cell.id,
    direction,
    packets,
    askedDelayMs: result.cell.delayMs / 2,
    shortestMs: shortest.length === 0 ? null : Math.min(...shortest) / 1000,
    askedLoss: direction === 'down' ? result.cell.loss : 0,
    gotLoss: packets === 0 ? null : wilson({ hits: lost, of: packets }),
    overflowed: sum((report) => report.overflowed),
    lateUs:
      late.length === 0
        ? null
        : {
            median: medians[Math.floor((medians.length - 1) / 2)] ?? 0,
            p99: Math.max(...late.map(({ p99 }) => p99)),
            max: Math.max(...late.map(({ max }) => max)),
          },
  };
}

/** Both directions of every cell. */
export function linkAccuracy({ cells }: Pick<AdoptionRun, 'cells'>): LinkAccuracy[] {
  return cells.flatMap((result) => [accuracyOf(result, 'up'), accuracyOf(result, 'down')]);
}

const worstUs = (report: LinkReport, which: 'p99' | 'max') =>
  Math.max(report.up.lateUs?.[which] ?? 0, report.down.lateUs?.[which] ?? 0);

const inMs = (us: number) => `${(us / 1000).toFixed(2)} ms`;

/**
 * How late the link was, in words, while a contestant's trial of that index was made. Turns are of equal length where the
 * trials divide evenly among them; else the worst of all its turns is said, as it is not known which one it was.
 */
export function latenessWords(result: CellResult, contestant: string, index: number): string {
  const turns = result.link.filter((turn) => turn.contestant === contestant).map(({ report }) => report);
  const trials = result.trials[contestant]?.length ?? 0;
  if (turns.length === 0) return 'the link reported nothing';
  const own = trials % turns.length === 0 ? turns[Math.floor((index * turns.length) / trials)] : undefined;
  const among = own === undefined ? turns : [own];
  const p99 = inMs(Math.max(...among.map((report) => worstUs(report, 'p99'))));
  const max = inMs(Math.max(...among.map((report) => worstUs(report, 'max'))));
  const when = own === undefined ? 'in the worst of its turns' : 'in this turn';
  return `link ${when}: 99 % of packets at most ${p99} late, the latest ${max}`;
}
