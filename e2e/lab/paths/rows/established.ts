// A first flight that is lost on the way to the server: how soon each QUIC stack sends it again.
import { goH3 } from '../../contestants/go.ts';
import { quinn } from '../../contestants/quinn.ts';
import { timesOf } from '../../trial.ts';
import { h3Known, h3KnownClassic, h3KnownOne, h3Unknown, h3UnknownClassic } from '../clients.ts';
import { atMost, type Figure, figureOf, plottedAs } from '../figure.ts';
import { CLEAN, ROUND_TRIP_MS, type Row } from '../row.ts';
import { anchorHere, prepareAll, takeTurns } from '../turns.ts';

const LOSS_SHARE = 0.1;
const MOST_A_BATCH = 40;
/** One round trip and the first probe time-out, 200 ms for a host unknown, once the path's own for one that is known. */
const GOALS: Readonly<Record<string, number>> = {
  h3: 255,
  'h3-known': 115,
  'h3-classic': 255,
  'h3-known-classic': 115,
};

export const established: Row = {
  name: 'established',
  title: `HTTP/3 alone, ${100 * LOSS_SHARE} % lost towards the server, round trip ${ROUND_TRIP_MS} ms`,
  trials: { usual: 400, full: 1000 },
  trialMs: 850,
  fixedMs: 12_000,
  async measure(bench, trials) {
    const { server } = bench.scene;
    const up = { ...CLEAN, loss: { kind: 'independent', share: LOSS_SHARE } } as const;
    await server.shape({ up, down: CLEAN });
    const ours = [h3Unknown, h3Known, h3KnownOne, h3UnknownClassic, h3KnownClassic];
    const contestants = await bench.open([...ours, quinn, goH3]);
    await prepareAll(bench, contestants);
    const turns = await takeTurns(bench, 'established', contestants, trials, MOST_A_BATCH);
    const anchor = anchorHere(turns, 'p95', ['quinn', 'go-h3']);
    return turns.flatMap(({ contestant, trials: its }): Figure[] => {
      const limit = GOALS[contestant.name];
      const times = timesOf(its, 'establishedMs');
      const saying = { group: established.title, unit: 'ms' };
      const goal = limit === undefined ? null : atMost(limit);
      const name = `${contestant.title}: established, p95`;
      return [
        figureOf({ ...saying, name, goal, anchor: goal === null ? '' : anchor }, 'p95', times),
        figureOf(
          { ...saying, name: `${contestant.title}: established, mean`, plotted: plottedAs(contestant) },
          'mean',
          times,
        ),
      ];
    });
  },
};
