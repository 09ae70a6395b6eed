// The plan of one trial for tests and the decision benchmark, and a whole race on virtual time: scripted peers and
// scripted discovery in; the validated record and all questions out.
import assert from 'node:assert/strict';
import type { DnsResults } from '@photofinish/shared/race/discovered';
import { type AttemptError, type OriginRace, originRaceSchema } from '@photofinish/shared/race/outcome';
import { type Alternative, h3Alternatives } from '@photofinish/shared/web/alt-svc';
import { type OriginParts, parseOrigin } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import { NO_HINTS } from '../cache/policy.ts';
import type { Clock } from '../clock.ts';
import type {
  Discoverer,
  Discovery,
  DiscoveryQuery,
  DiscoveryUpdate,
  Endpoint,
  FollowedAlternatives,
  LiveDiscovery,
} from '../discover/discoverer.ts';
import { PACED_BY_PATH, type PacingOptions } from '../race/pacing.ts';
import { type PlanInput, planTrial, type TrialPlan } from '../race/plan.ts';
import { type RaceOptions, raceOrigin } from '../race/run.ts';
import { type Script, scripted, virtualTime } from './virtual-time.ts';

/** Pacing options may be given beside the other fields. */
export type PlainInput = Pick<PlanInput, 'mode' | 'timeoutMs'> &
  Partial<Omit<PlanInput, 'pacing'> & PacingOptions>;

/** Extracts the pacing options from an object that contains others. */
function pacingIn(options: Partial<PacingOptions>, unless: Partial<PacingOptions> = {}): PacingOptions {
  const asked = { ...PACED_BY_PATH, ...unless, ...options };
  const { tcpAttemptDelayMs, attemptDelayMs, hedge, initialRttMs } = asked;
  return { tcpAttemptDelayMs, attemptDelayMs, hedge, initialRttMs };
}

/** For `a.test`; without endpoints they are expected during the trial. */
export function plainPlan(input: PlainInput): TrialPlan {
  return planTrial({
    host: 'a.test',
    endpoints: [],
    decision: null,
    hints: NO_HINTS,
    epochMs: 0,
    ...input,
    pacing: pacingIn(input, { hedge: false }),
  });
}

export type Overrides = Partial<Omit<RaceOptions, 'transports' | 'clock' | 'discovery' | 'pacing'>> &
  Partial<PacingOptions> & { readonly dns?: DiscoveryScript };

/** Everything for one race of https://a.test:8443, not started yet. */
export function arrange(h3: Script[], h2: Script[], { dns, ...overrides }: Overrides = {}) {
  const parsed = parseOrigin('https://a.test:8443');
  assert.ok(parsed.ok);
  const time = virtualTime();
  const transports = { h3: scripted('h3', time.clock, ...h3), h2: scripted('h2', time.clock, ...h2) };
  const discovery = new ScriptedDiscovery(time.clock, dns);
  const options: RaceOptions = {
    origin: parsed.value,
    discovery,
    network: 'home',
    mode: 'race',
    memory: 'none',
    trials: 1,
    timeoutMs: 3000,
    transports,
    clock: time.clock,
    ...overrides,
    pacing: pacingIn(overrides, { tcpAttemptDelayMs: 10 }),
  };
  return { time, transports, discovery, options };
}

/** Runs one race to its end and checks what must hold for every race. */
export async function race(h3: Script[], h2: Script[], overrides: Overrides = {}) {
  const { time, transports, discovery, options } = arrange(h3, h2, overrides);
  const result = await time.run(raceOrigin(options));
  assert.equal(transports.h3.running() + transports.h2.running(), 0, 'no attempt is left running');
  assert.equal(discovery.live(), 0, 'no discovery is left running');
  v.parse(originRaceSchema, result);
  const { adoption, failed, trials } = result.summary;
  assert.equal(adoption.h3 + adoption.h2 + adoption['http/1.1'] + failed, trials);
  return { result, transports, discovery, endedMs: time.clock.nowMs() };
}

/** What each trial adopted. */
export const adopted = (result: OriginRace): (string | null)[] => result.trials.map((t) => t.adopted);

interface DiscoveryScript {
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
class ScriptedDiscovery implements Discoverer {
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

  begin(query: DiscoveryQuery, listener: (update: DiscoveryUpdate) => void): LiveDiscovery {
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
