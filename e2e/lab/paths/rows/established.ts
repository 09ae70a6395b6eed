// A first flight that is lost on the way to the server: how soon each QUIC stack sends it again.
import { goH3 } from '../../clients/go.ts';
import { quinn } from '../../clients/quinn.ts';
import { h3Known, h3KnownClassic, h3KnownOne, h3Unknown, h3UnknownClassic } from '../clients.ts';
import { CLEAN, ROUND_TRIP_MS, type Row } from '../row.ts';
import { prepareAll, takeTurns } from '../turns.ts';

const LOSS_SHARE = 0.1;
const MOST_A_BATCH = 40;

export const established: Row = {
  name: 'established',
  title: `HTTP/3 alone, ${100 * LOSS_SHARE} % lost towards the server, round trip ${ROUND_TRIP_MS} ms`,
  trials: { usual: 400, full: 1000 },
  trialMs: 850,
  fixedMs: 12_000,
  async measure(session, trials) {
    const { server } = session.testbed;
    const up = { ...CLEAN, loss: { kind: 'independent', share: LOSS_SHARE } } as const;
    await server.shape({ up, down: CLEAN });
    const ours = [h3Unknown, h3Known, h3KnownOne, h3UnknownClassic, h3KnownClassic];
    const clients = await session.open([...ours, quinn, goH3]);
    await prepareAll(session, clients);
    await takeTurns(session, 'established', clients, trials, MOST_A_BATCH);
  },
};
