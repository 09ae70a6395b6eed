// Discovery as used by races: completed before a race's trials, in parallel with one, or following what an answer
// advertised. Each drives the resolution's state machine with real DNS, time and routes, asks its questions, and passes
// everything in both directions through the guard: everything that it returns has passed it.
import { isIP } from 'node:net';
import type { DnsResults } from '@photofinish/shared/race/discovered';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import { alternativeHost } from '@photofinish/shared/web/alt-svc';
import type { OriginParts } from '@photofinish/shared/web/origin';
import { type AddressPolicy, classifyAddress, refusedPort } from '../address/guard.ts';
import type { Clock } from '../clock.ts';
import { type Answer, type DnsClient, guardAnswer } from './answer.ts';
import type { ConnectivityWatch, SourceFor } from './connectivity.ts';
import type {
  Discoverer,
  Discovery,
  DiscoveryQuery,
  DiscoveryUpdate,
  Endpoint,
  FollowedAlternatives,
} from './discoverer.ts';
import { createKnownHosts, type KnownHosts, type KnownHostsOptions } from './known-hosts.ts';
import { LearntNames, type OpenQuery } from './learnt-names.ts';
import {
  type Connectivity,
  RESOLUTION_DELAY_MS,
  Resolution,
  type ResolutionAction,
  type ResolutionEvent,
  type ResolutionTimer,
} from './resolution.ts';

/** The dependencies of a discovery. */
export interface DiscoveryParts extends ConnectivityWatch {
  /** `host:port` to address. */
  readonly pins: ReadonlyMap<string, string>;
  readonly policy: AddressPolicy;
  /** Opens DNS for one discovery, at its first question. */
  readonly openDns: () => DnsClient;
  readonly sourceFor: SourceFor;
  readonly clock: Pick<Clock, 'nowMs' | 'after'>;
  /** At least 0 and below 1. */
  readonly random: () => number;
}

