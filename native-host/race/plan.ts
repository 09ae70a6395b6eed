// From a mode, what is remembered and the flags to the plan of one trial. Pure: the engine then only follows the plan.
import type { Mode } from '@photofinish/shared/outcome';
import { type Lane, MODE_RULES, type RaceRules } from './modes.ts';

/** What a host cache remembers as the protocol to use, null when it does not know. */
export type Decision = 'h3' | 'h2' | 'http/1.1';

/** A lane with the place its attempt goes to. */
export interface Entrant extends Lane {
  readonly address: string;
  readonly port: number;
}

/** Everything the engine needs to run one trial; times in milliseconds from its start. */
export interface TrialPlan {
  readonly entrants: readonly Entrant[];
  readonly staggerMs: number;
  readonly timeoutMs: number;
  readonly cacheHit: boolean;
}

export interface PlanInput {
  /** A mode with rules of its own, not a series. */
  readonly mode: Mode;
  readonly address: string;
  readonly originPort: number;
  /** The port of an unexpired HTTP/3 alternative known beforehand, null without one. */
  readonly alternativePort: number | null;
  /** A fresh decision from memory, null without one. */
  readonly decision: Decision | null;
  readonly startDelayMs: number;
  readonly timeoutMs: number;
}

/**
 * How long a remembered protocol is tried alone before the other one is started beside it: TCP's initial retransmission
 * time-out (RFC 6298 section 2), which also covers QUIC's first two probes. Never more than half the time-out, so that
 * a path that has gone dead since still leaves room for the other protocol.
 */
export const REMEMBERED_PATIENCE_MS = 1000;

/** The remembered contender alone, the others behind it as the fallback; null when the mode cannot start with it. */
function rememberedLanes(lanes: readonly Lane[], decision: Decision): readonly Lane[] | null {
  const contender = decision === 'h3' ? 'h3' : 'h2';
  const startable = lanes.filter((lane) => lane.starts !== 'advertised');
  const first = startable.find((lane) => lane.contender === contender);
  if (first === undefined) return null;
  const fallback = startable.filter((lane) => lane !== first);
  return [
    { ...first, starts: 'at-once', givesWay: false },
    ...fallback.map((lane): Lane => ({ ...lane, starts: 'staggered' })),
  ];
}

function rulesOf(mode: Mode): RaceRules {
  const rules = MODE_RULES[mode];
  if (rules.kind !== 'race') throw new TypeError(`${mode} is a series of trials, not a trial`);
  return rules;
}

/**
 * The plan of one trial. A fresh decision means that only its protocol is attempted (P1, test case 3): the race is the
 * fallback when that attempt fails or stays silent for `REMEMBERED_PATIENCE_MS`. Throws for a series mode.
 */
export function planTrial(input: PlanInput): TrialPlan {
  const rules = rulesOf(input.mode);
  const lanes = input.alternativePort === null ? rules.lanes : rules.lanesWhenAdvertised;
  const remembered =
    rules.usesDecision && input.decision !== null ? rememberedLanes(lanes, input.decision) : null;
  const h3Port = input.alternativePort ?? input.originPort;
  return {
    entrants: (remembered ?? lanes).map((lane) => ({
      ...lane,
      address: input.address,
      port: lane.contender === 'h3' ? h3Port : input.originPort,
    })),
    staggerMs:
      remembered === null ? input.startDelayMs : Math.min(REMEMBERED_PATIENCE_MS, input.timeoutMs / 2),
    timeoutMs: input.timeoutMs,
    cacheHit: remembered !== null,
  };
}
