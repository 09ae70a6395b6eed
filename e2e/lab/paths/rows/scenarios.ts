// Paths of the QUIC interoperability runner's kind: very slow, very lossy, gone for seconds, narrow. Reported without
// hypotheses, for chance has much of the last word.
import { setTimeout as pause } from 'node:timers/promises';
import type { Peer } from '../../../network/open.ts';
import type { Loss, Shape } from '../../../network/shape.ts';
import { goRace } from '../../clients/go.ts';
import { raceMetBefore, raceUnknown } from '../clients.ts';
import { CLEAN, type Row } from '../row.ts';
import { prepareAll, takeTurns } from '../turns.ts';

interface Scenario {
  readonly title: string;
  /** Both directions. */
  readonly shape: Shape;
  /** As this in between; null: always the same. */
  readonly gap: { readonly everyMs: number; readonly forMs: number } | null;
  /** Of the row's trials: slow ones make fewer. */
  readonly share: number;
}

const INDEPENDENT: Loss = { kind: 'independent', share: 0.3 };
/** As many, in bursts of three: enter / (enter + leave) is the share, 1 / leave the mean length. */
const BURSTS: Loss = { kind: 'bursts', enter: 1 / 7, leave: 1 / 3 };
const NOTHING: Loss = { kind: 'independent', share: 1 };

const SCENARIOS: readonly Scenario[] = [
  { title: '750 ms each way', shape: { delayMs: 750 }, gap: null, share: 0.25 },
  { title: '30 % lost each way', shape: { ...CLEAN, loss: INDEPENDENT }, gap: null, share: 1 },
  { title: '30 % lost each way in bursts of 3', shape: { ...CLEAN, loss: BURSTS }, gap: null, share: 1 },
  { title: 'there for 5 s, gone for 2 s', shape: CLEAN, gap: { everyMs: 5000, forMs: 2000 }, share: 2 },
  { title: '1 Mbit/s, queue of 25', shape: { ...CLEAN, rateMbps: 1, queuePackets: 25 }, gap: null, share: 1 },
];
const MOST_A_BATCH = 10;

/** Lets the path go and come back until it is told to stop; it is there afterwards. */
function comeAndGo(server: Peer, shape: Shape, gap: NonNullable<Scenario['gap']>): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const both = (each: Shape) => server.shape({ up: each, down: each });
  const running = (async () => {
    while (!signal.aborted) {
      await pause(gap.everyMs, undefined, { signal });
      await both({ ...shape, loss: NOTHING });
      await pause(gap.forMs, undefined, { signal });
      await both(shape);
    }
  })().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return async () => {
    stopping.abort();
    await running;
    await both(shape);
  };
}

export const scenarios: Row = {
  name: 'scenarios',
  title: 'scenarios of the interoperability runner',
  trials: { usual: 5, full: 50 },
  trialMs: 9000,
  fixedMs: 35_000,
  async measure(session, trials) {
    const { server } = session.testbed;
    await server.obstruct([]);
    const clients = await session.open([raceUnknown, raceMetBefore, goRace]);
    for (const { title, shape, gap, share } of SCENARIOS) {
      await server.shape({ up: shape, down: shape });
      const within = { ...session, progress: (text: string) => session.progress(`${title}: ${text}`) };
      await prepareAll(within, clients);
      const stop = gap === null ? async () => {} : comeAndGo(server, shape, gap);
      try {
        await takeTurns(within, `scenarios/${title}`, clients, Math.ceil(trials * share), MOST_A_BATCH);
      } finally {
        await stop();
      }
    }
  },
};
