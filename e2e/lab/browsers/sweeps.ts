// What `browsers` measures. In its sweeps, which are data, one thing is late by 21 delays, as on happy-eyeballs.net,
// and clients that know different things decide whether to wait for it. In its ways to fail, QUIC is broken or late
// once or for good, to see for how long a client that used it, or only learnt of it, avoids it.
import { setTimeout as sleep } from 'node:timers/promises';
import { count } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import type { Shape, Shapes } from '../../network/link.ts';
import type { Obstacle } from '../../network/namespace.ts';
import { figure } from '../journal.ts';
import { observationSchema } from './observation.ts';
import type { Subject } from './subjects.ts';
import type { Host, NamedTestbed, Visitor } from './testbed.ts';

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
const late = (apart: NonNullable<Shape['apart']>): Shapes => ({ up: { ...HALF, apart }, down: HALF });
/** All QUIC is. */
const lateQuic = (delayMs: number) => late({ transport: 'udp', delayMs });

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

const hostNamed = (sweep: string, delayMs: number, host: Omit<Host, 'name'>): Host => ({
  name: `${sweep}-${delayMs}.browsers.test`,
  ...host,
});

/** Of one family, so that only transports compete; without an HTTPS record, and with one. */
const UNRECORDED = { dualStack: false, altSvc: true, httpsRecord: false };
const RECORDED = { ...UNRECORDED, httpsRecord: true };
/** Without HTTP/3, and without UDP for a client that tries it anyway, so that only families compete. */
const BOTH = { dualStack: true, altSvc: false, httpsRecord: false };
/** QUIC is dropped on its way to the server. */
const NO_UDP: readonly Obstacle[] = [{ transport: 'udp', effect: 'drop', port: 443 }];

function lateAnswer(kind: 'A' | 'AAAA' | 'HTTPS'): Sweep {
  const httpsRecord = kind === 'HTTPS';
  const name = `late-${kind.toLowerCase()}`;
  return {
    name,
    title: `${kind} answer late, first visit`,
    knowledge: 'nothing',
    late: kind,
    host: (byMs) =>
      hostNamed(name, byMs, { dualStack: true, altSvc: httpsRecord, httpsRecord, late: { kind, byMs } }),
    shape: () => CLEAN,
    obstacles: [],
  };
}

function lateTransport(
  what: 'quic' | 'ipv6',
  [name, title]: readonly [name: string, title: string],
  knowledge: Knowledge,
  host: Omit<Host, 'name'>,
): Sweep {
  return {
    ...{ name, title, knowledge, late: what },
    host: (delayMs) => hostNamed(name, delayMs, host),
    ...(what === 'quic'
      ? { shape: lateQuic, obstacles: [] }
      : { shape: (delayMs) => late({ transport: 'tcp', family: 6, delayMs }), obstacles: NO_UDP }),
  };
}

const QUIC = 'QUIC later than TCP';
const SIX = 'IPv6 later than IPv4';

export const SWEEPS: readonly Sweep[] = [
  lateTransport('quic', ['quic-https', `${QUIC}, first visit, HTTPS record`], 'nothing', RECORDED),
  lateTransport('quic', ['quic-alt-svc', `${QUIC}, Alt-Svc learnt`], 'alt-svc', UNRECORDED),
  lateTransport('quic', ['quic-used', `${QUIC}, HTTP/3 used before`], 'used', UNRECORDED),
  lateTransport('ipv6', ['ipv6', `${SIX}, first visit, TCP only`], 'nothing', BOTH),
  lateTransport('ipv6', ['ipv6-visited', `${SIX}, visited before, TCP only`], 'visited', BOTH),
  lateAnswer('A'),
  lateAnswer('AAAA'),
  lateAnswer('HTTPS'),
];

/** Every host that the sweeps visit at those delays. */
export function hostsOf(sweeps: readonly Sweep[], delaysMs: readonly number[]): Host[] {
  return sweeps.flatMap(({ host }) => delaysMs.map(host));
}

/** Between the visits of one client; the resolution of the result. */
const INTERVAL_MS = 15_000;
const MINUTE_MS = 60_000;
/** Far later than TCP, and QUIC's handshake still completes. */
const LATE_MS = 1000;
/** For the notice of a changed address to reach every part of a browser. */
const NOTICED_MS = 5000;

/** What happens after HTTP/3 has been learnt. */
export interface Way {
  readonly name: string;
  readonly title: string;
  /** In the first visit after that QUIC is late, or broken in that visit alone, or broken from then on. */
  readonly quic: 'late' | 'broken-once' | 'broken-still';
  /** Whether the client gets another address after that visit. */
  readonly changesAddress?: true;
  /** Visits before that: the first teaches Alt-Svc, the second uses HTTP/3. */
  readonly lessons: 1 | 2;
  /** How long visits go on, milliseconds. */
  readonly limitMs: { readonly usual: number; readonly full: number };
}

