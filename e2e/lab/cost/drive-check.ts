// Whether a load was really driven: the generator must not be what limits it, or the figures would be of a lower load
// and of a machine out of breath.
import { percentile } from '@photofinish/shared/race/statistics';

/** One round trip of P1's link: later than that a start is no longer the schedule's. */
const MOST_LATE_P99_MS = 20;
const LEAST_RATE_SHARE = 0.97;
/** More may be under way at the end than at the beginning without any being late. */
const LEAST_SHORTFALL = 5;
const LEAST_IDLE_SHARE = 0.03;
const MOST_FAILED_SHARE = 0.01;

export interface Drive {
  /** When each request was to start, and when it did, milliseconds of one clock; both in order of time. */
  readonly scheduledMs: readonly number[];
  readonly startedMs: readonly number[];
  /** Ended within the time measured, failed ones included, and what the schedule had for it. */
  readonly ended: number;
  readonly expected: number;
  readonly failed: number;
  /** Of the whole machine's processor time, unused. */
  readonly idleShare: number;
  /** What the generator complained of. */
  readonly complaints: readonly string[];
}

export interface DriveJudgement {
  readonly lateP99Ms: number;
  /** Ended over expected. */
  readonly rateShare: number;
  readonly failedShare: number;
  readonly idleShare: number;
  /** Why the load counts as not driven; none: it was. */
  readonly why: readonly string[];
}

/** By how much each start was late; a generator whose clock is coarser cannot be early. */
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
