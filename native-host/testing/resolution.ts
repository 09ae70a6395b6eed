// A resolver in virtual time for tests of the resolution: scripted answers and timers, checking the invariants at every
// action.
import assert from 'node:assert/strict';
import type { ServiceRecord } from '@photofinish/shared/race/discovered';
import { serviceRecord } from '@photofinish/shared/testing/race-samples';
import { parseOrigin } from '@photofinish/shared/web/origin';
import type { Answer, QueryKind } from '../discover/answer.ts';
import { type Endpoint, sameEndpoint } from '../discover/discoverer.ts';
import {
  type Connectivity,
  Resolution,
  type ResolutionAction,
  type ResolutionEvent,
  type ResolutionOptions,
  type ResolutionTimer,
} from '../discover/resolution.ts';

/** The answer to a question, timed from when it is asked; a question without one is never answered. */
export interface Reply {
  readonly name: string;
  readonly kind: QueryKind;
  readonly afterMs: number;
  readonly answer: Answer;
}

const TTL_SECONDS = 300;

function addresses(
  kind: 'A' | 'AAAA',
  name: string,
  afterMs: number,
  list: string[],
  ttlSeconds: number,
): Reply {
  const records = list.map((address) => ({ address, ttlSeconds }));
  return { name, kind, afterMs, answer: { ok: true, kind, addresses: records } };
}

export function a(name: string, afterMs: number, list: string[], ttlSeconds = TTL_SECONDS): Reply {
  return addresses('A', name, afterMs, list, ttlSeconds);
}

export function aaaa(name: string, afterMs: number, list: string[], ttlSeconds = TTL_SECONDS): Reply {
  return addresses('AAAA', name, afterMs, list, ttlSeconds);
}

/** An HTTPS answer; by default each record is ServiceMode, priority 1, for the queried name itself. */
export function https(name: string, afterMs: number, ...records: Partial<ServiceRecord>[]): Reply {
  const services = records.map((record) => serviceRecord(name, { ttlSeconds: TTL_SECONDS, ...record }));
  return { name, kind: 'HTTPS', afterMs, answer: { ok: true, kind: 'HTTPS', services } };
}

export function failing(kind: QueryKind, name: string, afterMs: number): Reply {
  return { name, kind, afterMs, answer: { ok: false, kind, message: 'SERVFAIL' } };
}

export const DUAL_STACK: Connectivity = { ipv6: true, ipv4: true, preferred: 'ipv6', nat64Prefix: null };
export const IPV6_ONLY: Connectivity = { ...DUAL_STACK, ipv4: false };
export const IPV4_ONLY: Connectivity = { ...DUAL_STACK, ipv6: false, preferred: 'ipv4' };
export const NAT64: Connectivity = { ...IPV6_ONLY, nat64Prefix: '64:ff9b::/96' };

const IPV6_SOURCE = '2001:db8:ffff::1';
const IPV4_SOURCE = '203.0.113.1';

/** Routes of a machine with the families of `connectivity`. */
function routesOf(connectivity: Connectivity): (destination: string) => string | null {
  return (destination) => {
    if (destination.includes(':')) return connectivity.ipv6 ? IPV6_SOURCE : null;
    return connectivity.ipv4 ? IPV4_SOURCE : null;
  };
}

export interface Testbed extends Partial<Omit<ResolutionOptions, 'origin'>> {
  /** Default `https://a.test`. */
  readonly origin?: string;
  /** The nth time a question is asked it gets its nth reply, the last one repeating. */
  readonly replies?: readonly Reply[];
  /** Virtual milliseconds after which the simulation stops. */
  readonly untilMs?: number;
}

interface ListedEndpoints {
  readonly atMs: number;
  readonly endpoints: readonly Endpoint[];
  readonly final: boolean;
}

export interface ResolutionLog {
  /** All actions in words: `30 wait until 80`, `80 start h2 192.0.2.1`. */
  readonly log: readonly string[];
  readonly lists: readonly ListedEndpoints[];
  readonly queries: readonly string[];
  readonly failure: (ResolutionAction & { type: 'failed' }) | null;
  /** The endpoints of the last list in words, such as `h3 2001:db8::1`, with the port if it is not 443. */
  readonly last: readonly string[];
}

/** An endpoint in words, with its port unless it is the default. */
function words({ transport, address, port }: Endpoint): string {
  return `${transport} ${address}${port === 443 ? '' : ` ${port}`}`;
}

