// UDP that is lost without a word: when there is HTTP/2 to use, at a host unknown and at one whose path has just died.
import { curl } from '../../contestants/curl.ts';
import { goRace } from '../../contestants/go.ts';
import { timesOf } from '../../trial.ts';
import { h2Alone, raceCutShort, raceKnownCutShort } from '../clients.ts';
import { atMost, figureOf, plottedAs } from '../figure.ts';
import { LOST_UDP } from '../obstacles.ts';
import { CLEAN, ROUND_TRIP_MS, type Row } from '../row.ts';
import { anchorHere, prepareAll, takeTurns } from '../turns.ts';

const MOST_A_BATCH = 5;
const START_DELAY_MS = 10;
/** For TLS itself. */
const ALLOWANCE_MS = 3;
/** TCP's handshake, and TLS 1.3's. */
const ROUND_TRIPS = 2;
const GOAL_MS = START_DELAY_MS + ROUND_TRIPS * ROUND_TRIP_MS + ALLOWANCE_MS;

export const blackHole: Row = {
  name: 'black-hole',
  title: `UDP lost, round trip ${ROUND_TRIP_MS} ms: HTTP/2 established`,
  trials: { usual: 20, full: 100 },
  trialMs: 2400,
  fixedMs: 5000,
  async measure(bench, trials) {
    const { server } = bench.scene;
    await server.shape({ up: CLEAN, down: CLEAN });
    const contestants = await bench.open([raceCutShort, raceKnownCutShort, h2Alone, goRace, curl]);
    await server.obstruct([]);
    await prepareAll(bench, contestants);
    await server.obstruct([LOST_UDP]);
    const turns = await takeTurns(bench, 'black-hole', contestants, trials, MOST_A_BATCH);
    const anchor = anchorHere(turns, 'median', ['go-race', 'curl']);
    return turns.map(({ contestant, trials: its }) => {
      const { name, title } = contestant;
      const goal = name === 'race' ? { goal: atMost(GOAL_MS), anchor } : {};
      const note = name === 'race-known' ? 'the path died since: the longer head start is in this' : '';
      const saying = {
        group: blackHole.title,
        name: `${title}, median`,
        unit: 'ms',
        note,
        plotted: plottedAs(contestant),
        ...goal,
      };
      return figureOf(saying, 'median', timesOf(its, 'establishedMs'));
    });
  },
};
