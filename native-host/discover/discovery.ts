// Discovery as used by races: completed before a race's trials, in parallel with one, or following what an answer
// advertised. Everything that it returns has passed the guard.
import type { DnsResults } from '@photofinish/shared/race/discovered';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import type { OriginParts } from '@photofinish/shared/web/origin';
import type {
  Discoverer,
  Discovery,
  DiscoveryNews,
  DiscoveryQuery,
  Endpoint,
  FollowedAlternatives,
} from './discovering.ts';
import { type DiscoveryParts, type DiscoveryRun, runDiscovery } from './discovery-run.ts';
import { RESOLUTION_DELAY_MS } from './resolution.ts';

export type { DiscoveryParts } from './discovery-run.ts';

const NO_NAMES: DnsResults = { addresses: [], services: [], lookups: [] };

function givenUp(host: string): AttemptError {
  return { code: 'cancelled', message: `looking up ${host} was given up` };
}

/** Discovery for races. */
export function openDiscovering(parts: DiscoveryParts): Discoverer {
  const { clock } = parts;
  /**
   * Addresses found for a race's origin, for as long as the race refers to it: its own alternatives are at the same
   * addresses.
   */
  const found = new WeakMap<OriginParts, ReadonlyMap<string, readonly string[]>>();

  function remember(origin: OriginParts, endpoints: readonly Endpoint[]): void {
    const own = endpoints.filter(({ host }) => host === origin.host).map(({ address }) => address);
    if (own.length > 0) found.set(origin, new Map([[origin.host, [...new Set(own)]]]));
  }

  function begin(query: DiscoveryQuery, listener: (news: DiscoveryNews) => void): DiscoveryRun {
    return runDiscovery(parts, query, new Map(), (news) => {
      if (news.type === 'endpoints') remember(query.origin, news.endpoints);
      listener(news);
    });
  }

  function settle(query: DiscoveryQuery, signal: AbortSignal): Promise<Discovery> {
    const { host } = query.origin;
    if (signal.aborted) return Promise.resolve({ ok: false, error: givenUp(host), names: NO_NAMES });
    return new Promise((resolve) => {
      let endpoints: readonly Endpoint[] = [];
      let forgetGrace: (() => void) | null = null;

      function end(error: AttemptError | null): void {
        signal.removeEventListener('abort', onAbort);
        forgetGrace?.();
        run.cancel();
        const names = run.names();
        const nat64Prefix = run.nat64Prefix();
        resolve(error === null ? { ok: true, endpoints, names, nat64Prefix } : { ok: false, error, names });
      }
      const onAbort = (): void => end(givenUp(host));
      const run = begin(query, (news) => {
        if (news.type === 'failed') {
          end(news.error);
          return;
        }
        endpoints = news.endpoints;
        if (news.final || run.delayPassed()) end(null);
        // Remaining answers are awaited for the draft's resolution delay, counted from the first usable answer.
        else forgetGrace ??= clock.after(RESOLUTION_DELAY_MS, () => run.whenAdmitted(() => end(null)));
      });
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  function follow(
    origin: OriginParts,
    alternatives: DiscoveryQuery['alternatives'],
    signal: AbortSignal,
  ): Promise<FollowedAlternatives> {
    if (signal.aborted) return Promise.resolve({ endpoints: [], names: NO_NAMES });
    const query: DiscoveryQuery = { origin, alternatives, assumeH3: false, history: new Map() };
    return new Promise((resolve) => {
      let advertised: readonly Endpoint[] = [];
      let forgetGrace: (() => void) | null = null;

      function end(): void {
        signal.removeEventListener('abort', end);
        forgetGrace?.();
        run.cancel();
        resolve({ endpoints: advertised, names: run.names() });
      }
      const run = runDiscovery(parts, query, found.get(origin) ?? new Map(), (news) => {
        if (news.type === 'endpoints')
          advertised = news.endpoints.filter(({ source }) => source === 'alt-svc');
        if (news.type === 'failed' || news.final) end();
        else if (advertised.length > 0)
          forgetGrace ??= clock.after(RESOLUTION_DELAY_MS, () => run.whenAdmitted(end));
      });
      signal.addEventListener('abort', end, { once: true });
    });
  }

  return { settle, begin, follow };
}
