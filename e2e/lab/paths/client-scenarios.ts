// Scenarios in which clients take turns, ours and peers, on a path under one condition after another.
import { setTimeout as pause } from 'node:timers/promises';
import type { Loss, Shape, Shapes } from '../../network/link.ts';
import type { Obstacle } from '../../network/namespace.ts';
import type { Peer } from '../../network/open.ts';
import { type Client, type LabTrial, type Opener, ours, type PhotofinishClientOptions } from '../client.ts';
import { curl, goH3, goRace, quinn } from '../clients/peers.ts';
import type { ServedTestbed } from '../testbed.ts';
import {
  CLEAN,
  LOST_TCP,
  LOST_UDP,
  REFUSED_TCP,
  REFUSED_UDP,
  ROUND_TRIP_MS,
  type Scenario,
  takeTurns,
} from './scenario.ts';

/** Clients of ours in one mode: name, title, and how they differ from the default. */
const inMode =
  (mode: 'race' | 'h3' | 'h2') =>
  (name: string, title: string, more: Omit<PhotofinishClientOptions, 'name' | 'title' | 'mode'> = {}) =>
    ours({ name, title: `ours, ${title}`, mode, ...more });
const h3 = inMode('h3');
const race = inMode('race');
const h2Alone = inMode('h2')('h2', 'HTTP/2 alone');

/** One connection, whatever happens to its handshake, as with quinn and quic-go. */
const NOT_FRESH = ['--no-fresh-quic'];
/** For a first flight of one packet instead of two. */
const CLASSIC = ['--no-post-quantum'];
/** Learning is slow on slow paths too, so a few races must do. */
const FEW_LESSONS = 5;
/**
 * If HTTP/3 is broken, it would continue for the rest of the trial after HTTP/2 is adopted: this ends it, far later
 * than any HTTP/2 is established here.
 */
const BEATEN_ENDS = ['--timeout', '600'];

const MET_BEFORE = [`host met ${FEW_LESSONS} times`, { known: true, lessons: FEW_LESSONS }] as const;

const h3Unknown = h3('h3', 'host unknown');
const h3Known = h3('h3-known', 'host known', { known: true });
const h3KnownOne = h3('h3-known-one', 'host known, without the fresh attempt', {
  known: true,
  options: NOT_FRESH,
});
const h3UnknownClassic = h3('h3-classic', 'host unknown, no ML-KEM', { options: CLASSIC });
const h3KnownClassic = h3('h3-known-classic', 'host known, no ML-KEM', { known: true, options: CLASSIC });
const h3MetBefore = h3('h3-known', ...MET_BEFORE);
const raceMetBefore = race('race-known', ...MET_BEFORE);
const raceUnknown = race('race', 'host unknown');
const raceKnown = race('race-known', 'host known', { known: true });
const raceNotFresh = race('race-not-fresh', 'host unknown, --no-fresh-quic', { options: NOT_FRESH });
const raceKnownNotFresh = race('race-known-not-fresh', 'host known, --no-fresh-quic', {
  known: true,
  options: NOT_FRESH,
});
const raceCutShort = race('race', 'host unknown', { options: BEATEN_ENDS });
const raceKnownCutShort = race('race-known', 'host known', { known: true, options: BEATEN_ENDS });

/** The same client, one process per trial, with its datagrams counted as they leave the namespace. */
async function counted(client: Client, testbed: ServedTestbed): Promise<Client> {
  const counter = await testbed.client.countSent({ transport: 'udp' });
  return {
    ...client,
    async run(trials) {
      const made: LabTrial[] = [];
      while (made.length < trials) {
        const before = await counter.read();
        const [trial] = await client.run(1);
        if (trial === undefined) throw new Error(`${client.name} made no trial`);
        made.push({ ...trial, datagramsSent: (await counter.read()) - before });
      }
      return made;
    },
  };
}

