// The look-up before a race's trials: settled once, within the time that one trial has.
import type { AttemptError } from '@photofinish/shared/outcome';
import type { Discovering, Discovery, DiscoveryQuery } from '../discover/discovering.ts';
import type { Clock } from './clock.ts';

export interface LookUp {
  readonly discovery: Discovering;
  readonly query: DiscoveryQuery;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal | null;
}

/** What became of a name that nobody answered for in time. */
export function notInTime(timeoutMs: number): AttemptError {
  return { code: 'dns-failed', message: `no answer within ${timeoutMs} ms` };
}

/** Settles a discovery, or gives it up after `timeoutMs` or when the signal is aborted. Never rejects. */
export async function lookUp({ discovery, query, timeoutMs, clock, signal }: LookUp): Promise<Discovery> {
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const forget = clock.after(timeoutMs, onAbort);
  const settled = await discovery.settle(query, stop.signal);
  signal?.removeEventListener('abort', onAbort);
  forget();
  if (settled.ok || signal?.aborted || !stop.signal.aborted) return settled;
  return { ...settled, error: notInTime(timeoutMs) };
}