export const WAYS: readonly Way[] = [
  {
    name: 'late-quic',
    title: 'QUIC a second late in one visit, HTTP/3 used before',
    quic: 'late',
    lessons: 2,
    limitMs: { usual: 0, full: 0 },
  },
  {
    name: 'broken-changed',
    title: 'QUIC broken in one visit, then another address, HTTP/3 used before',
    quic: 'broken-once',
    changesAddress: true,
    lessons: 2,
    limitMs: { usual: MINUTE_MS, full: MINUTE_MS },
  },
  {
    name: 'broken-unused',
    title: 'QUIC broken in one visit, Alt-Svc learnt and HTTP/3 never used',
    quic: 'broken-once',
    lessons: 1,
    limitMs: { usual: 7 * MINUTE_MS, full: 12 * MINUTE_MS },
  },
  {
    name: 'broken-once',
    title: 'QUIC broken in one visit, HTTP/3 used before',
    quic: 'broken-once',
    lessons: 2,
    limitMs: { usual: 12 * MINUTE_MS, full: 25 * MINUTE_MS },
  },
  {
    name: 'broken-still',
    title: 'QUIC broken from then on, HTTP/3 used before',
    quic: 'broken-still',
    lessons: 2,
    limitMs: { usual: 12 * MINUTE_MS, full: 45 * MINUTE_MS },
  },
];

export const avoidanceSchema = v.object({
  kind: v.literal('avoidance'),
  way: v.string(),
  turn: count,
  endedAtMs: v.number(),
  clients: v.array(
    v.object({
      client: v.string(),
      /** Times are milliseconds from the start of the first visit, in which QUIC was broken or late. */
      visits: v.array(v.object({ startedMs: figure, ...observationSchema.entries })),
    }),
  ),
});
type Avoidance = v.InferOutput<typeof avoidanceSchema>;
type AvoidanceVisit = Avoidance['clients'][number]['visits'][number];

/** The host of one client: what Firefox without Happy Eyeballs v3 knows of a host, it knows in every profile. */
export function hostOf(way: Way, subject: Subject): Host {
  const name = `${way.name}-${subject.name}.browsers.test`;
  return { name, dualStack: false, altSvc: true, httpsRecord: false };
}

/** One client in a way, and its visits. */
function avoiderOf(testbed: NamedTestbed, client: string, visitor: Visitor, host: string) {
  const visits: AvoidanceVisit[] = [];
  let firstMs: number | null = null;
  return {
    client,
    visits,
    /** Makes that many visits, each over a new connection. */
    async learn(lessons: number): Promise<void> {
      await visitor.forget();
      for (let lesson = 0; lesson < lessons; lesson += 1) {
        await visitor.learn(`https://${host}/`);
        await visitor.part();
      }
    },
    /** Visits, over a new connection by default. */
    async visit({ keepsConnections = false } = {}): Promise<AvoidanceVisit> {
      if (!keepsConnections) await visitor.part();
      await testbed.drain();
      const nowMs = performance.now();
      firstMs ??= nowMs;
      const startedMs = Math.round(nowMs - firstMs);
      const visited = { startedMs, ...(await testbed.observe(visitor, host)) };
      visits.push(visited);
      return visited;
    },
    close: () => visitor.close(),
  };
}
type Avoider = ReturnType<typeof avoiderOf>;

async function visitLate(testbed: NamedTestbed, avoiders: readonly Avoider[]): Promise<void> {
  for (const avoider of avoiders) {
    await testbed.server.shape(lateQuic(LATE_MS));
    await avoider.visit();
    // The late handshake completes while nothing else happens.
    await testbed.drain();
    await avoider.visit({ keepsConnections: true });
    await testbed.drain();
    await testbed.server.shape(CLEAN);
    await avoider.visit();
  }
}

/** Visits at intervals until the limit, or until every client uses HTTP/3 again. */
async function visitUntil(avoiders: readonly Avoider[], limitMs: number): Promise<void> {
  const begunMs = performance.now();
  const away = new Set(avoiders);
  while (away.size > 0 && performance.now() - begunMs < limitMs) {
    const roundMs = performance.now();
    for (const avoider of away) if ((await avoider.visit()).request?.protocol === 'h3') away.delete(avoider);
    if (away.size > 0) await sleep(Math.max(0, INTERVAL_MS - (performance.now() - roundMs)));
  }
}

/** One turn of all clients in a way. */
export async function avoid(
  testbed: NamedTestbed,
  way: Way,
  subjects: readonly Subject[],
  limitMs: number,
  progress: (text: string) => void,
): Promise<Avoidance['clients']> {
  const { server } = testbed;
  await server.obstruct([]);
  await server.shape(CLEAN);
  const avoiders: Avoider[] = [];
  try {
    for (const subject of subjects) {
      progress(`${subject.name} learns`);
      const visitor = await subject.start(testbed, 'full');
      const avoider = avoiderOf(testbed, subject.name, visitor, hostOf(way, subject).name);
      avoiders.push(avoider);
      await avoider.learn(way.lessons);
    }
    progress('visiting');
    if (way.quic === 'late') await visitLate(testbed, avoiders);
    else {
      await server.obstruct(NO_UDP);
      for (const avoider of avoiders) await avoider.visit();
      if (way.quic === 'broken-once') await server.obstruct([]);
      if (way.changesAddress) {
        await testbed.changeAddress();
        await sleep(NOTICED_MS);
      }
      await visitUntil(avoiders, limitMs);
    }
    return avoiders.map(({ client, visits }) => ({ client, visits }));
  } finally {
    await server.obstruct([]);
    await Promise.all(avoiders.map((avoider) => avoider.close()));
  }
}