/** The state of the path during all turns. */
interface Condition {
  /** Absent if it is the scenario's only condition. */
  readonly name?: string;
  readonly shapes: Required<Shapes>;
  /** Applied once clients that learn have learnt. */
  readonly obstacle?: Obstacle;
  /** Both directions lose everything for this long, at this interval. */
  readonly gap?: { readonly everyMs: number; readonly forMs: number };
  /** Share of the scenario's trials: slow paths make fewer. */
  readonly share?: number;
}

const both = (shape: Shape): Required<Shapes> => ({ up: shape, down: shape });
const lossy = (share: number): Shape => ({ ...CLEAN, loss: { kind: 'independent', share } });

const EVERYTHING: Loss = { kind: 'independent', share: 1 };

/** Interrupts and restores the path until it is stopped, after which the path works. */
function interruptPeriodically(
  server: Peer,
  { up, down }: Required<Shapes>,
  gap: NonNullable<Condition['gap']>,
): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = (async () => {
    while (!signal.aborted) {
      await pause(gap.everyMs, undefined, { signal });
      await server.shape({ up: { ...up, loss: EVERYTHING }, down: { ...down, loss: EVERYTHING } });
      await pause(gap.forMs, undefined, { signal });
      await server.shape({ up, down });
    }
  })().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return async () => {
    stopping.abort();
    await running;
    await server.shape({ up, down });
  };
}

interface TurnsOptions extends Omit<Scenario, 'measure'> {
  readonly clients: readonly Opener[];
  readonly conditions: readonly Condition[];
  readonly mostABatch: number;
  /** Whether to count datagrams of peers that do not report them. */
  readonly countsPeers?: boolean;
}

function turns({ clients: openers, conditions, mostABatch, countsPeers, ...rest }: TurnsOptions): Scenario {
  return {
    ...rest,
    async measure(session, trials) {
      const { testbed } = session;
      const { server } = testbed;
      const opened = await session.open(openers);
      const clients = await Promise.all(
        opened.map((each) => (countsPeers && each.kind === 'peer' ? counted(each, testbed) : each)),
      );
      for (const { name, shapes, obstacle, gap, share = 1 } of conditions) {
        const progress = (text: string) => session.progress(name === undefined ? text : `${name}: ${text}`);
        await server.obstruct([]);
        await server.shape(shapes);
        for (const client of clients) {
          progress(`${client.name} learns the path`);
          await client.prepare?.();
        }
        if (obstacle !== undefined) await server.obstruct([obstacle]);
        const stop = gap === undefined ? async () => {} : interruptPeriodically(server, shapes, gap);
        const scenario = name === undefined ? rest.name : `${rest.name}/${name}`;
        try {
          await takeTurns({ ...session, progress }, scenario, clients, Math.ceil(trials * share), mostABatch);
        } finally {
          await stop();
        }
      }
    },
  };
}

const LOSS_TO_SERVER = 0.1;

/** The first flight to the server is lost: how soon each QUIC stack retransmits it. */
export const established = turns({
  name: 'established',
  title: `HTTP/3 alone, ${100 * LOSS_TO_SERVER} % lost towards the server, round trip ${ROUND_TRIP_MS} ms`,
  trials: { usual: 400, full: 1000 },
  trialMs: 850,
  fixedMs: 12_000,
  clients: [h3Unknown, h3Known, h3KnownOne, h3UnknownClassic, h3KnownClassic, quinn, goH3],
  mostABatch: 40,
  conditions: [{ shapes: { up: lossy(LOSS_TO_SERVER), down: CLEAN } }],
});

/** At the shortest, far below every first probe time-out, each client sends only what it needs. */
const ROUND_TRIPS_MS = [50, 100, 150, 200, 300];

