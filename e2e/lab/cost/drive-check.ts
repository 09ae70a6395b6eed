// Whether a load was really driven: the generator must not be the bottleneck, or the figures would be of a lower load
// and of an overloaded machine.
import { percentile } from '@photofinish/shared/race/statistics';

/** One round trip of P1's link: a start later than that no longer follows the schedule. */
const MOST_LATE_P99_MS = 20;
const LEAST_RATE_SHARE = 0.97;
/** More requests may be under way at the end than at the beginning without any being late. */
const LEAST_SHORTFALL = 5;
const LEAST_IDLE_SHARE = 0.03;
const MOST_FAILED_SHARE = 0.01;

export interface Drive {
  /**
   * The scheduled and the actual start of each request, milliseconds of the same clock; both in chronological order.
   */
  readonly scheduledMs: readonly number[];
  readonly startedMs: readonly number[];
  /** Requests that ended within the measured time, including failed ones, and the number scheduled for it. */
  readonly ended: number;
  readonly expected: number;
  readonly failed: number;
  /** Unused share of the whole machine's processor time. */
  readonly idleShare: number;
  /** Error messages of the generator. */
  readonly complaints: readonly string[];
}

export interface DriveJudgement {
  readonly lateP99Ms: number;
  /** Ended over expected. */
  readonly rateShare: number;
  readonly failedShare: number;
  readonly idleShare: number;
  /** Why the load does not count as driven; empty if it does. */
  readonly why: readonly string[];
}

/** The delay of each start; an apparently early one, due to a coarser clock, counts as 0. */
export function lateness(scheduledMs: readonly number[], startedMs: readonly number[]): number[] {
  return startedMs.map((atMs, index) => Math.max(0, atMs - (scheduledMs[index] ?? atMs)));
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

/** Judges a load; without a single start it was not driven. */
export function judgeDrive(drive: Drive): DriveJudgement {
  const late = lateness(drive.scheduledMs, drive.startedMs).toSorted((a, b) => a - b);
  const lateP99Ms = late.length === 0 ? Number.POSITIVE_INFINITY : percentile(late, 0.99);
  const rateShare = drive.expected === 0 ? 0 : drive.ended / drive.expected;
  const failedShare = drive.ended === 0 ? 1 : drive.failed / drive.ended;
  const { idleShare } = drive;
  const why: string[] = [];
  if (lateP99Ms > MOST_LATE_P99_MS) why.push(`starts late: p99 ${lateP99Ms.toFixed(0)} ms`);
  const short = drive.expected - drive.ended >= LEAST_SHORTFALL || drive.ended === 0;
  if (rateShare < LEAST_RATE_SHARE && short) why.push(`rate: ${percent(rateShare)} of what was asked`);
  if (idleShare < LEAST_IDLE_SHARE) why.push(`processors: ${percent(idleShare)} left`);
  if (failedShare > MOST_FAILED_SHARE) why.push(`failed: ${percent(failedShare)}`);
  if (drive.complaints.length > 0) why.push(`generator: ${drive.complaints[0]}`);
  return { lateP99Ms, rateShare, failedShare, idleShare, why };
}
