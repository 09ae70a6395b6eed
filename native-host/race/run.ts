// The race of one origin from options to the finished record: look-up, preparation, trials, and learning between them.
// The caller stores what was learnt.
import type { Progress } from '@photofinish/shared/port/wire';
import type { AttemptError, OriginRace } from '@photofinish/shared/race/outcome';
import { MAX_PAIRS } from '@photofinish/shared/race/statistics';
import type { Memory, Mode } from '@photofinish/shared/race/terms';
import type { OriginParts } from '@photofinish/shared/web/origin';
import type { PriorKnowledge } from '../cache/policy.ts';
import { type Clock, nextPoll } from '../clock.ts';
import {
  type Discoverer,
  type Discovery,
  type DiscoveryQuery,
  type Endpoint,
  endpointKey,
} from '../discover/discoverer.ts';
import { type AttemptLimits, isUsedUp, TRIAL_LIMITS } from './budget.ts';
import type { WatchLateness } from './disturbance.ts';
import { type DrivenTrial, driveTrial, type Transports } from './drive.ts';
import { lookUp } from './look-up.ts';
import { MODE_RULES } from './modes.ts';
import type { PacingOptions } from './pacing.ts';
import { type Decision, omitsH3, type PlanInput, planTrial, raceRulesOf } from './plan.ts';
import { isSettled, type RaceResult, recordOf, withVerdict } from './race-record.ts';
import { type RaceMemory, remember } from './remembered.ts';
import { NO_TRAFFIC, sumOfTraffic, type Traffic } from './transport.ts';

export interface RaceOptions {
  readonly origin: OriginParts;
  readonly discovery: Discoverer;
  readonly network: string;
  readonly mode: Mode;
  readonly memory: Memory;
  /** Number of consecutive trials; `compare` uses `pairs` instead. */
  readonly trials: number;
  /** Maximum number of pairs of single-protocol trials in `compare`, which ends once they have decided; default 15. */
  readonly pairs?: number;
  /** After this time `compare` starts no further pair; unlimited if absent. */
  readonly seriesMs?: number;
  readonly pacing: PacingOptions;
  /** For all trials together; if absent, each trial has its own. */
  readonly limits?: AttemptLimits;
  /** For each trial, and for the look-up before the first. */
  readonly timeoutMs: number;
  readonly known?: PriorKnowledge | null;
  /**
   * Called with the endpoints that a look-up before a trial found; if false, nothing is sent to them and the race ends
   * as `cancelled`. `nat64Prefix`: the network's own. Modes that look names up during a trial do not call it.
   */
  readonly mayUse?: (endpoints: readonly NamedAddress[], nat64Prefix: string | null) => boolean;
  /**
   * Called for each endpoint of an alternative that an answer names during a trial; if false, nothing is sent to it,
   * and the race goes on without it.
   */
  readonly mayFollow?: (host: string, address: string, nat64Prefix: string | null) => boolean;
  readonly transports: Transports;
  readonly clock: Clock;
  /** Measures how late this machine is; if absent, nothing counts as late. */
  readonly watchLateness?: WatchLateness;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Omit<Progress, 'id' | 'type'>) => void;
}

/** An address with the name that it was found for: the origin's, or one that an HTTPS record or Alt-Svc names. */
type NamedAddress = Pick<Endpoint, 'host' | 'address'>;

/**
 * Races one origin. `compare` runs two trials per pair, each of one protocol alone, and ends once they have decided;
 * every other mode runs `trials`. With memory `full` the next trial uses what the previous one taught. A name without
 * an endpoint gives `error` and no trials. An abort ends everything at once: finished trials are kept, the current one
 * is left out, and `error` is `cancelled`. Rejects only when a transport cannot be loaded.
 */
export async function raceOrigin(options: RaceOptions): Promise<OriginRace> {
  const schedule = scheduleOf(options);
  const memory = remember(options);
  const usage: RaceUsage = { attempts: 0, traffic: NO_TRAFFIC, visited: new Set() };
  const raced = await runTrials({ options, schedule, memory, usage });
  await nextPoll();
  const record = recordOf({ options, memory, ...raced });
  await nextPoll();
  return withVerdict(record);
}