/** Discovery for races. */
export function openDiscoverer(parts: DiscoveryParts): Discoverer {
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

  function begin(query: DiscoveryQuery, listener: (update: DiscoveryUpdate) => void): RunningDiscovery {
    return new RunningDiscovery(parts, query, new Map(), (update) => {
      if (update.type === 'endpoints') remember(query.origin, update.endpoints);
      listener(update);
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
      const run = begin(query, (update) => {
        if (update.type === 'failed') {
          end(update.error);
          return;
        }
        endpoints = update.endpoints;
        if (update.final || run.delayPassed()) end(null);
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
      const run = new RunningDiscovery(parts, query, found.get(origin) ?? new Map(), (update) => {
        if (update.type === 'endpoints')
          advertised = update.endpoints.filter(({ source }) => source === 'alt-svc');
        if (update.type === 'failed' || update.final) end();
        else if (advertised.length > 0)
          forgetGrace ??= clock.after(RESOLUTION_DELAY_MS, () => run.whenAdmitted(end));
      });
      signal.addEventListener('abort', end, { once: true });
    });
  }

  return { settle, begin, follow };
}

const NO_NAMES: DnsResults = { addresses: [], services: [], lookups: [] };

function givenUp(host: string): AttemptError {
  return { code: 'cancelled', message: `looking up ${host} was given up` };
}

/** Maximum delay of Node's timers. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Targets that need no DNS are reached over whichever family they have. */
const ANY_FAMILY: Connectivity = { ipv6: true, ipv4: true, preferred: 'ipv6', nat64Prefix: null };

/**
 * A preallocated reason: without one each abort creates an exception with a stack, which takes as long as everything
 * else.
 */
const OVER = new Error('the discovery is over');

/** Behind the network's NAT64 prefix it would be another address. */
function isPublicIpv6(host: string): boolean {
  return isIP(host) === 6 && classifyAddress(host) === 'public';
}

function hasIpv6(answer: Answer): boolean {
  if (!answer.ok) return false;
  if (answer.kind === 'HTTPS') return answer.services.some(({ ipv6Hints }) => ipv6Hints.length > 0);
  return answer.addresses.some(({ address }) => isIP(address) === 6);
}

/**
 * One discovery in progress: its state machine, pending questions and timers, and what was learnt. `found` contains known
 * addresses by host, for which nothing is asked. Updates are delivered until the run is cancelled or has failed, the first
 * after the constructor has returned.
 */
class RunningDiscovery {
  readonly #parts: DiscoveryParts;
  readonly #query: DiscoveryQuery;
  readonly #listener: (update: DiscoveryUpdate) => void;
  readonly #startMs: number;
  readonly #learnt = new LearntNames();
  /** The origin, then its alternatives. */
  readonly #authorities: KnownHostsOptions['authorities'];
  readonly #knownHosts: KnownHosts;
  readonly #timers = new Map<ResolutionTimer, () => void>();
  /** Events not yet passed to the state machine. */
  readonly #events: ResolutionEvent[] = [];
  // Both are created for the first question: pins and literals have none.
  #client: DnsClient | null = null;
  #stop: AbortController | null = null;
  readonly #dns: DnsClient = {
    ask: (...question) => {
      this.#client ??= this.#parts.openDns();
      return this.#client.ask(...question);
    },
  };
  #machine: Resolution | null = null;
  #connectivity = ANY_FAMILY;
  /** The network's NAT64 prefix, for the guard; undefined until it is known. */
  #nat64Prefix: string | null | undefined;
  #findingPrefix: Promise<void> | null = null;
  /** How many answers wait for the prefix. */
  #held = 0;
  /** Why the guard left out an endpoint that the race does not depend on. */
  #leftOut: AttemptError | null = null;
  #delayPassed = false;
  #over = false;

  constructor(
    parts: DiscoveryParts,
    query: DiscoveryQuery,
    found: ReadonlyMap<string, readonly string[]>,
    listener: (update: DiscoveryUpdate) => void,
  ) {
    const { origin, alternatives } = query;
    this.#parts = parts;
    this.#query = query;
    this.#listener = listener;
    this.#startMs = parts.clock.nowMs();
    const advertised = alternatives.map((alternative) => ({
      host: alternativeHost(alternative, origin.host),
      port: alternative.port,
    }));
    this.#authorities = [origin, ...advertised];
    this.#knownHosts = createKnownHosts({ pins: parts.pins, authorities: this.#authorities, found });
    void Promise.resolve().then(() => this.#start());
  }

  names(): DnsResults {
    return this.#learnt.names(this.#sinceStart());
  }

  /** The network's NAT64 prefix, as far as it was asked for. */
  nat64Prefix(): string | null {
    return this.#nat64Prefix ?? null;
  }

  /** Whether the resolution delay has passed: missing answers are no longer awaited. */
  delayPassed(): boolean {
    return this.#delayPassed;
  }

  /**
   * Calls back at once, or as soon as no answer that has arrived waits for the guard: that is no reason to race without
   * it.
   */
  whenAdmitted(then: () => void): void {
    if (this.#held === 0) then();
    else void this.#findPrefix().then(then);
  }

  /** No listener is called after this. */
  cancel(): void {
    this.#over = true;
    this.#stop?.abort(OVER);
    for (const forget of this.#timers.values()) forget();
    this.#timers.clear();
  }

  #sinceStart(): number {
    return this.#parts.clock.nowMs() - this.#startMs;
  }

  async #start(): Promise<void> {
    const { origin } = this.#query;
    const refused = refusedPort(origin.port, 'h2');
    if (refused !== null) {
      this.#fail(refused);
      return;
    }
    // An IPv4 literal needs NAT64 on a network without IPv4.
    const concerned = this.#authorities.some(({ host }) => isIP(host) !== 6 && !this.#knownHosts.has(host));
    this.#connectivity = concerned ? await this.#parts.connectivity(this.#dns) : ANY_FAMILY;
    // Otherwise the guard asks for the prefix, together with the names.
    if (concerned && !(this.#connectivity.ipv6 && this.#connectivity.ipv4))
      this.#nat64Prefix = this.#connectivity.nat64Prefix;
    if (this.#authorities.some(({ host }) => isPublicIpv6(host))) await this.#findPrefix();
    if (this.#over) return;
    const { sourceFor, random } = this.#parts;
    const { pinAt, has: isKnownHost } = this.#knownHosts;
    this.#machine = new Resolution({
      ...this.#query,
      connectivity: this.#connectivity,
      ...{ sourceFor, random, pinAt, isKnownHost },
    });
    this.#notePins(this.#knownHosts.pinned);
    this.#performAll(this.#machine.start(this.#sinceStart()));
    this.#drain();
  }

  async #findPrefix(): Promise<void> {
    if (this.#nat64Prefix !== undefined) return;
    this.#findingPrefix ??= this.#parts.nat64Prefix(this.#dns).then((prefix) => {
      this.#nat64Prefix = prefix;
    });
    await this.#findingPrefix;
  }

  #refusal(address: string): AttemptError | null {
    return this.#parts.policy.refusal(address, this.#nat64Prefix);
  }

  #fail(error: AttemptError): void {
    if (this.#over) return;
    this.cancel();
    this.#listener({ type: 'failed', error });
  }

  /** Only the origin's own host is refused as a whole: a record or an alternative comes from somebody else. */
  #isOwn(host: string): boolean {
    return host === this.#query.origin.host;
  }

  /** An answer with IPv6 addresses waits until the guard knows the NAT64 prefix. */
  #receive(number: number, question: OpenQuery, answer: Answer): void {
    const atMs = this.#sinceStart();
    if (this.#nat64Prefix !== undefined || !hasIpv6(answer)) {
      this.#admit(number, question, answer, atMs);
      return;
    }
    this.#held += 1;
    void this.#findPrefix().then(() => {
      this.#held -= 1;
      this.#admit(number, question, answer, atMs);
    });
  }

  #admit(number: number, question: OpenQuery, answer: Answer, atMs: number): void {
    if (this.#over) return;
    const { answer: guarded, note } = guardAnswer(answer, this.#parts.policy, this.#nat64Prefix ?? null);
    this.#learnt.answered(question, guarded, note?.message ?? null, atMs);
    // A forbidden address for the origin's own host is a mistake or an attack.
    if (note?.code === 'blocked' && question.kind !== 'HTTPS' && this.#isOwn(question.name)) {
      this.#fail(note);
      return;
    }
    if (note !== null) this.#leftOut = note;
    if (guarded.ok && guarded.kind === 'HTTPS') this.#notePins(this.#knownHosts.learn(guarded.services));
    this.#feed({ type: 'answer', query: number, answer: guarded });
  }

  #notePins(pins: Iterable<readonly [string, string]>): void {
    for (const [host, address] of pins)
      if (this.#refusal(address) === null)
        this.#learnt.address({ host, address, source: 'pin', ttlSeconds: null });
  }

  #ask({ query: number, name, kind }: ResolutionAction & { type: 'query' }): void {
    const known = this.#knownHosts.answer(name, kind);
    if (known !== null) {
      this.#events.push({ type: 'answer', query: number, answer: known });
      return;
    }
    const question: OpenQuery = { name, kind, askedMs: this.#sinceStart() };
    this.#learnt.asked(question);
    this.#stop ??= new AbortController();
    void this.#dns
      .ask(name, kind, this.#stop.signal)
      .then((answer) => this.#receive(number, question, answer));
    if (kind !== 'A') void this.#findPrefix();
  }

  #setTimer({ timer, atMs }: ResolutionAction & { type: 'timer' }): void {
    this.#timers.get(timer)?.();
    this.#timers.delete(timer);
    if (atMs === null) return;
    const delayMs = Math.min(Math.max(0, atMs - this.#sinceStart()), LONGEST_TIMER_MS);
    const fire = (): void => {
      if (this.#timers.get(timer) !== forget) return;
      this.#timers.delete(timer);
      if (timer === 'resolution') this.#delayPassed = true;
      this.#feed({ type: 'timer', timer });
    };
    const forget = this.#parts.clock.after(delayMs, () => this.whenAdmitted(fire));
    this.#timers.set(timer, forget);
  }

  /** The last check: pins, literals and NAT64 addresses have passed no other. */
  #passes({ address, host, port, transport }: Endpoint): boolean {
    const refused = refusedPort(port, transport);
    if (refused !== null) {
      this.#leftOut = refused;
      return false;
    }
    const refusal = this.#refusal(address);
    if (refusal === null) return true;
    this.#leftOut = refusal;
    if (this.#isOwn(host)) this.#fail(this.#leftOut);
    return false;
  }

  #noteUse({ address, host }: Endpoint): void {
    if (host === address) this.#learnt.address({ host, address, source: 'literal', ttlSeconds: null });
    else this.#learnt.used(host, address, this.#connectivity.nat64Prefix);
  }

  #announce({ endpoints, final, untried }: ResolutionAction & { type: 'endpoints' }): void {
    this.#learnt.untried(untried);
    const open = endpoints.filter((endpoint) => this.#passes(endpoint));
    if (this.#over) return;
    for (const endpoint of open) this.#noteUse(endpoint);
    if (open.length > 0) this.#listener({ type: 'endpoints', endpoints: open, final });
    else if (final)
      this.#fail(
        this.#leftOut ?? { code: 'blocked', message: `${this.#query.origin.host} has no endpoint to try` },
      );
  }

  #perform(action: ResolutionAction): void {
    if (action.type === 'query') this.#ask(action);
    else if (action.type === 'timer') this.#setTimer(action);
    else if (action.type === 'endpoints') this.#announce(action);
    else if (this.#leftOut !== null) this.#fail(this.#leftOut);
    else this.#fail({ code: action.code, message: action.message });
  }

  #performAll(actions: readonly ResolutionAction[]): void {
    for (const action of actions) if (!this.#over) this.#perform(action);
  }

  /** Answers available at once wait until the preceding actions are done. */
  #drain(): void {
    for (let event = this.#events.shift(); event !== undefined; event = this.#events.shift())
      if (this.#machine !== null && !this.#over)
        this.#performAll(this.#machine.handle(event, this.#sinceStart()));
  }

  #feed(event: ResolutionEvent): void {
    this.#events.push(event);
    this.#drain();
  }
}
