// Servers that speak only one of the two protocols: what a race makes of them.
import type { Obstacle } from '../../../network/obstacles.ts';
import { curl } from '../../clients/curl.ts';
import { goRace } from '../../clients/go.ts';
import { raceCutShort } from '../clients.ts';
import { LOST_TCP, LOST_UDP, REFUSED_TCP, REFUSED_UDP } from '../obstacles.ts';
import { CLEAN, ROUND_TRIP_MS, type Row } from '../row.ts';
import { takeTurns } from '../turns.ts';

const SERVERS: readonly (readonly [what: string, obstacle: Obstacle])[] = [
  ['HTTP/3 only, TCP refused', REFUSED_TCP],
  ['HTTP/3 only, TCP lost', LOST_TCP],
  ['HTTP/2 only, UDP refused', REFUSED_UDP],
  ['HTTP/2 only, UDP lost', LOST_UDP],
];
const MOST_A_BATCH = 5;

export const oneProtocol: Row = {
  name: 'one-protocol',
  title: `servers of one protocol, round trip ${ROUND_TRIP_MS} ms`,
  trials: { usual: 8, full: 50 },
  trialMs: 4200,
  fixedMs: 2000,
  async measure(session, trials) {
    const { server } = session.testbed;
    await server.shape({ up: CLEAN, down: CLEAN });
    const clients = await session.open([raceCutShort, goRace, curl]);
    for (const [what, obstacle] of SERVERS) {
      await server.obstruct([obstacle]);
      await takeTurns(session, `one-protocol/${what}`, clients, trials, MOST_A_BATCH);
    }
  },
};
