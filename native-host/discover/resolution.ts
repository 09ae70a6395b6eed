// Happy Eyeballs v3 (draft-ietf-happy-happyeyeballs-v3), sections 4, 5, 7 and 8, free of I/O: DNS answers and the time
// in; queries, timers and the sorted list of endpoints out. Each answer is stored in the table of questions
// (questions.ts); then every authority (the origin, and each Alt-Svc alternative) is walked again over that table
// (authority.ts), which asks any newly required questions and returns groups of endpoints; all groups are sorted together
// (sorting.ts). So the result does not depend on the order of answers, and late, changed and expired ones need no special
// cases: an unchanged list is not emitted. example.test.ts walks through a resolution.
//
// In (ResolutionEvent): an answer to a query, and timers. Out (ResolutionAction): a query, a timer, the whole list of
// endpoints whenever it changes, or that there will be none. Timers: `resolution` is the resolution delay (4.2), `expiry`
// is when the first answer in use expires (4.4). discovery.ts asks DNS and applies the guard; it is the interface for
// races.
//
// Parts of the draft implemented elsewhere. The race: attempts, cancellation and pacing (6, 6.1, 7). The resolver:
// choosing among DNS servers (4.5). The host cache: history separated by network (5.3). The driver: finding the NAT64
// prefix by DNS (8.1); router advertisements need privileges that we do not have. Not implemented: processing DNS
// replies for a second after the race (6), because we have no DNS cache to fill; waiting for records that ECH depends
// on and grouping by it (5.1, 6.3), because we use neither ECH nor DNS known to be protected.

import { isIP } from 'node:net';
import type { Alternative } from '@photofinish/shared/web/alt-svc';
import { addressBytes, addressText, type Family, familyOf } from '../address/address-bytes.ts';
import type { Answer, QueryKind } from './answer.ts';
import { type Authority, type AuthorityEndpoints, type WalkInput, walkAuthority } from './authority.ts';
import { type DiscoveryQuery, type Endpoint, noAddress, sameEndpoint } from './discoverer.ts';
import { Questions } from './questions.ts';
import { createServiceReader } from './service.ts';
import { createSorting, firstEndpoints } from './sorting.ts';

/** `resolution`: the resolution delay (section 4.2); `expiry`: the TTL of the first answer in use has expired (4.4). */
export type ResolutionTimer = 'resolution' | 'expiry';

/** Times are milliseconds from the start of the trial. */
export type ResolutionEvent =
  | { readonly type: 'answer'; readonly query: number; readonly answer: Answer }
  | { readonly type: 'timer'; readonly timer: ResolutionTimer };

/** Actions to carry out, in order. */
export type ResolutionAction =
  | { readonly type: 'query'; readonly query: number; readonly name: string; readonly kind: QueryKind }
  | { readonly type: 'timer'; readonly timer: ResolutionTimer; readonly atMs: number | null }
  /**
   * The first one means: start connecting. `final`: no further list unless an answer expires. `untried`: number of
   * further known addresses and names that a race does not try.
   */
  | {
      readonly type: 'endpoints';
      readonly endpoints: readonly Endpoint[];
      readonly final: boolean;
      readonly untried: number;
    }
  /** Every answer is in, and there is no endpoint. */
  | { readonly type: 'failed'; readonly code: 'no-address' | 'dns-failed'; readonly message: string };

/** The families that the machine can send from (section 4.1), and the preferred one. */
export interface Connectivity {
  readonly ipv6: boolean;
  readonly ipv4: boolean;
  readonly preferred: Family;
  /** By which to synthesise (RFC 6052), for example `64:ff9b::/96`; null: IPv4 has a route, or none was found. */
  readonly nat64Prefix: string | null;
}

/** Without `pinAt` and `isKnownHost`, no address is known without DNS. */
export interface ResolutionOptions extends DiscoveryQuery, Partial<Pick<WalkInput, 'pinAt' | 'isKnownHost'>> {
  readonly connectivity: Connectivity;
  /** Source address that the system would use for a destination, null without a route. Required by RFC 6724. */
  readonly sourceFor: (destination: string) => string | null;
  /** At least 0 and below 1; shuffles services of equal priority (section 5.2). */
  readonly random: () => number;
}

/** Recommended by section 4.2. */
export const RESOLUTION_DELAY_MS = 50;

/** Maximum number of alternatives used; each may have a host of its own, which needs three questions. */
const MAX_ALTERNATIVES = 8;