/** The cost of a short first probe time-out on clean paths with a longer round trip: unnecessary retransmissions. */
export const spurious = turns({
  name: 'spurious',
  title: `HTTP/3 alone: extra datagrams a connection by round trip, clean path (beyond the median at ${ROUND_TRIPS_MS[0]} ms)`,
  trials: { usual: 6, full: 60 },
  trialMs: 4500,
  fixedMs: 20_000,
  clients: [h3Unknown, h3MetBefore, quinn],
  countsPeers: true,
  mostABatch: 6,
  conditions: ROUND_TRIPS_MS.map((ms) => ({ name: `${ms} ms`, shapes: both({ delayMs: ms / 2 }) })),
});

/**
 * UDP is dropped silently: how soon there is HTTP/2 to use, for an unknown host and for one whose path has just failed.
 */
export const blackHole = turns({
  name: 'black-hole',
  title: `UDP lost, round trip ${ROUND_TRIP_MS} ms: HTTP/2 established`,
  trials: { usual: 20, full: 100 },
  trialMs: 2400,
  fixedMs: 5000,
  clients: [raceCutShort, raceKnownCutShort, h2Alone, goRace, curl],
  mostABatch: 5,
  conditions: [{ shapes: both(CLEAN), obstacle: LOST_UDP }],
});

/** Servers that speak only one of the two protocols: the outcome of races. */
export const oneProtocol = turns({
  name: 'one-protocol',
  title: `servers of one protocol, round trip ${ROUND_TRIP_MS} ms`,
  trials: { usual: 8, full: 50 },
  trialMs: 4200,
  fixedMs: 2000,
  clients: [raceCutShort, goRace, curl],
  mostABatch: 5,
  conditions: [
    { name: 'HTTP/3 only, TCP refused', shapes: both(CLEAN), obstacle: REFUSED_TCP },
    { name: 'HTTP/3 only, TCP lost', shapes: both(CLEAN), obstacle: LOST_TCP },
    { name: 'HTTP/2 only, UDP refused', shapes: both(CLEAN), obstacle: REFUSED_UDP },
    { name: 'HTTP/2 only, UDP lost', shapes: both(CLEAN), obstacle: LOST_UDP },
  ],
});

/** The same share, in bursts of three: enter / (enter + leave) is the share, 1 / leave the mean length. */
const BURSTS: Loss = { kind: 'bursts', enter: 1 / 7, leave: 1 / 3 };

/**
 * Paths like those of the QUIC interoperability runner: very slow, very lossy, interrupted for seconds, narrow.
 * Reported without hypotheses, since chance dominates the results.
 */
export const interoperability = turns({
  name: 'scenarios',
  title: 'scenarios of the interoperability runner',
  trials: { usual: 5, full: 50 },
  trialMs: 9000,
  fixedMs: 35_000,
  clients: [raceUnknown, raceMetBefore, goRace],
  mostABatch: 10,
  conditions: [
    { name: '750 ms each way', shapes: both({ delayMs: 750 }), share: 0.25 },
    { name: '30 % lost each way', shapes: both(lossy(0.3)) },
    { name: '30 % lost each way in bursts of 3', shapes: both({ ...CLEAN, loss: BURSTS }) },
    {
      name: 'there for 5 s, gone for 2 s',
      shapes: both(CLEAN),
      gap: { everyMs: 5000, forMs: 2000 },
      share: 2,
    },
    { name: '1 Mbit/s, queue of 25', shapes: both({ ...CLEAN, rateMbps: 1, queuePackets: 25 }) },
  ],
});

/** The cost of our ideas: QUIC datagrams that a race sends, with and without knowledge, and with a fresh attempt. */
export const packets = turns({
  name: 'packets',
  title: `datagrams of a race, round trip ${ROUND_TRIP_MS} ms`,
  trials: { usual: 20, full: 1000 },
  trialMs: 1100,
  fixedMs: 12_000,
  clients: [raceUnknown, raceNotFresh, raceKnown, raceKnownNotFresh],
  mostABatch: 10,
  conditions: [0, 0.1].map((share) => ({
    name: `${100 * share} % lost from the server`,
    shapes: { up: CLEAN, down: lossy(share) },
  })),
});
