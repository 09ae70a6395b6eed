// The race of one origin from options to the finished record: prepares, runs the trials, learns between them, sums up.
// Resolving names and guarding addresses happen before; storing what was learnt happens after.
import type { OriginParts } from '@photofinish/shared/origin';
import type { AttemptError, Discovered, Memory, Mode, OriginRace, Trial } from '@photofinish/shared/outcome';
import { evidenceOfRace, verdictOf } from '@photofinish/shared/verdict';
import type { Progress } from '@photofinish/shared/wire';
import type { Clock } from './clock.ts';
import { alternativePort, type Contenders, type DrivenTrial, driveTrial } from './drive.ts';
import { decisionOf } from './learn.ts';
import { MODE_RULES } from './modes.ts';
import { type Decision, planTrial } from './plan.ts';
import { summaryOf } from './summary.ts';

/** P2: the fixed delay after which old HTTP is started. */
export const DEFAULT_START_DELAY_MS = 10;
/** The budget of a race that a message asks for; the command line is bound by its flag instead. */
export const DEFAULT_TIMEOUT_MS = 3000;
/** Pairs of `compare` behind a click: the fewest that yield a gain. */
export const DEFAULT_PAIRS = 3;
/** QUIC's estimate for a host never met: its first retransmission then comes after 200 ms, as in quic-go, P2's stack. */
export const UNKNOWN_HOST_RTT_MS = 67;

/** What a host cache knows before the race; read only with memory `full`. */
export interface Known {
  /** The protocol to attempt alone, if a fresh outcome says so; null lets the race decide. */
  readonly decision: Decision | null;
  /** The Alt-Svc value last received, with its age in seconds. */
  readonly altSvc?: string;
  readonly ageSeconds: number;
}

export interface RaceOptions {
  readonly origin: OriginParts;
  /** Resolved and guarded; the first is raced. */
  readonly addresses: readonly string[];
  readonly network: string;
  readonly mode: Mode;
  readonly memory: Memory;
  /** How many trials, one after the other; `compare` counts `pairs` instead. */
  readonly trials: number;
  /** Pairs of single-protocol trials in `compare`. */
  readonly pairs?: number;
  readonly startDelayMs: number;
  readonly timeoutMs: number;
  readonly initialRttMs?: number;
  readonly known?: Known;
  readonly contenders: Contenders;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Omit<Progress, 'id' | 'type'>) => void;
}

interface Memorized {
  decision: Decision | null;
  altSvc: string | null;
  ageSeconds: number;
  /** When `ageSeconds` was right, by the monotonic clock. */
  atMs: number;
}

/** The modes of the trials to come, in order; in a series the order within a pair alternates. */
function scheduleOf(options: RaceOptions): Mode[] {
  const rules = MODE_RULES[options.mode];
  if (rules.kind === 'race') return Array<Mode>(options.trials).fill(options.mode);
  const [first, second] = rules.pair;
  return Array.from({ length: options.pairs ?? DEFAULT_PAIRS }, (_, pair): Mode[] =>
    pair % 2 === 0 ? [first, second] : [second, first],
  ).flat();
}

/** Loads what the trials need; a contender that no lane names stays unloaded. */
async function prepare(schedule: readonly Mode[], contenders: Contenders): Promise<void> {
  const names = new Set(
    schedule.flatMap((mode) => {
      const rules = MODE_RULES[mode];
      return rules.kind === 'race' ? rules.lanes.map((lane) => lane.contender) : [];
    }),
  );
  await Promise.all([...names].map((name) => contenders[name].prepare()));
}

function memorized(options: RaceOptions): Memorized {
  const known = options.memory === 'full' ? options.known : undefined;
  return {
    decision: known?.decision ?? null,
    altSvc: known?.altSvc ?? null,
    ageSeconds: known?.ageSeconds ?? 0,
    atMs: options.clock.nowMs(),
  };
}