/** One resolution in this many ignores history, so that clients with different histories converge (section 5.3). */
const HISTORY_IGNORED_ONE_IN = 16;

/** The families to query (section 4.1). On a host with only loopback, both: there is nothing to lose. */
function queriedFamilies({ ipv6, ipv4, nat64Prefix }: Connectivity): Family[] {
  const isolated = !ipv6 && !ipv4;
  const families: Family[] = [];
  if (ipv6 || isolated) families.push('ipv6');
  if (ipv4 || isolated || nat64Prefix !== null) families.push('ipv4');
  return families;
}

/** The alternatives as authorities, in the server's order, without duplicates and invalid hosts. */
function alternativeAuthorities(alternatives: readonly Alternative[], originHost: string): Authority[] {
  const authorities = new Map<string, Authority>();
  for (const { host: named, port } of alternatives) {
    const bare = named.startsWith('[') ? named.slice(1, -1) : named;
    if (bare !== named && isIP(bare) === 0) continue;
    // Servers may write addresses in any form, and one address must not become two endpoints.
    const host = named === '' ? originHost : isIP(bare) === 0 ? bare : addressText(addressBytes(bare));
    const key = `${host} ${port}`;
    authorities.set(key, { host, port, speaks: ['h3'], source: 'alt-svc' });
  }
  return [...authorities.values()];
}

/**
 * All groups in order. The best groups of all authorities are tried as one, because an alternative is another way to
 * the same service; then the other services; addresses not associated with a service come last (section 5.2).
 */
function groupsOf(walked: readonly AuthorityEndpoints[]): (readonly Endpoint[])[] {
  const head = walked.flatMap((w) => w.services[0] ?? w.unassociated);
  // Sorting drops those of the head from the others.
  return [head, ...walked.flatMap((w) => w.services), walked.flatMap((w) => w.unassociated)];
}

function sameList(a: readonly Endpoint[], b: readonly Endpoint[]): boolean {
  const same = (one: Endpoint, other: Endpoint | undefined): boolean =>
    other !== undefined && sameEndpoint(one, other) && one.host === other.host && one.source === other.source;
  return a.length === b.length && a.every((one, i) => same(one, b[i]));
}

/** The state machine of one resolution: its questions, the last list emitted, and pending timers. */
export class Resolution {
  readonly #options: ResolutionOptions;
  readonly #families: readonly Family[];
  readonly #questions = new Questions();
  readonly #walk: WalkInput;
  readonly #sorted: ReturnType<typeof createSorting>;
  /** Authorities named by the alternatives, limited to those used. */
  readonly #named: readonly Authority[];
  readonly #alternatives: readonly Authority[];
  readonly #timers = new Map<ResolutionTimer, number | null>();
  #actions: ResolutionAction[] = [];
  #announced: { readonly endpoints: readonly Endpoint[]; readonly final: boolean } | null = null;
  #delayPassed = false;
  #failed = false;

  constructor(options: ResolutionOptions) {
    const {
      origin,
      connectivity,
      random,
      sourceFor,
      pinAt = () => null,
      isKnownHost = () => false,
    } = options;
    this.#options = options;
    this.#families = queriedFamilies(connectivity);
    const readServices = createServiceReader(random);
    this.#walk = { questions: this.#questions, families: this.#families, readServices, pinAt, isKnownHost };
    const history = random() < 1 / HISTORY_IGNORED_ONE_IN ? new Map() : options.history;
    this.#sorted = createSorting({ nat64Prefix: connectivity.nat64Prefix, history, sourceFor });
    this.#named = alternativeAuthorities(options.alternatives, origin.host);
    this.#alternatives = this.#named.slice(0, MAX_ALTERNATIVES);
  }

  /** The first actions; called once. */
  start(nowMs: number): ResolutionAction[] {
    return this.#step(nowMs);
  }

