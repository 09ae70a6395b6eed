// UDP that is refused by ICMP: TCP starts because of the refusal, whatever the start delay.

import { afterRefusalMs } from '../after-refusal.ts';
import { REFUSED_UDP } from '../obstacles.ts';
import { CLEAN, ROUND_TRIP_MS, type Row } from '../row.ts';
import { batches } from '../turns.ts';

const START_DELAYS_MS = [10, 250, 500, 1000];
const MOST_A_BATCH = 10;

export const refused: Row = {
  name: 'refused',
  title: `UDP refused, round trip ${ROUND_TRIP_MS} ms: from the refusal to the start of TCP`,
  trials: { usual: 20, full: 100 },
  trialMs: 500,
  fixedMs: 3000,
  async measure({ testbed: { server }, command, record, progress }, trials) {
    await server.shape({ up: CLEAN, down: CLEAN });
    await server.obstruct([REFUSED_UDP]);
    for (const [turn, batch] of batches(trials, MOST_A_BATCH).entries()) {
      for (const delayMs of START_DELAYS_MS) {
        progress(`start delay ${delayMs} ms, turn ${turn + 1}`);
        const options = ['--memory', 'none', '--start-delay', String(delayMs), '--trials', String(batch)];
        const [name, title] = [`start-delay-${delayMs}`, `ours, start delay ${delayMs} ms`];
        await record({ scenario: 'refused', turn }, { name, title, kind: 'ours' }, async () =>
          (await command.race(...options)).trials.map((trial) => ({ afterRefusalMs: afterRefusalMs(trial) })),
        );
      }
    }
  },
};