function memorize(memory: Memorized, driven: DrivenTrial, nowMs: number): void {
  memory.decision = decisionOf([driven.trial]);
  if (driven.altSvc === null) return;
  memory.altSvc = driven.altSvc.value;
  memory.ageSeconds = driven.altSvc.ageSeconds;
  memory.atMs = nowMs;
}

async function runTrials(options: RaceOptions, schedule: readonly Mode[]): Promise<DrivenTrial[]> {
  const { origin, clock, signal, onProgress } = options;
  const address = options.addresses[0];
  if (address === undefined) return [];
  const target = {
    host: origin.host,
    authority: new URL(origin.origin).host,
    initialRttMs: options.initialRttMs ?? UNKNOWN_HOST_RTT_MS,
  };
  const memory = memorized(options);
  const done: DrivenTrial[] = [];
  for (const [index, mode] of schedule.entries()) {
    const ageSeconds = memory.ageSeconds + (clock.nowMs() - memory.atMs) / 1000;
    const plan = planTrial({
      mode,
      address,
      originPort: origin.port,
      alternativePort:
        memory.altSvc === null ? null : alternativePort(origin.host, memory.altSvc, ageSeconds),
      decision: memory.decision,
      startDelayMs: options.startDelayMs,
      timeoutMs: options.timeoutMs,
    });
    const at = { trial: index + 1, trials: schedule.length };
    const driven = await driveTrial({
      plan,
      target,
      contenders: options.contenders,
      clock,
      signal: signal ?? null,
      listener: onProgress
        ? (event, contender, atMs) => onProgress({ event, contender, ...at, atMs: Math.max(0, atMs) })
        : null,
    });
    if (signal?.aborted) break;
    done.push(driven);
    if (options.memory === 'full') memorize(memory, driven, clock.nowMs());
  }
  return done;
}

function discoveredBy(done: readonly DrivenTrial[], options: RaceOptions): Discovered {
  const remembered = options.memory === 'full' ? options.known?.altSvc : undefined;
  const h3Root = done.findLast((d) => d.knownRoot.h3 !== null)?.knownRoot.h3;
  const h2Root = done.findLast((d) => d.knownRoot.h2 !== null)?.knownRoot.h2;
  return {
    altSvc: done.findLast((d) => d.altSvc !== null)?.altSvc?.value ?? remembered ?? null,
    knownRoot: h3Root ?? h2Root ?? null,
  };
}

function record(
  options: RaceOptions,
  atMs: number,
  done: readonly DrivenTrial[],
  error: AttemptError | null,
): OriginRace {
  const trials: Trial[] = done.map((d) => d.trial);
  const race: Omit<OriginRace, 'verdict'> = {
    origin: options.origin.origin,
    network: options.network,
    mode: options.mode,
    memory: options.memory,
    startDelayMs: options.startDelayMs,
    atMs,
    trials,
    summary: summaryOf(options.mode, trials),
    discovered: discoveredBy(done, options),
    ...(error !== null && { error }),
  };
  return { ...race, verdict: verdictOf(evidenceOfRace(race)) };
}

/**
 * Races one origin. `compare` gives two trials a pair, each of one protocol alone; every other mode gives `trials`.
 * With memory `full` what one trial taught counts in the next. An abort ends everything at once: the finished trials
 * stay, the one under way is left out, and `error` is `cancelled`. Rejects only when a contender cannot be loaded.
 */
export async function raceOrigin(options: RaceOptions): Promise<OriginRace> {
  const schedule = scheduleOf(options);
  if (options.addresses.length === 0) {
    const message = `${options.origin.host} has no address`;
    return record(options, options.clock.epochMs(), [], { code: 'no-address', message });
  }
  await prepare(schedule, options.contenders);
  const atMs = options.clock.epochMs();
  const done = options.signal?.aborted ? [] : await runTrials(options, schedule);
  const cancelled: AttemptError = { code: 'cancelled', message: 'the race was cancelled' };
  return record(options, atMs, done, done.length < schedule.length ? cancelled : null);
}
