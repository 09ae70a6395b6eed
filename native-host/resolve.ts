// From an origin to the address literals a race may connect to: pinned, literal, or looked up once; always all of them
// checked by the guard, so that nothing behind this door ever resolves a name again.
import { promises as dns } from 'node:dns';
import { isIP } from 'node:net';
import type { OriginParts } from '@photofinish/shared/origin';
import type { AttemptError } from '@photofinish/shared/outcome';
import type { AddressPolicy } from './guard.ts';

export interface ResolveOptions {
  /** `host:port` (IPv6 hosts in brackets) to address, from the settings or the command line. */
  readonly pins: ReadonlyMap<string, string>;
  /** `address:port` of a DNS server; null: the system's resolver, hosts file included. */
  readonly resolver: string | null;
  readonly policy: AddressPolicy;
  readonly signal?: AbortSignal | undefined;
}

export type Resolved =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly error: AttemptError };

/** The name under which a pin is kept. */
export function pinName(host: string, port: number): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`.toLowerCase();
}

/** Answers that mean the name exists without addresses, or does not exist. */
const NO_ADDRESS = new Set(['ENODATA', 'ENOTFOUND']);

function settled(family: PromiseSettledResult<string[]>): string[] {
  return family.status === 'fulfilled' ? family.value : [];
}

/** A and AAAA asked at once; one family's failure does not spoil the other's answer. */
async function askServer(host: string, server: string, signal: AbortSignal | undefined): Promise<string[]> {
  const resolver = new dns.Resolver();
  resolver.setServers([server]);
  const cancel = (): void => resolver.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = [...settled(v6), ...settled(v4)];
    if (addresses.length > 0) return addresses;
    const reasons = [v4, v6].map((r) => (r.status === 'rejected' ? r.reason : null));
    throw reasons.find((r) => r !== null && !NO_ADDRESS.has(r.code)) ?? reasons[0];
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

/** getaddrinfo cannot be stopped; the wait for it can. */
function abandoned(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

async function askSystem(host: string, signal: AbortSignal | undefined): Promise<string[]> {
  const found = await Promise.race([dns.lookup(host, { all: true, order: 'verbatim' }), abandoned(signal)]);
  return found.map((entry) => entry.address);
}

function failure(error: unknown, host: string, signal: AbortSignal | undefined): AttemptError {
  if (signal?.aborted) return { code: 'cancelled', message: `looking up ${host} was given up` };
  const code = String((error as NodeJS.ErrnoException).code ?? 'error');
  return NO_ADDRESS.has(code)
    ? { code: 'no-address', message: `${host} has no address (${code})` }
    : { code: 'dns-failed', message: `${host} could not be looked up (${code})` };
}

/** The addresses of an origin in the order the resolver prefers. Never throws: failure is data of the taxonomy. */
export async function resolveOrigin(origin: OriginParts, options: ResolveOptions): Promise<Resolved> {
  const { host, port } = origin;
  const known = options.pins.get(pinName(host, port)) ?? (isIP(host) === 0 ? undefined : host);
  let addresses: readonly string[];
  try {
    options.signal?.throwIfAborted();
    if (known !== undefined) addresses = [known];
    else if (options.resolver === null) addresses = await askSystem(host, options.signal);
    else addresses = await askServer(host, options.resolver, options.signal);
  } catch (error) {
    return { ok: false, error: failure(error, host, options.signal) };
  }
  if (addresses.length === 0)
    return { ok: false, error: { code: 'no-address', message: `${host} has no address` } };
  const guarded = options.policy.check(addresses);
  return guarded.ok
    ? { ok: true, addresses: guarded.addresses }
    : { ok: false, error: { code: 'blocked', message: guarded.message } };
}
