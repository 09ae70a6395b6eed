// What the ideas cost: QUIC datagrams that a race sends, with and without what is known, and with a fresh attempt.
import { adoptedFigures } from '../adopted.ts';
import { raceKnown, raceKnownNotFresh, raceNotFresh, raceUnknown } from '../clients.ts';
import { type Figure, figureOf } from '../figure.ts';
import { CLEAN, ROUND_TRIP_MS, type Row } from '../row.ts';
import { prepareAll, takeTurns } from '../turns.ts';

const LOSSES = [0, 0.1];
const MOST_A_BATCH = 10;

export const packets: Row = {
  name: 'packets',
  title: `datagrams of a race, round trip ${ROUND_TRIP_MS} ms`,
  trials: { usual: 20, full: 1000 },
  trialMs: 1100,
  fixedMs: 12_000,
  async measure(bench, trials) {
    const { server } = bench.scene;
    await server.obstruct([]);
    const contestants = await bench.open([raceUnknown, raceNotFresh, raceKnown, raceKnownNotFresh]);
    const figures: Figure[] = [];
    for (const share of LOSSES) {
      const group = `${packets.title}, ${100 * share} % lost from the server`;
      await server.shape({ up: CLEAN, down: { ...CLEAN, loss: { kind: 'independent', share } } });
      await prepareAll(bench, contestants);
      for (const turn of await takeTurns(
        bench,
        `packets/${100 * share} % lost from the server`,
        contestants,
        trials,
        MOST_A_BATCH,
      )) {
        const sent = turn.trials.flatMap(({ datagramsSent }) => datagramsSent ?? []);
        const name = `${turn.contestant.title}: datagrams sent, mean`;
        figures.push(figureOf({ group, name, unit: 'datagrams' }, 'mean', sent));
        figures.push(...adoptedFigures(group, turn));
      }
    }
    return figures;
  },
};
