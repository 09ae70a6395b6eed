// UDP that is lost without a word: when there is HTTP/2 to use, at a host unknown and at one whose path has just died.
import { curl } from '../../clients/curl.ts';
import { goRace } from '../../clients/go.ts';
import { h2Alone, raceCutShort, raceKnownCutShort } from '../clients.ts';
import { LOST_UDP } from '../obstacles.ts';
import { CLEAN, ROUND_TRIP_MS, type Row } from '../row.ts';
import { prepareAll, takeTurns } from '../turns.ts';

const MOST_A_BATCH = 5;

export const blackHole: Row = {
  name: 'black-hole',
  title: `UDP lost, round trip ${ROUND_TRIP_MS} ms: HTTP/2 established`,
  trials: { usual: 20, full: 100 },
  trialMs: 2400,
  fixedMs: 5000,
  async measure(session, trials) {
    const { server } = session.testbed;
    await server.shape({ up: CLEAN, down: CLEAN });
    const clients = await session.open([raceCutShort, raceKnownCutShort, h2Alone, goRace, curl]);
    await server.obstruct([]);
    await prepareAll(session, clients);
    await server.obstruct([LOST_UDP]);
    await takeTurns(session, 'black-hole', clients, trials, MOST_A_BATCH);
  },
};
