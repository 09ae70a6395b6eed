// The race modes as data: which endpoints a group contains, when it opens, and what happens to it when another group's
// attempt is adopted first. The engine knows these rules and no mode names; a new mode is one more entry.
import type { Mode, TransportName } from '@photofinish/shared/race/terms';

/** An ordered list of endpoints attempted one after the other; groups run in parallel. */
export interface GroupRules {
  /** The transports whose endpoints it contains. */
  readonly transports: readonly TransportName[];
  /**
   * `at-once`: with the trial. `staggered`: a delay after that, or at once when a group fails earlier.
   * `advertised`: when another group's answer advertises endpoints for it.
   */
  readonly opens: 'at-once' | 'staggered' | 'advertised';
  /** What happens to its attempts when another group's is adopted first. */
  readonly whenBeaten: 'runs-on' | 'cancelled';
  /** A handshake alone does not win: the answer is read first, and alternatives that it advertises take precedence. */
  readonly awaitsAnswer: boolean;
  /** Endpoints advertised by another group's answer replace those not attempted yet. */
  readonly learns: boolean;
}

export interface RaceRules {
  readonly kind: 'race';
  readonly groups: readonly GroupRules[];
  /** Used instead of `groups` when an unexpired alternative is known before the trial; absent: the same groups. */
  readonly groupsWhenAdvertised?: readonly GroupRules[];
  /**
   * Where HTTP/3 is tried. `assumed`: at the origin's own port even if nothing advertises it (P2). `alt-svc`: only at
   * advertised alternatives. `discovered`: wherever DNS and alternatives name it.
   */
  readonly h3Endpoints: 'assumed' | 'alt-svc' | 'discovered';
  /** Names are looked up before the trials, or within each trial and as part of its time. */
  readonly discovers: 'before' | 'during';
  /** A hedged QUIC attempt may start beside the first one. */
  readonly hedges: boolean;
  /** A remembered decision replaces the race (memory `full`). */
  readonly usesDecision: boolean;
  /** HTTP/3 remembered as broken is left out (memory `hints` and `full`). */
  readonly avoidsBroken: boolean;
}

/** Alternates trials of other modes in pairs, alternating the order within a pair. */
interface SeriesRules {
  readonly kind: 'series';
  readonly pair: readonly [Mode, Mode];
}

export type ModeRules = RaceRules | SeriesRules;

const H3: GroupRules = {
  transports: ['h3'],
  opens: 'at-once',
  whenBeaten: 'runs-on',
  awaitsAnswer: false,
  learns: false,
};
const H2: GroupRules = { ...H3, transports: ['h2'], whenBeaten: 'cancelled' };

/** P2 ("Happy Eyeballs for HTTP/3"): QUIC first, TCP after the delay; a beaten QUIC group continues. */
const QUIC_FIRST: readonly GroupRules[] = [H3, { ...H2, opens: 'staggered' }];

function alone(group: GroupRules): RaceRules {
  return {
    kind: 'race',
    groups: [group],
    h3Endpoints: 'assumed',
    discovers: 'before',
    hedges: false,
    usesDecision: false,
    avoidsBroken: false,
  };
}

/**
 * If an answer names another endpoint for HTTP/3, that is tried too; otherwise the verdict would blame the wrong one.
 */
const LEARNING_QUIC_FIRST = QUIC_FIRST.map((group) =>
  group.transports.includes('h3') ? { ...group, learns: true } : group,
);

/** The rules of each mode. */
export const MODE_RULES: Record<Mode, ModeRules> = {
  race: {
    kind: 'race',
    groups: LEARNING_QUIC_FIRST,
    h3Endpoints: 'assumed',
    discovers: 'before',
    hedges: true,
    usesDecision: true,
    avoidsBroken: true,
  },
  // Happy Eyeballs v3, section 6: one list across protocols and families; on success all others are cancelled.
  v3: {
    ...alone({ ...H3, transports: ['h3', 'h2'], whenBeaten: 'cancelled' }),
    h3Endpoints: 'discovered',
    discovers: 'during',
    avoidsBroken: true,
  },
  'alt-svc': {
    kind: 'race',
    // P2's baseline: a complete exchange over TCP tells the client where HTTP/3 is (RFC 7838 section 2.4).
    groups: [
      { ...H2, awaitsAnswer: true },
      { ...H3, opens: 'advertised', learns: true },
    ],
    groupsWhenAdvertised: QUIC_FIRST,
    h3Endpoints: 'alt-svc',
    discovers: 'before',
    hedges: false,
    usesDecision: true,
    avoidsBroken: true,
  },
  // P1, test cases 1 and 2: both at once, nothing remembered.
  naive: { ...alone(H3), groups: [H3, H2] },
  h3: { ...alone(H3), hedges: true },
  h2: alone(H2),
  compare: { kind: 'series', pair: ['h3', 'h2'] },
};
