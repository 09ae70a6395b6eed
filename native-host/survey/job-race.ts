// One job of a survey as a race: held back by opt-out and budgets before anything is sent, and reported as a result, a
// postponement, or a reason to give the job up.
import { isAllDisturbed, soundTrials } from '@photofinish/shared/race/conclusive';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { MAX_PAIRS } from '@photofinish/shared/race/statistics';
import type { LineRequest } from '../cli/input-lines.ts';
import type { Clock } from '../clock.ts';
import { PACED_BY_PATH } from '../race/pacing.ts';
import type { RaceSpec, RunRace } from '../racer.ts';
import type { OptOut } from './opt-out.ts';
import type { Permit, Politeness } from './politeness.ts';
import type { Survey } from './schema.ts';

export type JobOutcome =
  | { readonly kind: 'raced'; readonly race: OriginRace }
  /**
   * It may ask again at that time, by the monotonic clock; null: when another race has ended. `backsOff`: because its
   * network does not answer.
   */
  | { readonly kind: 'postponed'; readonly againMs: number | null; readonly backsOff: boolean }
  | { readonly kind: 'opted-out' }
  /** Ended by the signal: nothing was learnt. */
  | { readonly kind: 'cancelled' };

export interface JobRaceParts {
  readonly race: RunRace;
  readonly politeness: Pick<Politeness, 'ask'>;
  /** What is in force now. */
  readonly optOut: () => OptOut;
  readonly isPaused: () => boolean;
  /** Calls whenever one of these may have changed, until the returned function is called. */
  readonly onChange: (look: () => void) => () => void;
  readonly clock: Clock;
}

/**
 * The options of every race of a survey; nothing is remembered from one to the next. With memory `hints` a race knows
 * what its cache holds.
 */
export function surveySpec(
  { mode, trials, timeoutMs }: Pick<Survey, 'mode' | 'trials' | 'timeoutMs'>,
  { origin, mode: requestedMode }: LineRequest,
  where: Pick<RaceSpec, 'network' | 'signal'>,
  memory: 'none' | 'hints' = 'none',
): RaceSpec {
  const count =
    requestedMode === mode && trials !== null ? trials : requestedMode === 'compare' ? MAX_PAIRS : 1;
  return {
    ...where,
    origin,
    mode: requestedMode,
    memory,
    trials: count,
    pairs: count,
    pacing: PACED_BY_PATH,
    timeoutMs,
  };
}

type MayUse = NonNullable<RaceSpec['mayUse']>;
type MayFollow = NonNullable<RaceSpec['mayFollow']>;

/**
 * Which alternatives a race may follow: they do not count towards any budget, but nothing is sent to hosts that opted
 * out.
 */
export function followRule(optOut: () => OptOut): MayFollow {
  return (host, address, nat64Prefix) =>
    !optOut().refusesHost(host) && !optOut().refusesAddress(address, nat64Prefix);
}

/** Whether an origin may be raced: nothing that DNS names for it has opted out. */
export function useRule(optOut: () => OptOut): MayUse {
  const mayFollow = followRule(optOut);
  return (endpoints, nat64Prefix) =>
    endpoints.every(({ host, address }) => mayFollow(host, address, nat64Prefix));
}

/**
 * Whether a race reached nothing at all, as on a network that has begun to block us. Null: it was cancelled, this
 * machine was too late, or TCP was not tried, for dropped UDP does not show that.
 */
function isRefused({ trials, error }: OriginRace): boolean | null {
  if (error?.code === 'cancelled') return null;
  const attempts = soundTrials(trials).flatMap((trial) => trial.attempts);
  // A server that refuses after a handshake, for its certificate or the name, has answered.
  if (attempts.some(({ transportMs, establishedMs }) => (transportMs ?? establishedMs) !== null))
    return false;
  if (isAllDisturbed(trials)) return null;
  return trials.length === 0 ? false : attempts.some(({ protocol }) => protocol !== 'h3') || null;
}

/**
 * Runs one job; it is cancelled when a pause begins, or when a host it sends to opts out. Rejects only when a transport
 * cannot be loaded.
 */
export async function raceJob(
  { race, politeness, optOut, isPaused, onChange, clock }: JobRaceParts,
  spec: RaceSpec,
): Promise<JobOutcome> {
  if (optOut().refusesHost(spec.origin.host)) return { kind: 'opted-out' };
  const permits: Permit[] = [];
  /** Whether what the race sends to may still be sent to. */
  const allowed: (() => boolean)[] = [() => !optOut().refusesHost(spec.origin.host)];
  let held: Exclude<JobOutcome, { kind: 'raced' }> | null = null;
  const mayUse: MayUse = (endpoints, nat64Prefix) => {
    const isAllowed = (): boolean => useRule(optOut)(endpoints, nat64Prefix);
    if (!isAllowed()) {
      held = { kind: 'opted-out' };
      return false;
    }
    const addresses = [...new Set(endpoints.map(({ address }) => address))];
    const answer = politeness.ask(addresses, clock.nowMs());
    if (!answer.ok)
      held = { kind: 'postponed', againMs: answer.againMs, backsOff: answer.reason === 'backing-off' };
    else {
      permits.push(answer);
      allowed.push(isAllowed);
    }
    return answer.ok;
  };
  const mayFollow: MayFollow = (...endpoint) => {
    const isAllowed = (): boolean => followRule(optOut)(...endpoint);
    if (!isAllowed()) return false;
    allowed.push(isAllowed);
    return true;
  };
  const stop = new AbortController();
  const stopLooking = onChange(() => {
    if (isPaused() || !allowed.every((isAllowed) => isAllowed())) stop.abort();
  });
  const signal = spec.signal ? AbortSignal.any([spec.signal, stop.signal]) : stop.signal;
  const raced = await race({ ...spec, mayUse, mayFollow, signal }).finally(stopLooking);
  for (const permit of permits) permit.end(isRefused(raced), clock.nowMs());
  if (held !== null) return held;
  return raced.error?.code === 'cancelled' ? { kind: 'cancelled' } : { kind: 'raced', race: raced };
}
