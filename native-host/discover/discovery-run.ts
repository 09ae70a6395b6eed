// One discovery with real DNS, time and routes: feeds the resolution's machine, asks what it wants to know, and lets
// nothing in or out that the guard forbids.
import { isIP } from 'node:net';
import type { Names } from '@photofinish/shared/race/discovered';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import { type AddressPolicy, refusedPort } from '../address/guard.ts';
import type { Clock } from '../clock.ts';
import type { Answer, DnsClient } from './answer.ts';
import type { SourceFor } from './connectivity.ts';
import type { DiscoveryNews, DiscoveryQuery } from './discovering.ts';
import type { Endpoint } from './endpoint.ts';
import { createGivenHosts } from './given-hosts.ts';
import { guardAnswer } from './guarded-answer.ts';
import { type Asked, createLearntNames } from './learnt-names.ts';
import { createResolution, type Resolution } from './resolution.ts';
import type {
  Connectivity,
  ResolutionAction,
  ResolutionEvent,
  ResolutionTimer,
} from './resolution-events.ts';

/** What a discovery stands on. */
export interface DiscoveryParts {
  /** `host:port` to address. */
  readonly pins: ReadonlyMap<string, string>;
  readonly policy: AddressPolicy;
  /** Opens DNS for one discovery, when that has its first question. */
  readonly openDns: () => DnsClient;
  readonly connectivity: (dns: DnsClient) => Promise<Connectivity>;
  readonly sourceFor: SourceFor;
  readonly clock: Pick<Clock, 'nowMs' | 'after'>;
  /** From 0 to below 1. */
  readonly random: () => number;
}

export interface DiscoveryRun {
  names(): Names;
  /** The resolution delay has passed: what is missing is not waited for. */
  delayPassed(): boolean;
  /** No listener is called after this. */
  cancel(): void;
}

/** The longest that Node's timers count. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** What needs no DNS is reached over whichever family it is of. */
const ANY_FAMILY: Connectivity = { ipv6: true, ipv4: true, preferred: 'ipv6', nat64Prefix: null };

/** Said outright: without a reason each abort makes an exception with its stack, which takes as long as the rest. */
const OVER = new Error('the discovery is over');

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

/**
 * Begins a discovery. `found` holds addresses known before, by host, for which nothing is asked. News come until the
 * run is cancelled or has failed, the first one after this call has returned.
 */
