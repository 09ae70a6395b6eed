// Which trials and attempts say something about a protocol, and not only about one address or about ourselves: the one
// rule for memory, verdicts and series.
import type { Attempt, AttemptErrorCode, Trial } from './outcome.ts';

/** The trials whose outcome this machine's own lateness did not make. */
export function soundTrials(trials: readonly Trial[]): readonly Trial[] {
  return trials.filter(({ disturbed }) => disturbed !== 'outcome');
}

/** Whether there are trials, and this machine was too busy in every one of them for any evidence. */
export function isAllDisturbed(trials: readonly Trial[]): boolean {
  return trials.length > 0 && soundTrials(trials).length === 0;
}

/** The trials whose times are those of the network. */
export function timedTrials(trials: readonly Trial[]): readonly Trial[] {
  return trials.filter(({ disturbed }) => disturbed === undefined);
}

/**
 * The attempts that prove something. HTTP/3 that failed at some places while others were left, because another protocol
 * was adopted first, is not lost: with UDP broken over IPv6 alone it would be called broken everywhere.
 */
export function conclusiveAttempts(trial: Trial): readonly Attempt[] {
  if (trial.h3Undecided !== true) return trial.attempts;
  return trial.attempts.filter((a) => a.protocol !== 'h3' || a.outcome !== 'failed');
}

/** Codes that tell what this side did, or how far its limits reach: they prove nothing about a peer, nor about the way to it. */
const OURS: ReadonlySet<AttemptErrorCode | undefined> = new Set([
  'cancelled',
  'internal',
  'response-too-large',
]);

/** Whether the attempt failed by our own doing. */
export function isOurDoing({ error }: Pick<Attempt, 'error'>): boolean {
  return OURS.has(error?.code);
}
