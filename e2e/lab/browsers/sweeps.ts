// The sweeps of `browsers`, as data: in each, one thing is late by 21 delays, as on happy-eyeballs.net, and clients
// that know different things decide whether to wait for it.
import type { Shapes } from '../../network/link.ts';
import type { Obstacle } from '../../network/namespace.ts';
import type { Host } from './testbed.ts';

/**
 * Close together where clients decide: the drafts' delays are 50 ms (resolution), 250 ms (attempts) and at most two
 * seconds; Chromium's head start for IPv6 is 300 ms.
 */
export const DELAYS_MS: readonly number[] = [
  0, 10, 20, 30, 40, 50, 60, 75, 100, 150, 200, 225, 250, 275, 300, 350, 400, 500, 750, 1000, 2000,
];

/** Of every path here, milliseconds. */
const ROUND_TRIP_MS = 10;
const HALF = { delayMs: ROUND_TRIP_MS / 2 };
/** The link without anything late. */
export const CLEAN: Shapes = { up: HALF, down: HALF };

/** Packets of one kind reach the server late. */
function late(apart: { transport: 'udp' | 'tcp'; family?: 6 }, byMs: number): Shapes {
  return { up: { ...HALF, apart: { ...apart, delayMs: byMs } }, down: HALF };
}

/**
 * `nothing`: the first visit. `visited`: the visit over a new connection after one under the same conditions.
 * `alt-svc`: the same after a visit over a link on which nothing was late, which taught Alt-Svc. `used`: after two such
 * visits, so that HTTP/3 was also used.
 */
type Knowledge = 'nothing' | 'visited' | 'alt-svc' | 'used';

export interface Sweep {
  /** On the command line and in the record: lower-case letters, digits and hyphens. */
  readonly name: string;
  readonly title: string;
  readonly knowledge: Knowledge;
  /** What is late, and therefore given up at some delay: a transport, an address family, or a DNS answer. */
  readonly late: 'quic' | 'ipv6' | 'A' | 'AAAA' | 'HTTPS';
  /**
   * The visited host. Each delay has its own: Firefox without Happy Eyeballs v3 remembers for the whole browser, not
   * for a container, at which hosts QUIC has failed.
   */
  host(delayMs: number): Host;
  shape(delayMs: number): Shapes;
  /** At the server, in learning visits too. */
  readonly obstacles: readonly Obstacle[];
}

const named = (sweep: string, delayMs: number, host: Omit<Host, 'name'>): Host => ({
  name: `${sweep}-${delayMs}.browsers.test`,
  ...host,
});

/** Of one family, so that only transports compete. */
const FOUR = { dualStack: false, altSvc: true };
/** Without HTTP/3, and without UDP for a client that tries it anyway, so that only families compete. */
const BOTH = { dualStack: true, altSvc: false, httpsRecord: false };
/** QUIC is dropped on its way to the server. */
export const NO_UDP: readonly Obstacle[] = [{ transport: 'udp', effect: 'drop', port: 443 }];

/** All QUIC is late by that. */
export const lateQuic = (delayMs: number): Shapes => late({ transport: 'udp' }, delayMs);
const lateSix = (delayMs: number) => late({ transport: 'tcp', family: 6 }, delayMs);

function lateAnswer(kind: 'A' | 'AAAA' | 'HTTPS'): Sweep {
  const httpsRecord = kind === 'HTTPS';
  const name = `late-${kind.toLowerCase()}`;
  return {
    name,
    title: `${kind} answer late, first visit`,
    knowledge: 'nothing',
    late: kind,
    host: (byMs) =>
      named(name, byMs, { dualStack: true, altSvc: httpsRecord, httpsRecord, late: { kind, byMs } }),
    shape: () => CLEAN,
    obstacles: [],
  };
}

export const SWEEPS: readonly Sweep[] = [
  {
    name: 'quic-https',
    title: 'QUIC later than TCP, first visit, HTTPS record',
    knowledge: 'nothing',
    late: 'quic',
    host: (delayMs) => named('quic-https', delayMs, { ...FOUR, httpsRecord: true }),
    shape: lateQuic,
    obstacles: [],
  },
  {
    name: 'quic-alt-svc',
    title: 'QUIC later than TCP, Alt-Svc learnt',
    knowledge: 'alt-svc',
    late: 'quic',
    host: (delayMs) => named('quic-alt-svc', delayMs, { ...FOUR, httpsRecord: false }),
    shape: lateQuic,
    obstacles: [],
  },
  {
    name: 'quic-used',
    title: 'QUIC later than TCP, HTTP/3 used before',
    knowledge: 'used',
    late: 'quic',
    host: (delayMs) => named('quic-used', delayMs, { ...FOUR, httpsRecord: false }),
    shape: lateQuic,
    obstacles: [],
  },
  {
    name: 'ipv6',
    title: 'IPv6 later than IPv4, first visit, TCP only',
    knowledge: 'nothing',
    late: 'ipv6',
    host: (delayMs) => named('ipv6', delayMs, BOTH),
    shape: lateSix,
    obstacles: NO_UDP,
  },
  {
    name: 'ipv6-visited',
    title: 'IPv6 later than IPv4, visited before, TCP only',
    knowledge: 'visited',
    late: 'ipv6',
    host: (delayMs) => named('ipv6-visited', delayMs, BOTH),
    shape: lateSix,
    obstacles: NO_UDP,
  },
  lateAnswer('A'),
  lateAnswer('AAAA'),
  lateAnswer('HTTPS'),
];

/** Every host that the sweeps visit at those delays. */
export function hostsOf(sweeps: readonly Sweep[], delaysMs: readonly number[]): Host[] {
  return sweeps.flatMap(({ host }) => delaysMs.map(host));
}
