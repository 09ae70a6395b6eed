// What a short first probe time-out costs on clean paths that are slower than it: datagrams sent again for nothing.
import { median } from '@photofinish/shared/statistics';
import { quinn } from '../../contestants/quinn.ts';
import { counted, h3MetBefore, h3Unknown } from '../clients.ts';
import { type Figure, figureOf } from '../figure.ts';
import type { Row } from '../row.ts';
import { prepareAll, takeTurns } from '../turns.ts';

/** At the first, far below every first probe time-out, each client sends what it needs. */
const ROUND_TRIPS_MS = [50, 100, 150, 200, 300];
const MOST_A_BATCH = 6;

export const spurious: Row = {
  name: 'spurious',
  title: `HTTP/3 alone: extra datagrams a connection by round trip, clean path (beyond the median at ${ROUND_TRIPS_MS[0]} ms)`,
  trials: { usual: 6, full: 60 },
  trialMs: 4500,
  fixedMs: 20_000,
  async measure(bench, trials) {
    const { scene } = bench;
    const opened = await bench.open([h3Unknown, h3MetBefore, quinn]);
    // Ours tell themselves.
    const contestants = await Promise.all(
      opened.map((each) => (each.kind === 'peer' ? counted(each, scene) : each)),
    );
    const needed = new Map<string, number>();
    const figures: Figure[] = [];
    for (const roundTripMs of ROUND_TRIPS_MS) {
      const shape = { delayMs: roundTripMs / 2 };
      await scene.server.shape({ up: shape, down: shape });
      await prepareAll(bench, contestants);
      for (const { contestant, trials: its } of await takeTurns(
        bench,
        `spurious/${roundTripMs} ms`,
        contestants,
        trials,
        MOST_A_BATCH,
      )) {
        const sent = its.flatMap(({ datagramsSent }) => datagramsSent ?? []);
        const least = needed.get(contestant.name) ?? median(sent) ?? 0;
        needed.set(contestant.name, least);
        const extra = sent.map((count) => count - least);
        const name = `${contestant.title}: round trip ${roundTripMs} ms`;
        const note = `${least} needed`;
        figures.push(figureOf({ group: spurious.title, name, unit: 'datagrams', note }, 'mean', extra));
      }
    }
    return figures;
  },
};
