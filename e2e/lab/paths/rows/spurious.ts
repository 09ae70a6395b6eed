// What a short first probe time-out costs on clean paths that are slower than it: datagrams sent again for nothing.
import { quinn } from '../../clients/quinn.ts';
import { counted, h3MetBefore, h3Unknown } from '../clients.ts';
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
  async measure(session, trials) {
    const { testbed } = session;
    const opened = await session.open([h3Unknown, h3MetBefore, quinn]);
    // Ours tell themselves.
    const clients = await Promise.all(
      opened.map((each) => (each.kind === 'peer' ? counted(each, testbed) : each)),
    );
    for (const roundTripMs of ROUND_TRIPS_MS) {
      const shape = { delayMs: roundTripMs / 2 };
      await testbed.server.shape({ up: shape, down: shape });
      await prepareAll(session, clients);
      await takeTurns(session, `spurious/${roundTripMs} ms`, clients, trials, MOST_A_BATCH);
    }
  },
};
