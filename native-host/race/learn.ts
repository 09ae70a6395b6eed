// What trials teach: the protocol to use from then on. One owner of that rule, for the series and for the host cache.
import { conclusiveAttempts, isOurDoing } from '@photofinish/shared/race/conclusive';
import type { Trial } from '@photofinish/shared/race/outcome';
import { isMisdirectedAlternative } from '../cache/back-off.ts';
import type { Decision } from './plan.ts';

/** True: HTTP/3 works. False: it was tried and failed. Null: nobody knows, for a beaten attempt proves nothing. */
function h3Proof(trial: Trial): boolean | null {
  const h3 = conclusiveAttempts(trial).filter(
    (a) => a.protocol === 'h3' && !isOurDoing(a) && !isMisdirectedAlternative(a),
  );
  if (h3.some((a) => a.outcome === 'adopted' || a.outcome === 'established-late')) return true;
  return h3.some((a) => a.outcome === 'failed') ? false : null;
}

/**
 * The protocol to attempt alone from now on, by the last trials that prove anything; null when they prove nothing.
 * HTTP/3 that was established late counts (P2, rule 4); old HTTP counts only if HTTP/3 was tried and failed, or if the
 * trial itself used a remembered decision.
 */
export function decisionOf(trials: readonly Trial[]): Decision | null {
  const proof = trials.map(h3Proof).findLast((p) => p !== null);
  if (proof === true) return 'h3';
  const old = trials.findLast((t) => t.adopted === 'h2' || t.adopted === 'http/1.1');
  const proven = proof === false || old?.cacheHit === true;
  return old !== undefined && proven ? (old.adopted as Decision) : null;
}