  /** Returns the actions that an event causes; answers to queries no longer in progress cause none. */
  handle(event: ResolutionEvent, nowMs: number): ResolutionAction[] {
    if (this.#failed) return [];
    if (event.type === 'answer') this.#questions.take(event.query, event.answer, nowMs);
    else {
      this.#timers.set(event.timer, null);
      if (event.timer === 'resolution') this.#delayPassed = true;
      else this.#questions.renew(nowMs);
    }
    return this.#step(nowMs);
  }

  #setTimer(timer: ResolutionTimer, atMs: number | null): void {
    if ((this.#timers.get(timer) ?? null) === atMs) return;
    this.#timers.set(timer, atMs);
    this.#actions.push({ type: 'timer', timer, atMs });
  }

  /** The origin first, so that its questions are asked before those of the alternatives. */
  #walkAll(): { origin: AuthorityEndpoints; alternatives: AuthorityEndpoints[] } {
    this.#questions.forget();
    const { host, port } = this.#options.origin;
    const own = walkAuthority({ host, port, speaks: ['h2'], source: 'origin' }, this.#walk);
    const others = this.#alternatives.map((authority) => walkAuthority(authority, this.#walk));
    if (!this.#options.assumeH3 || this.#alternatives.length > 0 || own.namesH3)
      return { origin: own, alternatives: others };
    const assumed = own.unassociated.map((endpoint): Endpoint => ({ ...endpoint, transport: 'h3' }));
    return { origin: { ...own, unassociated: [...assumed, ...own.unassociated] }, alternatives: others };
  }

  #isPreferred({ address }: Endpoint): boolean {
    return familyOf(address) === this.#options.connectivity.preferred;
  }

  /** Whether a host has been answered for a family. */
  #isAnswered(host: string, family: Family): boolean {
    return isIP(host) !== 0 || this.#questions.ask(host, family === 'ipv6' ? 'AAAA' : 'A').answer !== null;
  }

  /**
   * Whether the best service, if there is one, can be tried before addresses without a service (RFC 9460 section 3): by
   * an address of the preferred family, by another if the preferred one has a negative answer, or not at all.
   */
  #isTargetKnown({ bestTarget, services: [best = []] }: AuthorityEndpoints): boolean {
    if (bestTarget === null || best.some((endpoint) => this.#isPreferred(endpoint))) return true;
    return best.length > 0
      ? this.#isAnswered(bestTarget, this.#options.connectivity.preferred)
      : this.#families.every((family) => this.#isAnswered(bestTarget, family));
  }

  /**
   * The first set of conditions of section 4.2, except that there are any addresses. The addresses of the best
   * service's target are awaited as well: without them HTTP/2 at the origin's own addresses would start before what its
   * record names.
   */
  #hasPreferred(walked: readonly AuthorityEndpoints[], groups: readonly (readonly Endpoint[])[]): boolean {
    if (!walked.every((w) => w.serviceKnown && this.#isTargetKnown(w))) return false;
    const { origin, connectivity } = this.#options;
    if (this.#isAnswered(origin.host, connectivity.preferred)) return true;
    return groups.some((group) => group.some((endpoint) => this.#isPreferred(endpoint)));
  }

  #announce(groups: readonly (readonly Endpoint[])[], final: boolean): void {
    const { endpoints, untried: beyond } = firstEndpoints(this.#sorted(groups), groups);
    const changed = this.#announced === null || !sameList(this.#announced.endpoints, endpoints);
    if (!changed && (!final || this.#announced?.final)) return;
    this.#announced = { endpoints, final };
    const untried = beyond + this.#questions.refused() + this.#named.length - this.#alternatives.length;
    this.#actions.push({ type: 'endpoints', endpoints, final, untried });
  }

  #fail(own: AuthorityEndpoints): void {
    this.#failed = true;
    this.#setTimer('resolution', null);
    const { host } = this.#options.origin;
    const failure = this.#questions.failure();
    if (own.unavailable)
      this.#actions.push({
        type: 'failed',
        code: 'no-address',
        message: `${host}: its HTTPS record says there is no such service`,
      });
    else if (failure === null) this.#actions.push({ type: 'failed', ...noAddress(host, this.#families) });
    else this.#actions.push({ type: 'failed', code: 'dns-failed', message: failure.message });
  }

  #step(nowMs: number): ResolutionAction[] {
    const { origin: own, alternatives: others } = this.#walkAll();
    const walked = [...others, own];
    this.#actions.push(...this.#questions.takeQueries());
    const groups = groupsOf(walked);
    const positive = groups.some((group) => group.length > 0);
    const final = !this.#questions.waiting();
    if (this.#announced === null && !positive) {
      if (final) this.#fail(own);
    } else if (this.#announced !== null || this.#delayPassed || this.#hasPreferred(walked, groups)) {
      this.#setTimer('resolution', null);
      this.#announce(groups, final);
      this.#setTimer('expiry', this.#questions.expiresAtMs());
    } else if (!this.#timers.has('resolution')) {
      this.#setTimer('resolution', nowMs + RESOLUTION_DELAY_MS);
    }
    const out = this.#actions;
    this.#actions = [];
    return out;
  }
}
