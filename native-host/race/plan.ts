// Derives the plan of one trial from mode, endpoints, memory and flags. Pure: the engine only executes it.
import type { Mode } from '@photofinish/shared/race/terms';
import type { Hints } from '../cache/policy.ts';
import type { Endpoint } from '../discover/discoverer.ts';
import { type AttemptLimits, rememberedDelayMs, TRIAL_LIMITS } from './budget.ts';
import { type GroupRules, MODE_RULES, type RaceRules } from './modes.ts';
import { type Pacing, type PacingOptions, pacingOf } from './pacing.ts';

/** The protocol that a host cache remembers. */
export type Decision = 'h3' | 'h2' | 'http/1.1';

/** A group with its endpoints in the order of attempts. */
export interface PlannedGroup extends GroupRules {
  readonly endpoints: readonly Endpoint[];
}

/** Everything the engine needs to run one trial; times in milliseconds, instants from its start. */
export interface TrialPlan {
  /** The origin's own host. */
  readonly host: string;
  readonly groups: readonly PlannedGroup[];
  readonly pacing: Pacing;
  readonly timeoutMs: number;
  readonly limits: AttemptLimits;
  /** Keys of endpoints already counted towards the limits. */
  readonly visited: ReadonlySet<string>;
  /** Endpoints are received as events during the trial. */
  readonly live: boolean;
  readonly cacheHit: boolean;
}

/** Without limits of its own, a trial has those of any trial. */
export interface PlanInput
  extends Pick<TrialPlan, 'host' | 'timeoutMs'>,
    Partial<Pick<TrialPlan, 'limits' | 'visited'>> {
  /** A mode that runs trials itself, not a series. */
  readonly mode: Mode;
  /** Known endpoints in the draft's order; empty if they are received during the trial. */
  readonly endpoints: readonly Endpoint[];
  /** A fresh decision from memory, null without one. */
  readonly decision: Decision | null;
  readonly hints: Hints;
  readonly epochMs: number;
  readonly pacing: PacingOptions;
}

/**
 * The plan of one trial. With a fresh decision only its protocol is attempted (P1, test case 3): the race is the
 * fallback when that attempt fails or stays silent for `rememberedDelayMs`. HTTP/3 known to be broken costs nothing:
 * its group is empty, so the next one opens at 0 ms. Throws for a series mode.
 */
export function planTrial(input: PlanInput): TrialPlan {
  const { mode, hints, decision, timeoutMs } = input;
  const rules = raceRulesOf(mode);
  const groups = plannedGroups(rules, input.endpoints);
  const remembered = rules.usesDecision && decision !== null ? rememberedGroups(groups, decision) : null;
  const broken = omitsH3(mode, hints, input.epochMs);
  const pacing = pacingInMode(mode, hints, input.pacing);
  return {
    host: input.host,
    // With a decision for TCP, HTTP/3 is only tried once TCP has failed: then it is tried even if known to be
    // broken.
    groups: remembered ?? (broken ? withoutH3(groups) : groups),
    pacing: remembered === null ? pacing : { ...pacing, groupDelayMs: rememberedDelayMs(timeoutMs) },
    timeoutMs,
    limits: input.limits ?? TRIAL_LIMITS,
    visited: input.visited ?? new Set(),
    live: rules.discovers === 'during',
    cacheHit: remembered !== null,
  };
}

function plannedGroups(rules: RaceRules, endpoints: readonly Endpoint[]): readonly PlannedGroup[] {
  const advertised = endpoints.some((e) => e.transport === 'h3' && e.source === 'alt-svc');
  const groups = (advertised ? rules.groupsWhenAdvertised : null) ?? rules.groups;
  const allowed = (e: Endpoint): boolean =>
    e.transport !== 'h3' || rules.h3Endpoints !== 'alt-svc' || e.source === 'alt-svc';
  return groups.map((group) => ({
    ...group,
    endpoints: endpoints.filter((e) => group.transports.includes(e.transport) && allowed(e)),
  }));
}

/** The remembered transport alone, with the others as the fallback; null when the mode cannot start with it. */
function rememberedGroups(
  groups: readonly PlannedGroup[],
  decision: Decision,
): readonly PlannedGroup[] | null {
  const transport = decision === 'h3' ? 'h3' : 'h2';
  const first = groups.find((group) => group.transports.includes(transport) && group.endpoints.length > 0);
  if (first === undefined || first.opens === 'advertised') return null;
  const fallback = groups.filter((group) => group !== first && group.opens !== 'advertised');
  return [
    { ...first, opens: 'at-once', awaitsAnswer: false, learns: false },
    ...fallback.map((group): PlannedGroup => ({ ...group, opens: 'staggered', learns: false })),
  ];
}

/** No HTTP/3 endpoint, now or learnt later. */
function withoutH3(groups: readonly PlannedGroup[]): readonly PlannedGroup[] {
  return groups.map((group) => ({
    ...group,
    transports: group.transports.filter((transport) => transport !== 'h3'),
    endpoints: group.endpoints.filter((endpoint) => endpoint.transport !== 'h3'),
  }));
}

/** Whether races in this mode leave HTTP/3 out because it is known to be broken. */
export function omitsH3(mode: Mode, hints: Hints, epochMs: number): boolean {
  return raceRulesOf(mode).avoidsBroken && hints.h3Broken !== null && epochMs < hints.h3Broken.untilMs;
}

/** The pacing of a race in this mode without a remembered decision. */
export function pacingInMode(mode: Mode, hints: Hints, options: PacingOptions): Pacing {
  const rules = MODE_RULES[mode];
  return pacingOf(hints, options, rules.kind === 'race' && rules.hedges);
}

/** The rules of a mode that runs trials itself; throws for a series. */
export function raceRulesOf(mode: Mode): RaceRules {
  const rules = MODE_RULES[mode];
  if (rules.kind !== 'race') throw new TypeError(`${mode} is a series of trials, not a trial`);
  return rules;
}