interface PendingEvent {
  readonly atMs: number;
  readonly event: ResolutionEvent;
}

/** Runs a resolution in the testbed's world until nothing is left to happen, or its time is up. */
export function resolve(testbed: Testbed): ResolutionLog {
  const { replies = [], untilMs = 10_000, ...rest } = testbed;
  const origin = parseOrigin(rest.origin ?? 'https://a.test');
  assert.ok(origin.ok);
  const connectivity = rest.connectivity ?? DUAL_STACK;
  const machine = new Resolution({
    alternatives: [],
    assumeH3: false,
    history: new Map(),
    sourceFor: routesOf(connectivity),
    random: () => 0.5,
    ...rest,
    connectivity,
    origin: origin.value,
  });

  const log: string[] = [];
  const lists: ListedEndpoints[] = [];
  const queries: string[] = [];
  let failure: ResolutionLog['failure'] = null;
  let pending: PendingEvent[] = [];
  const asked = new Map<string, number>();
  const underWay = new Map<number, string>();

  function onQuery({ query, name, kind }: ResolutionAction & { type: 'query' }, nowMs: number): void {
    const question = `${kind}? ${name}`;
    assert.ok(!underWay.has(query), 'a query number is used once');
    assert.ok(![...underWay.values()].includes(question), `${question} is asked twice at once`);
    underWay.set(query, question);
    queries.push(question);
    log.push(`${nowMs} ${question}`);
    const nth = asked.get(question) ?? 0;
    asked.set(question, nth + 1);
    const known = replies.filter((reply) => reply.name === name && reply.kind === kind);
    const reply = known[Math.min(nth, known.length - 1)];
    if (reply === undefined) return;
    pending.push({ atMs: nowMs + reply.afterMs, event: { type: 'answer', query, answer: reply.answer } });
  }

  function onTimer(timer: ResolutionTimer, atMs: number | null, nowMs: number): void {
    pending = pending.filter(({ event }) => event.type !== 'timer' || event.timer !== timer);
    if (timer === 'resolution') log.push(`${nowMs} ${atMs === null ? 'wait no more' : `wait until ${atMs}`}`);
    if (atMs !== null) pending.push({ atMs, event: { type: 'timer', timer } });
  }

  function onEndpoints(endpoints: readonly Endpoint[], final: boolean, nowMs: number): void {
    for (const [i, one] of endpoints.entries())
      assert.ok(
        !endpoints.slice(0, i).some((other) => sameEndpoint(one, other)),
        `${words(one)} comes twice`,
      );
    if (final) assert.equal(underWay.size, 0, 'final, and yet something is asked for');
    const before = lists.at(-1);
    const same = before?.endpoints.map(words).join() === endpoints.map(words).join();
    const verb = before === undefined ? 'start' : 'update';
    log.push(same ? `${nowMs} final` : `${nowMs} ${verb} ${endpoints.map(words).join(', ')}`);
    lists.push({ atMs: nowMs, endpoints, final });
  }

  function act(actions: readonly ResolutionAction[], nowMs: number): void {
    for (const action of actions) {
      assert.equal(failure, null, 'nothing is done after a failure');
      if (action.type === 'query') onQuery(action, nowMs);
      else if (action.type === 'timer') onTimer(action.timer, action.atMs, nowMs);
      else if (action.type === 'endpoints') onEndpoints(action.endpoints, action.final, nowMs);
      else {
        assert.deepEqual(lists, [], 'a resolution that gave endpoints does not fail');
        failure = action;
        log.push(`${nowMs} failed ${action.code}`);
      }
    }
  }

  act(machine.start(0), 0);
  for (;;) {
    // A stable sort: simultaneous events keep the order in which they were requested.
    pending.sort((one, other) => one.atMs - other.atMs);
    const next = pending.shift();
    if (next === undefined || next.atMs > untilMs) break;
    if (next.event.type === 'answer') underWay.delete(next.event.query);
    act(machine.handle(next.event, next.atMs), next.atMs);
  }
  const stray: ResolutionEvent = { type: 'answer', query: -1, answer: failing('A', 'a.test', 0).answer };
  assert.deepEqual(machine.handle(stray, untilMs), [], 'an answer that nobody waits for causes nothing');
  return { log, lists, queries, failure, last: (lists.at(-1)?.endpoints ?? []).map(words) };
}
