// What a race knows before each of its trials: its input, without what its memory setting may not read, and with memory
// `full` also what its earlier trials taught.

import { conclusiveAttempts, isOurDoing } from '@photofinish/shared/race/conclusive';
import type { DiscoveredAlternative } from '@photofinish/shared/race/discovered';
import type { Trial } from '@photofinish/shared/race/outcome';
import {
  type Alternative,
  type AltSvc,
  alternativeHost,
  h3Alternatives,
} from '@photofinish/shared/web/alt-svc';
import { isMisdirectedAlternative } from '../cache/back-off.ts';
import { type Hints, NO_KNOWLEDGE } from '../cache/policy.ts';
import type { DrivenTrial } from './drive.ts';
import type { Decision } from './plan.ts';
import type { RaceOptions } from './run.ts';

export interface RaceMemory {
  readonly hints: Hints;
  decision(): Decision | null;
  /** Unexpired HTTP/3 alternatives. */
  alternatives(): readonly Alternative[];
  /** Whether an alternative is worth following: it has not responded with 421 (RFC 7838 section 6). */
  isUsable(alternative: Alternative): boolean;
  /** Stores what a trial taught; does nothing unless the memory is `full`. */
  learn(driven: DrivenTrial): void;
}

/** Starts with what is known now. */
export function remember({
  memory,
  known: given,
  origin: { host: own },
  clock,
}: Pick<RaceOptions, 'memory' | 'known' | 'origin' | 'clock'>): RaceMemory {
  const known = memory === 'none' || given == null ? NO_KNOWLEDGE : given;
  let decision = memory === 'full' ? known.decision : null;
  let { altSvc } = known;
  let receivedMs = clock.nowMs();
  const misdirected = new Set(known.misdirected === null ? [] : [known.misdirected]);
  const isUsable = (alternative: Alternative): boolean =>
    !misdirected.has(`${alternativeHost(alternative, own)}:${alternative.port}`);
  return {
    hints: known.hints,
    decision: () => decision,
    alternatives() {
      if (altSvc === null) return [];
      const sinceSeconds = (clock.nowMs() - receivedMs) / 1000;
      return h3Alternatives(altSvc).filter((a) => a.maxAgeSeconds > sinceSeconds && isUsable(a));
    },
    isUsable,
    learn(driven) {
      if (memory !== 'full' || driven.trial.disturbed === 'outcome') return;
      decision = decisionOf(driven.trial);
      for (const attempt of driven.trial.attempts.filter(isMisdirectedAlternative))
        misdirected.add(`${attempt.host ?? own}:${attempt.port}`);
      if (driven.altSvc === null) return;
      altSvc = driven.altSvc.value;
      receivedMs = clock.nowMs();
    },
  };
}

/** Alternatives in the form of the record. */
export function discoveredAlternatives(
  { alternatives }: AltSvc,
  source: DiscoveredAlternative['source'],
): DiscoveredAlternative[] {
  return alternatives.map(({ alpn, host, port, persist, maxAgeSeconds }) => ({
    alpn,
    host,
    port,
    persist,
    expiresInSeconds: maxAgeSeconds,
    source,
  }));
}

/** True: HTTP/3 works. False: it was tried and failed. Null: unknown, because a beaten attempt proves nothing. */
function h3Proof(trial: Trial): boolean | null {
  const h3 = conclusiveAttempts(trial).filter(
    (a) => a.protocol === 'h3' && !isOurDoing(a) && !isMisdirectedAlternative(a),
  );
  if (h3.some((a) => a.outcome === 'adopted' || a.outcome === 'established-late')) return true;
  return h3.some((a) => a.outcome === 'failed') ? false : null;
}

/**
 * The protocol to attempt alone from now on; null when the trial proves nothing. HTTP/3 established late counts (P2,
 * rule 4); TCP counts only if HTTP/3 was tried and failed, or if the trial itself was of TCP alone, as remembered.
 */
export function decisionOf(trial: Trial): Decision | null {
  const { adopted, attempts, cacheHit } = trial;
  const proof = h3Proof(trial);
  if (proof === true) return 'h3';
  if (adopted !== 'h2' && adopted !== 'http/1.1') return null;
  const isRemembered = cacheHit && attempts.every(({ protocol }) => protocol !== 'h3');
  return proof === false || isRemembered ? adopted : null;
}