interface Race {
  readonly options: RaceOptions;
  readonly schedule: readonly Mode[];
  readonly memory: RaceMemory;
  readonly usage: RaceUsage;
}

/** How much of its limits a race has used. */
interface RaceUsage {
  attempts: number;
  traffic: Traffic;
  readonly visited: Set<string>;
}

/** Runs the trials until one finds no endpoint at all, a comparison is decided, or the signal is aborted. */
async function runTrials(race: Race): Promise<Omit<RaceResult, 'options' | 'memory'>> {
  const { options, schedule, memory } = race;
  const { clock, signal } = options;
  const done: DrivenTrial[] = [];
  const decisions: (Decision | null)[] = [];
  let endpoints: Endpoints | null = null;
  let atMs = clock.epochMs();
  let sinceMs = clock.nowMs();
  const resultSoFar = (error: AttemptError | null): Omit<RaceResult, 'options' | 'memory'> => ({
    atMs,
    done,
    decisions,
    names: endpoints?.names ?? null,
    error,
  });
  // First, or loading and seeding the transports would count towards the first look-up of a process.
  if (!signal?.aborted) await prepare(schedule, options.transports);
  for (const [index, mode] of schedule.entries()) {
    if (signal?.aborted) return resultSoFar(cancelledError(signal));
    // Both connections of a pair are made to the same endpoints, or the comparison would be unfair.
    const inPair = MODE_RULES[options.mode].kind === 'series' && index % 2 === 1;
    if (raceRulesOf(mode).discovers === 'before' && !(inPair && endpoints !== null)) {
      const found = await endpointsFor(options, queryOf(options, mode, memory), endpoints);
      if (signal?.aborted) return resultSoFar(cancelledError(signal));
      if (!found.ok) return { ...resultSoFar(found.error), names: found.names };
      if (found !== endpoints && options.mayUse?.(found.endpoints, found.nat64Prefix) === false)
        return { ...resultSoFar(ENDPOINTS_REFUSED), names: found.names };
      endpoints = found;
    }
    if (index === 0) {
      atMs = clock.epochMs();
      sinceMs = clock.nowMs();
    }
    const decision = memory.decision();
    const driven = await driveOne(race, index, endpoints);
    addUsage(race, driven);
    if (signal?.aborted) return resultSoFar(cancelledError(signal));
    if (driven.discoveryError !== null && done.length === 0)
      return { ...resultSoFar(driven.discoveryError), names: driven.names };
    done.push(driven);
    decisions.push(decision);
    memory.learn(driven);
    if (isOver(race, done, sinceMs)) break;
    await nextPoll();
  }
  return resultSoFar(null);
}

const ENDPOINTS_REFUSED: AttemptError = { code: 'cancelled', message: 'these addresses may not be used now' };

/** The reason of the abort signal, if it has one. */
function cancelledError(signal: AbortSignal | undefined): AttemptError {
  const reason: unknown = signal?.reason;
  const reasonGiven = reason instanceof Error && reason.name !== 'AbortError' ? reason.message : null;
  return { code: 'cancelled', message: reasonGiven ?? 'the race was cancelled' };
}

/** Whether a series needs no further pair, or the race may start no further attempt. */
function isOver(race: Race, done: readonly DrivenTrial[], sinceMs: number): boolean {
  const { options, usage } = race;
  const { limits } = options;
  if (limits !== undefined && isUsedUp(limits, usage.attempts, usage.traffic)) return true;
  const { mode, pairs = MAX_PAIRS, seriesMs = Number.POSITIVE_INFINITY, clock } = options;
  if (MODE_RULES[mode].kind !== 'series') return false;
  return isSettled(
    done.map(({ trial }) => trial),
    pairs,
    clock.nowMs() - sinceMs >= seriesMs,
  );
}

