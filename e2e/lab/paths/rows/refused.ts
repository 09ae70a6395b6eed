// UDP that is refused by ICMP: TCP starts because of the refusal, whatever the start delay.
import { atMost, type Figure, figureOf } from '../figure.ts';
import { REFUSED_UDP } from '../obstacles.ts';
import { afterRefusalMs } from '../record.ts';
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
  async measure({ scene: { server }, command, record, progress }, trials) {
    await server.shape({ up: CLEAN, down: CLEAN });
    await server.obstruct([REFUSED_UDP]);
    const samples = new Map<number, number[]>(START_DELAYS_MS.map((delayMs) => [delayMs, []]));
    for (const [turn, batch] of batches(trials, MOST_A_BATCH).entries()) {
      for (const [delayMs, its] of samples) {
        progress(`start delay ${delayMs} ms, ${its.length} of ${trials} trials`);
        const options = ['--memory', 'none', '--start-delay', String(delayMs), '--trials', String(batch)];
        const client = {
          name: `start-delay-${delayMs}`,
          title: `ours, start delay ${delayMs} ms`,
          kind: 'ours',
        } as const;
        const made = await record({ scenario: 'refused', turn }, client, async () =>
          (await command.race(...options)).trials.map((trial) => ({ afterRefusalMs: afterRefusalMs(trial) })),
        );
        its.push(...made.map((trial) => trial.afterRefusalMs));
      }
    }
    return [...samples].map(([delayMs, its]): Figure => {
      const name = `ours, start delay ${delayMs} ms, median`;
      const note = delayMs < ROUND_TRIP_MS ? 'the start delay was over before the refusal came' : '';
      const anchor = 'peers, to HTTP/2: row one-protocol';
      return figureOf(
        { group: refused.title, name, unit: 'ms', goal: atMost(2), anchor, note },
        'median',
        its,
      );
    });
  },
};
