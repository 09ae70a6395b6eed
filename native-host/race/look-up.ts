// The look-up before a race's trials: settled once, within the time that one trial has.
import type { AttemptError } from '@photofinish/shared/outcome';
import type { Discovering, Discovery, DiscoveryQuery } from '../discover/discovering.ts';
import type { Clock } from './clock.ts';
import { isTooLate } from './disturbance.ts';
import { type Lateness, NEVER_LATE, type WatchLateness } from './lateness.ts';

export interface LookUp {
  readonly discovery: Discovering;
  readonly query: DiscoveryQuery;
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Without it nothing counts as late. */
  readonly watchLateness: WatchLateness | null;
  readonly signal: AbortSignal | null;
}

/** What became of a name that nobody answered for in time, as far as we were there to hear. */
export function notInTime(timeoutMs: number, lateness: Lateness): AttemptError {
  const code = 'dns-failed';
  if (!isTooLate(lateness, timeoutMs)) return { code, message: `no answer within ${timeoutMs} ms` };
  const message = `this machine was too busy to hear an answer within ${timeoutMs} ms`;
  return { code, message, disturbed: true };
}

/** Settles a discovery, or gives it up after `timeoutMs` or when the signal is aborted. Never rejects. */
export async function lookUp({
  discovery,
  query,
  timeoutMs,
  clock,
  watchLateness,
  signal,
}: LookUp): Promise<Discovery> {
  const late = watchLateness?.() ?? NEVER_LATE;
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const forget = clock.after(timeoutMs, onAbort);
  const settled = await discovery.settle(query, stop.signal);
  signal?.removeEventListener('abort', onAbort);
  forget();
  const lateness = late.read();
  late.end();
  if (settled.ok || signal?.aborted || !stop.signal.aborted) return settled;
  return { ...settled, error: notInTime(timeoutMs, lateness) };
}