/** The modes of all possible trials in order; in a series the order within a pair alternates. */
function scheduleOf(options: RaceOptions): Mode[] {
  const rules = MODE_RULES[options.mode];
  if (rules.kind === 'race') return Array<Mode>(options.trials).fill(options.mode);
  const [first, second] = rules.pair;
  return Array.from({ length: options.pairs ?? MAX_PAIRS }, (_, pair): Mode[] =>
    pair % 2 === 0 ? [first, second] : [second, first],
  ).flat();
}

/** Loads the transports that the trials need; a transport in no group is not loaded. */
async function prepare(schedule: readonly Mode[], transports: Transports): Promise<void> {
  const groups = [...new Set(schedule)].flatMap((mode) => raceRulesOf(mode).groups);
  const names = new Set(groups.flatMap((group) => group.transports));
  await Promise.all([...names].map((name) => transports[name].prepare()));
}

/**
 * Source of a race's endpoints before its trials; looked up again only when the advertised alternatives have changed.
 */
type Endpoints = Extract<Discovery, { readonly ok: true }> & {
  /** The alternatives that were looked up. */
  readonly advertised: string;
};

/** A look-up without an endpoint, with what it learnt nevertheless. */
type FailedDiscovery = Extract<Discovery, { readonly ok: false }>;

function queryOf(options: RaceOptions, mode: Mode, memory: RaceMemory): DiscoveryQuery {
  const { clock, origin } = options;
  const { discovers, h3Endpoints } = raceRulesOf(mode);
  // Within a trial their questions would delay the origin's own answers, and their results would not be used.
  const idle = discovers === 'during' && omitsH3(mode, memory.hints, clock.epochMs());
  return {
    origin,
    alternatives: idle ? [] : memory.alternatives(),
    assumeH3: h3Endpoints === 'assumed',
    history: memory.hints.addresses,
  };
}

async function endpointsFor(
  options: RaceOptions,
  query: DiscoveryQuery,
  last: Endpoints | null,
): Promise<Endpoints | FailedDiscovery> {
  const advertised = query.alternatives.map(({ host, port }) => `${host}:${port}`).join();
  if (last?.advertised === advertised) return last;
  const found = await lookUp(query, options);
  return found.ok ? { ...found, advertised } : (last ?? found);
}

function limitsOf({ options: { limits }, usage }: Race): Pick<PlanInput, 'limits' | 'visited'> {
  if (limits === undefined) return {};
  const left: AttemptLimits = {
    attempts: Math.min(TRIAL_LIMITS.attempts, limits.attempts - usage.attempts),
    endpoints: limits.endpoints,
    bytes: limits.bytes - usage.traffic.bytes,
    packets: limits.packets - usage.traffic.packets,
  };
  return { limits: left, visited: usage.visited };
}

function addUsage({ usage }: Race, { started, traffic }: DrivenTrial): void {
  usage.attempts += started.length;
  usage.traffic = sumOfTraffic([usage.traffic, traffic]);
  for (const endpoint of started) usage.visited.add(endpointKey(endpoint));
}

function driveOne(race: Race, index: number, endpoints: Endpoints | null) {
  const { options, schedule, memory } = race;
  const { origin, clock, onProgress, mayFollow } = options;
  // An answer is followed without a question for the prefix.
  const nat64Prefix = endpoints?.nat64Prefix ?? null;
  const mode = schedule[index] ?? options.mode;
  const plan = planTrial({
    mode,
    host: origin.host,
    endpoints: endpoints?.endpoints ?? [],
    decision: memory.decision(),
    hints: memory.hints,
    epochMs: clock.epochMs(),
    // A series measures the time of one connection.
    pacing: mode === options.mode ? options.pacing : { ...options.pacing, hedge: false },
    timeoutMs: options.timeoutMs,
    ...limitsOf(race),
  });
  const at = { trial: index + 1, trials: schedule.length };
  return driveTrial({
    ...options,
    plan,
    live: plan.live ? queryOf(options, mode, memory) : null,
    isUsable: memory.isUsable,
    mayFollow: mayFollow ? ({ host, address }) => mayFollow(host, address, nat64Prefix) : null,
    listener: onProgress
      ? (event, transport, atMs) =>
          onProgress({ event, contender: transport, ...at, atMs: Math.max(0, atMs) })
      : null,
  });
}
