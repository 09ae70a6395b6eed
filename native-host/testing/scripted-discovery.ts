// Discovery on virtual time for tests of whole races: scripted answers, and a record of all queries.
import type { DnsResults } from '@photofinish/shared/race/discovered';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import { type Alternative, h3Alternatives } from '@photofinish/shared/web/alt-svc';
import type { OriginParts } from '@photofinish/shared/web/origin';
import type { Clock } from '../clock.ts';
import type {
  Discoverer,
  Discovery,
  DiscoveryNews,
  DiscoveryQuery,
  Endpoint,
  FollowedAlternatives,
  LiveDiscovery,
} from '../discover/discovering.ts';

export interface DiscoveryScript {
  /** Of the origin's own host, in order; none: no address. */
  readonly addresses?: readonly string[];
  /** Of hosts named by alternatives. */
  readonly elsewhere?: ReadonlyMap<string, string>;
  readonly nat64Prefix?: string | null;
  /** Duration of a settled discovery, or until a live one's list; null: it never answers. */
  readonly takesMs?: number | null;
  /** Duration of following alternatives; null: it never ends by itself. */
  readonly followMs?: number | null;
}

function namesOf(host: string, addresses: readonly string[]): DnsResults {
  return {
    addresses: addresses.map((address) => ({
      host,
      address,
      source: address.includes(':') ? 'aaaa' : 'a',
      ttlSeconds: 60,
    })),
    services: [],
    lookups: [],
  };
}

function endpoint(
  transport: Endpoint['transport'],
  address: string,
  port: number,
  host: string,
  source: Endpoint['source'],
): Endpoint {
  return { transport, address, port, host, source };
}

/** Endpoints by address, HTTP/3 first at each; an alternative replaces the origin's own endpoint for HTTP/3. */
export class ScriptedDiscovery implements Discoverer {
  readonly settled: DiscoveryQuery[] = [];
  readonly begun: DiscoveryQuery[] = [];
  readonly followed: (readonly Alternative[])[] = [];
  readonly #clock: Clock;
  readonly #script: Required<DiscoveryScript>;
  #live = 0;

  constructor(clock: Clock, script: DiscoveryScript = {}) {
    this.#clock = clock;
    const unless = { addresses: ['127.0.0.1'], elsewhere: new Map(), nat64Prefix: null };
    this.#script = { ...unless, takesMs: 0, followMs: 0, ...script };
  }

  /** How many live discoveries have not been cancelled. */
  live(): number {
    return this.#live;
  }

  settle(query: DiscoveryQuery, signal: AbortSignal): Promise<Discovery> {
    this.settled.push(query);
    const error: AttemptError = { code: 'cancelled', message: 'given up' };
    const givenUp: Discovery = { ok: false, error, names: namesOf(query.origin.host, []) };
    return this.#later(this.#script.takesMs, this.#found(query), givenUp, signal);
  }

  begin(query: DiscoveryQuery, listener: (news: DiscoveryNews) => void): LiveDiscovery {
    this.begun.push(query);
    this.#live += 1;
    let cancelled = false;
    const found = this.#later<Discovery | null>(this.#script.takesMs, this.#found(query), null, null);
    void found.then((result) => {
      if (cancelled || result === null) return;
      if (result.ok) listener({ type: 'endpoints', endpoints: result.endpoints, final: true });
      else listener({ type: 'failed', error: result.error });
    });
    return {
      names: () => namesOf(query.origin.host, this.#script.addresses),
      cancel: () => {
        if (!cancelled) this.#live -= 1;
        cancelled = true;
      },
    };
  }

  follow(
    origin: OriginParts,
    alternatives: readonly Alternative[],
    signal: AbortSignal,
  ): Promise<FollowedAlternatives> {
    this.followed.push(alternatives);
    const names = namesOf(origin.host, []);
    const endpoints = this.#placesOf(origin, alternatives);
    return this.#later(this.#script.followMs, { endpoints, names }, { endpoints: [], names }, signal);
  }

  #later<T>(delayMs: number | null, value: T, given: T, signal: AbortSignal | null): Promise<T> {
    if (delayMs === 0) return Promise.resolve(value);
    return new Promise((resolve) => {
      if (delayMs !== null) this.#clock.after(delayMs, () => resolve(value));
      signal?.addEventListener('abort', () => resolve(given));
    });
  }

  #placesOf(origin: OriginParts, alternatives: readonly Alternative[]): Endpoint[] {
    const { addresses, elsewhere } = this.#script;
    return h3Alternatives({ alternatives }).flatMap(({ host, port }) => {
      const source = 'alt-svc';
      if (host === '') return addresses.map((a) => endpoint('h3', a, port, origin.host, source));
      const address = elsewhere.get(host);
      return address === undefined ? [] : [endpoint('h3', address, port, host, source)];
    });
  }

  #found({ origin, alternatives, assumeH3 }: DiscoveryQuery): Discovery {
    const { addresses } = this.#script;
    const names = namesOf(origin.host, addresses);
    if (addresses.length === 0)
      return { ok: false, error: { code: 'no-address', message: `${origin.host} has no address` }, names };
    const advertised = this.#placesOf(origin, alternatives);
    const own = addresses.flatMap((address) => [
      ...(assumeH3 && advertised.length === 0
        ? [endpoint('h3', address, origin.port, origin.host, 'origin')]
        : []),
      endpoint('h2', address, origin.port, origin.host, 'origin'),
    ]);
    return { ok: true, endpoints: [...advertised, ...own], names, nat64Prefix: this.#script.nat64Prefix };
  }
}
