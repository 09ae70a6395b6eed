// The look-up before a race's trials: completed once, within the time-out of one trial.
import type { DnsResults } from '@photofinish/shared/race/discovered';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import { type Discoverer, type Discovery, type DiscoveryQuery, noAddress } from '../discover/discoverer.ts';
import { isTooLate, type Lateness, NEVER_LATE } from './disturbance.ts';
import type { RaceOptions } from './run.ts';

type LookUpOptions = Pick<RaceOptions, 'discovery' | 'timeoutMs' | 'clock' | 'watchLateness' | 'signal'>;

/**
 * Runs a discovery to its end, or gives up after `timeoutMs` or when the signal is aborted. Waiting for a slot does not
 * count towards `timeoutMs`. Never rejects.
 */
export async function lookUp(
  query: DiscoveryQuery,
  { discovery, timeoutMs, clock, watchLateness, signal }: LookUpOptions,
): Promise<Discovery> {
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const leave = await takeSlot(discovery, stop.signal);
  const late = watchLateness?.() ?? NEVER_LATE;
  const forget = clock.after(timeoutMs, onAbort);
  const settled = await discovery.settle(query, stop.signal);
  signal?.removeEventListener('abort', onAbort);
  forget();
  leave();
  const lateness = late.read();
  late.end();
  if (settled.ok || signal?.aborted || !stop.signal.aborted) return settled;
  return { ...settled, error: notInTime(query.origin.host, settled.names, timeoutMs, lateness) };
}

/**
 * The error for a name without an endpoint in time; no evidence if this machine was too busy to receive one. If DNS has
 * said that there are no addresses, the silence concerns something else, mostly HTTPS records, which some resolvers
 * leave unanswered.
 */
export function notInTime(
  host: string,
  { lookups }: DnsResults,
  timeoutMs: number,
  lateness: Lateness,
): AttemptError {
  const own = lookups.filter(({ name, kind }) => name === host && kind !== 'HTTPS');
  if (own.length > 0 && own.every(({ outcome }) => outcome === 'empty'))
    return noAddress(
      host,
      own.map(({ kind }) => (kind === 'AAAA' ? 'ipv6' : 'ipv4')),
    );
  const code = 'dns-failed';
  if (!isTooLate(lateness, timeoutMs)) return { code, message: `no answer within ${timeoutMs} ms` };
  const message = `this machine was too busy to receive an answer within ${timeoutMs} ms`;
  return { code, message, disturbed: true };
}

/** Concurrent look-ups: a few hundred questions in one burst overflow home routers. */
export const MAX_CONCURRENT_LOOKUPS = 32;

interface Slots {
  taken: number;
  readonly line: (() => void)[];
}

const slotsOf = new WeakMap<Discoverer, Slots>();

/** Waits for a slot, at most until the signal is aborted; the returned function releases it. */
async function takeSlot(discovery: Discoverer, signal: AbortSignal): Promise<() => void> {
  const slots = slotsOf.get(discovery) ?? { taken: 0, line: [] };
  slotsOf.set(discovery, slots);
  if (slots.taken >= MAX_CONCURRENT_LOOKUPS && !signal.aborted)
    await new Promise<void>((resolve) => {
      slots.line.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  slots.taken += 1;
  return () => {
    slots.taken -= 1;
    slots.line.shift()?.();
  };
}