export function runDiscovery(
  parts: DiscoveryParts,
  query: DiscoveryQuery,
  found: ReadonlyMap<string, readonly string[]>,
  listener: (news: DiscoveryNews) => void,
): DiscoveryRun {
  const { clock, policy } = parts;
  const { origin } = query;
  const startMs = clock.nowMs();
  const sinceStart = (): number => clock.nowMs() - startMs;
  const learnt = createLearntNames();
  const places = query.alternatives.map(({ host, port }) => ({ host: bare(host) || origin.host, port }));
  const given = createGivenHosts({ pins: parts.pins, places: [origin, ...places], found });
  // Both made for the first question: pins and literals have none.
  let client: DnsClient | null = null;
  let stop: AbortController | null = null;
  let over = false;
  const dns: DnsClient = {
    ask(...question) {
      client ??= parts.openDns();
      return client.ask(...question);
    },
  };
  const timers = new Map<ResolutionTimer, () => void>();
  const events: ResolutionEvent[] = [];
  let machine: Resolution | null = null;
  let connectivity = ANY_FAMILY;
  /** Why the guard left out a place of a race that may do without it. */
  let leftOut: AttemptError | null = null;
  let delayPassed = false;

  function end(): void {
    over = true;
    stop?.abort(OVER);
    for (const forget of timers.values()) forget();
    timers.clear();
  }

  function fail(error: AttemptError): void {
    if (over) return;
    end();
    listener({ type: 'failed', error });
  }

  /** Nothing else may be refused as a whole: a record or an alternative is somebody else's word. */
  function isOwn(host: string): boolean {
    return host === origin.host;
  }

  function receive(number: number, question: Asked, answer: Answer): void {
    if (over) return;
    const { answer: guarded, note } = guardAnswer(answer, policy, connectivity.nat64Prefix);
    learnt.answered(question, guarded, note, sinceStart());
    // Whoever answers for the origin's own host with a forbidden address is mistaken or an attacker.
    if (note !== null && question.kind !== 'HTTPS' && isOwn(question.name)) {
      fail({ code: 'blocked', message: note });
      return;
    }
    if (note !== null) leftOut = { code: 'blocked', message: note };
    if (guarded.ok && guarded.kind === 'HTTPS') given.learn(guarded.services).forEach(notePin);
    feed({ type: 'answer', query: number, answer: guarded });
  }

  function notePin(address: string, host: string): void {
    if (policy.check([address], connectivity.nat64Prefix).ok)
      learnt.address({ host, address, source: 'pin', ttlSeconds: null });
  }

  function ask({ query: number, name, kind }: ResolutionAction & { type: 'query' }): void {
    const known = given.answer(name, kind);
    if (known !== null) {
      events.push({ type: 'answer', query: number, answer: known });
      return;
    }
    const question: Asked = { name, kind, askedMs: sinceStart() };
    learnt.asked(question);
    stop ??= new AbortController();
    void dns.ask(name, kind, stop.signal).then((answer) => receive(number, question, answer));
  }

  function setTimer({ timer, atMs }: ResolutionAction & { type: 'timer' }): void {
    timers.get(timer)?.();
    timers.delete(timer);
    if (atMs === null) return;
    const delayMs = Math.min(Math.max(0, atMs - sinceStart()), LONGEST_TIMER_MS);
    const fire = (): void => {
      timers.delete(timer);
      if (timer === 'resolution') delayPassed = true;
      feed({ type: 'timer', timer });
    };
    timers.set(timer, clock.after(delayMs, fire));
  }

  /** The last door: pins, literals and what NAT64 made have been through no other. */
  function passes({ address, host, port, contender }: Endpoint): boolean {
    const refused = refusedPort(port, contender);
    if (refused !== null) {
      leftOut = refused;
      return false;
    }
    const checked = policy.check([address], connectivity.nat64Prefix);
    if (checked.ok) return true;
    leftOut = { code: 'blocked', message: checked.message };
    if (isOwn(host)) fail(leftOut);
    return false;
  }

  function noteUse({ address, host }: Endpoint): void {
    if (host === address) learnt.address({ host, address, source: 'literal', ttlSeconds: null });
    else learnt.used(host, address, connectivity.nat64Prefix);
  }

  function announce({ endpoints, final, untried }: ResolutionAction & { type: 'endpoints' }): void {
    learnt.untried(untried);
    const open = endpoints.filter(passes);
    if (over) return;
    open.forEach(noteUse);
    if (open.length > 0) listener({ type: 'endpoints', endpoints: open, final });
    else if (final) fail(leftOut ?? { code: 'blocked', message: `${origin.host} has no place to go to` });
  }

  function perform(action: ResolutionAction): void {
    if (action.type === 'query') ask(action);
    else if (action.type === 'timer') setTimer(action);
    else if (action.type === 'endpoints') announce(action);
    else if (leftOut !== null) fail(leftOut);
    else fail({ code: action.code, message: action.message });
  }

  function performAll(actions: readonly ResolutionAction[]): void {
    for (const action of actions) if (!over) perform(action);
  }

  /** Answers that were at hand wait until the actions before them are done. */
  function drain(): void {
    for (let event = events.shift(); event !== undefined; event = events.shift())
      if (machine !== null && !over) performAll(machine.handle(event, sinceStart()));
  }

  function feed(event: ResolutionEvent): void {
    events.push(event);
    drain();
  }

  async function start(): Promise<void> {
    const refused = refusedPort(origin.port, 'h2');
    if (refused !== null) {
      fail(refused);
      return;
    }
    // An IPv4 literal needs NAT64 on a network without IPv4.
    const concerned = isIP(origin.host) !== 6 && !given.has(origin.host);
    connectivity = concerned ? await parts.connectivity(dns) : ANY_FAMILY;
    if (over) return;
    machine = createResolution({ ...query, connectivity, sourceFor: parts.sourceFor, random: parts.random });
    given.pinned.forEach(notePin);
    performAll(machine.start(sinceStart()));
    drain();
  }

  void Promise.resolve().then(start);
  return { names: () => learnt.names(sinceStart()), delayPassed: () => delayPassed, cancel: end };
}
