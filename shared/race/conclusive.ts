// Which trials and attempts say something about a protocol, rather than only about one address or about ourselves: the
// one rule for memory, verdicts and series.
import type { Attempt, DiscoveryEvidence, OriginRace, Trial } from './outcome.ts';
import type { AttemptErrorCode } from './terms.ts';

/** The trials whose outcome was not caused by this machine's own lateness. */
export function soundTrials(trials: readonly Trial[]): readonly Trial[] {
  return trials.filter(({ disturbed }) => disturbed !== 'outcome');
}

/** Whether there are trials, but this machine was too busy in all of them for any evidence. */
export function isAllDisturbed(trials: readonly Trial[]): boolean {
  return trials.length > 0 && soundTrials(trials).length === 0;
}

/** The trials whose times are those of the network. */
export function timedTrials(trials: readonly Trial[]): readonly Trial[] {
  return trials.filter(({ disturbed }) => disturbed === undefined);
}

/**
 * The attempts that prove something. If HTTP/3 failed at some endpoints while others were not tried, because another
 * protocol was adopted first, HTTP/3 has not failed: with UDP broken over IPv6 only, it would be called broken
 * everywhere.
 */
export function conclusiveAttempts(trial: Trial): readonly Attempt[] {
  if (trial.h3Undecided !== true) return trial.attempts;
  return trial.attempts.filter((a) => a.protocol !== 'h3' || a.outcome !== 'failed');
}

/** Codes about what this side did, or about its limits: they prove nothing about a peer, nor about the path to it. */
const OURS: ReadonlySet<AttemptErrorCode | undefined> = new Set([
  'cancelled',
  'internal',
  'response-too-large',
]);

/** Whether the attempt failed because of this side. */
export function isOurDoing({
  error,
}: {
  readonly error?: { readonly code: AttemptErrorCode } | undefined;
}): boolean {
  return OURS.has(error?.code);
}

/**
 * Whether the chain of several races ends in a publicly known root: of one in which a handshake of QUIC was completed, as
 * its chain may differ from that over TCP, and browsers judge it alone.
 */
export function knownRootOf(
  races: readonly Pick<OriginRace, 'trials' | 'discovered'>[],
): DiscoveryEvidence['knownRoot'] {
  const judged = races.filter(({ discovered }) => discovered.knownRoot !== null);
  // A race tells the root of TCP's chain only if it saw none of QUIC's.
  const overQuic = judged.find(({ trials }) =>
    trials.some(({ attempts }) => attempts.some((a) => a.protocol === 'h3' && a.establishedMs !== null)),
  );
  return (overQuic ?? judged[0])?.discovered.knownRoot ?? null;
}
