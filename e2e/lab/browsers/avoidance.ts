// For how long a client avoids QUIC that has failed, and how it comes back: visits over new connections at intervals,
// all clients in one run, since most of it is waiting. What a client tries is seen in its packets.
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { count } from '../journal.ts';
import { observationSchema } from './observation.ts';
import type { Subject } from './subjects.ts';
import { CLEAN, lateQuic, NO_UDP } from './sweeps.ts';
import type { Host, NamedTestbed, Visitor } from './testbed.ts';

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
  readonly changesAddress: boolean;
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
    changesAddress: false,
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
    changesAddress: false,
    lessons: 1,
    limitMs: { usual: 7 * MINUTE_MS, full: 12 * MINUTE_MS },
  },
  {
    name: 'broken-once',
    title: 'QUIC broken in one visit, HTTP/3 used before',
    quic: 'broken-once',
    changesAddress: false,
    lessons: 2,
    limitMs: { usual: 12 * MINUTE_MS, full: 25 * MINUTE_MS },
  },
  {
    name: 'broken-still',
    title: 'QUIC broken from then on, HTTP/3 used before',
    quic: 'broken-still',
    changesAddress: false,
    lessons: 2,
    limitMs: { usual: 12 * MINUTE_MS, full: 45 * MINUTE_MS },
  },
];

const ms = v.pipe(v.number(), v.finite());

export const avoidanceSchema = v.object({
  kind: v.literal('avoidance'),
  way: v.string(),
  turn: count,
  endedAtMs: v.number(),
  clients: v.array(
    v.object({
      client: v.string(),
      /** Times are milliseconds from the start of the first visit, in which QUIC was broken or late. */
      visits: v.array(v.object({ startedMs: ms, ...observationSchema.entries })),
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
class Avoider {
  readonly visits: AvoidanceVisit[] = [];
  readonly subject: Subject;
  readonly #testbed: NamedTestbed;
  readonly #visitor: Visitor;
  readonly #host: string;
  #startedMs: number | null = null;

  constructor(testbed: NamedTestbed, subject: Subject, visitor: Visitor, host: string) {
    this.subject = subject;
    this.#testbed = testbed;
    this.#visitor = visitor;
    this.#host = host;
  }

  /** Makes that many visits, each over a new connection. */
  async learn(lessons: number): Promise<void> {
    await this.#visitor.forget();
    for (let lesson = 0; lesson < lessons; lesson += 1) {
      await this.#visitor.learn(`https://${this.#host}/`);
      await this.#visitor.part();
    }
  }

  /** Visits, over a new connection unless told otherwise. */
  async visit({ keepsConnections = false } = {}): Promise<AvoidanceVisit> {
    if (!keepsConnections) await this.#visitor.part();
    await this.#testbed.drain();
    const nowMs = performance.now();
    this.#startedMs ??= nowMs;
    const visited = {
      startedMs: Math.round(nowMs - this.#startedMs),
      ...(await this.#testbed.observe(this.#visitor, this.#host)),
    };
    this.visits.push(visited);
    return visited;
  }

  close(): Promise<void> {
    return this.#visitor.close();
  }
}

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
      const avoider = new Avoider(testbed, subject, visitor, hostOf(way, subject).name);
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
    return avoiders.map(({ subject, visits }) => ({ client: subject.name, visits }));
  } finally {
    await server.obstruct([]);
    await Promise.all(avoiders.map((avoider) => avoider.close()));
  }
}
