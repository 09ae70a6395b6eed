// The modes of a race as data: which contender starts when, and what becomes of it when another is adopted first.
// The engine knows these words and no mode's name; a further mode is one more entry.
import type { ContenderName, Mode } from '@photofinish/shared/outcome';

export interface Lane {
  readonly contender: ContenderName;
  /**
   * `at-once`: with the trial. `staggered`: a delay after the lane before it, at once when an attempt fails earlier.
   * `advertised`: when another contender's answer advertises a place that has not been tried.
   */
  readonly starts: 'at-once' | 'staggered' | 'advertised';
  /** What becomes of its attempt when another is adopted first. */
  readonly whenBeaten: 'runs-on' | 'cancelled';
  /** Established alone is not enough: its answer is read first and gives way to what that advertises. */
  readonly givesWay: boolean;
}

export interface RaceRules {
  readonly kind: 'race';
  readonly lanes: readonly Lane[];
  /** Taken instead of `lanes` when an unexpired alternative is known before the trial. */
  readonly lanesWhenAdvertised: readonly Lane[];
  /** A remembered decision replaces the race (memory `full`). */
  readonly usesDecision: boolean;
}

/** Trials of other modes that take turns, one pair after the other, the order within a pair alternating. */
export interface SeriesRules {
  readonly kind: 'series';
  readonly pair: readonly [Mode, Mode];
}

export type ModeRules = RaceRules | SeriesRules;

const H3_AT_ONCE: Lane = { contender: 'h3', starts: 'at-once', whenBeaten: 'runs-on', givesWay: false };
const H2_AT_ONCE: Lane = { contender: 'h2', starts: 'at-once', whenBeaten: 'cancelled', givesWay: false };
const H3_ADVERTISED: Lane = { ...H3_AT_ONCE, starts: 'advertised' };

/** P2 ("Happy Eyeballs for HTTP/3"): QUIC first, old HTTP after the delay; a beaten QUIC attempt goes on. */
const QUIC_FIRST: readonly Lane[] = [H3_AT_ONCE, { ...H2_AT_ONCE, starts: 'staggered' }];

/** The rules of each mode. */
export const MODE_RULES: Record<Mode, ModeRules> = {
  race: {
    kind: 'race',
    // An answer that names another port for HTTP/3 has that port tried too, or the verdict would blame the wrong one.
    lanes: [...QUIC_FIRST, H3_ADVERTISED],
    lanesWhenAdvertised: [...QUIC_FIRST, H3_ADVERTISED],
    usesDecision: true,
  },
  'alt-svc': {
    kind: 'race',
    // P2's baseline: a whole old-HTTP exchange teaches the client where HTTP/3 is (RFC 7838 section 2.4).
    lanes: [{ ...H2_AT_ONCE, givesWay: true }, H3_ADVERTISED],
    lanesWhenAdvertised: QUIC_FIRST,
    usesDecision: true,
  },
  // P1, test cases 1 and 2: both at once, nothing remembered.
  naive: {
    kind: 'race',
    lanes: [H3_AT_ONCE, H2_AT_ONCE],
    lanesWhenAdvertised: [H3_AT_ONCE, H2_AT_ONCE],
    usesDecision: false,
  },
  h3: { kind: 'race', lanes: [H3_AT_ONCE], lanesWhenAdvertised: [H3_AT_ONCE], usesDecision: false },
  h2: { kind: 'race', lanes: [H2_AT_ONCE], lanesWhenAdvertised: [H2_AT_ONCE], usesDecision: false },
  compare: { kind: 'series', pair: ['h3', 'h2'] },
};
