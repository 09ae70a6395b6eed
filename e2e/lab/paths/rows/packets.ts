// What the ideas cost: QUIC datagrams that a race sends, with and without what is known, and with a fresh attempt.
import { raceKnown, raceKnownNotFresh, raceNotFresh, raceUnknown } from '../clients.ts';
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
  async measure(session, trials) {
    const { server } = session.testbed;
    await server.obstruct([]);
    const clients = await session.open([raceUnknown, raceNotFresh, raceKnown, raceKnownNotFresh]);
    for (const share of LOSSES) {
      await server.shape({ up: CLEAN, down: { ...CLEAN, loss: { kind: 'independent', share } } });
      await prepareAll(session, clients);
      const scenario = `packets/${100 * share} % lost from the server`;
      await takeTurns(session, scenario, clients, trials, MOST_A_BATCH);
    }
  },
};
