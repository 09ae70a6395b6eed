// What a race knows before each of its trials: what it was given, less what its memory may not read, and with memory
// `full` what its earlier trials taught.
import { type Alternative, h3Alternatives, parseAltSvc } from '@photofinish/shared/alt-svc';
import type { DiscoveredAlternative } from '@photofinish/shared/discovered';
import type { Memory } from '@photofinish/shared/outcome';
import { type Hints, NO_HINTS } from '../cache/hints.ts';
import type { DrivenTrial } from './drive.ts';
import { decisionOf } from './learn.ts';
import type { Decision } from './plan.ts';

/** What a host cache knows before the race. Memory `hints` reads the hints alone, `none` nothing. */
export interface Known {
  /** The protocol to attempt alone, if a fresh outcome says so; null lets the race decide. */
  readonly decision: Decision | null;
  /** The Alt-Svc value last received, with its age in seconds. */
  readonly altSvc?: string;
  readonly ageSeconds: number;
  readonly hints: Hints;
}

export interface Remembered {
  readonly hints: Hints;
  decision(): Decision | null;
  /** Unexpired HTTP/3 alternatives. */
  alternatives(nowMs: number): readonly Alternative[];
  /** The Alt-Svc value that counts, null without one. */
  altSvc(): string | null;
  /** Takes in what a trial taught; nothing, unless the memory is `full`. */
  learn(driven: DrivenTrial, nowMs: number): void;
}

/** Starts with what is known at `nowMs`, by the monotonic clock. */
export function remember(memory: Memory, known: Known | undefined, nowMs: number): Remembered {
  const full = memory === 'full' ? known : undefined;
  let decision = full?.decision ?? null;
  let altSvc = full?.altSvc ?? null;
  let ageSeconds = full?.ageSeconds ?? 0;
  let heardMs = nowMs;
  return {
    hints: memory === 'none' ? NO_HINTS : (known?.hints ?? NO_HINTS),
    decision: () => decision,
    alternatives: (atMs) =>
      altSvc === null ? [] : h3Alternatives(parseAltSvc(altSvc, ageSeconds + (atMs - heardMs) / 1000)),
    altSvc: () => altSvc,
    learn(driven, atMs) {
      if (memory !== 'full') return;
      decision = decisionOf([driven.trial]);
      if (driven.altSvc === null) return;
      altSvc = driven.altSvc.value;
      ageSeconds = driven.altSvc.ageSeconds;
      heardMs = atMs;
    },
  };
}

/** Alternatives as a record keeps them. */
export function discoveredAlternatives(
  altSvc: string,
  ageSeconds: number,
  source: DiscoveredAlternative['source'],
): DiscoveredAlternative[] {
  const { alternatives } = parseAltSvc(altSvc, ageSeconds);
  return alternatives.map(({ alpn, host, port, persist, maxAgeSeconds }) => ({
    alpn,
    host,
    port,
    persist,
    expiresInSeconds: maxAgeSeconds,
    source,
  }));
}
