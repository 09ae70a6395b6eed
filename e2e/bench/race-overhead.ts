// The cost of racing for the winner: time to established in mode race compared with the same transport alone, on
// loopback, where no network latency hides it.
import type { RaceDocument } from '@photofinish/shared/race/outcome';
import { runOrThrow } from '../child-process.ts';
import { DEADLINE_MS, PHOTOFINISH, parseTrials } from '../lab/client.ts';
import { ORIGIN_KINDS, startOrigins } from '../origins/start.ts';
import { rustProgram } from '../test-programs.ts';
import { measureInStep, medianOf, publish, type Side } from './measure.ts';

const TRIALS = 200;
const ROUNDS = 15;

const { both, h2only } = ORIGIN_KINDS;
await using local = await startOrigins({ origins: { both, h2only } });
const { origins, caPath } = local;

type Winner = 'h3' | 'h2';

/** Median milliseconds from the winner's own start to established, over cold trials in one process. */
async function series(name: 'both' | 'h2only', mode: string, winner: Winner): Promise<number> {
  const { origin, host, port } = origins[name];
  const args = ['race', origin, '--mode', mode, '--memory', 'none', '--trials', String(TRIALS), '--json'];
  const where = ['--allow-private', '--ca', caPath, '--resolve', `${host}:${port}:127.0.0.1`];
  const stdout = await runOrThrow(PHOTOFINISH, [...args, ...where]);
  const [race] = (JSON.parse(stdout) as RaceDocument).races;
  const won = (race?.trials ?? []).flatMap((trial) =>
    trial.attempts.filter(
      (a) => a.outcome === 'adopted' && a.protocol === winner && trial.adopted === winner,
    ),
  );
  // A few losses to the other transport are noise; a different winner is a different measurement.
  if (won.length < TRIALS * 0.9) throw new Error(`${winner} won only ${won.length} of ${TRIALS}`);
  return medianOf(won.map((a) => (a.establishedMs ?? Number.NaN) - a.startedMs));
}

/** Median milliseconds of a handshake with the bare client. */
async function bareQuinn(): Promise<number> {
  const { host, port } = origins.both;
  const order = [`127.0.0.1:${port}`, host, caPath, String(TRIALS), String(DEADLINE_MS)];
  const trials = parseTrials(await runOrThrow(bareQuinnPath, order));
  return medianOf(trials.map(({ establishedMs }) => establishedMs ?? DEADLINE_MS));
}

async function compared(name: 'both' | 'h2only', winner: Winner, peers: readonly Side[]) {
  return measureInStep(`${winner} alone and as the winner of a race`, {
    title: `${winner} wins: its time to established, median of ${TRIALS} trials a round`,
    unit: 'ms',
    sides: [
      { name: `${winner} alone`, run: () => series(name, winner, winner) },
      { name: 'race', run: () => series(name, 'race', winner), ratioAtMost: 1.05 },
      ...peers,
    ],
    rounds: ROUNDS,
    warmUpRounds: 1,
  });
}

const bareQuinnPath = rustProgram('bare-quinn');
const measurements = [
  await compared('both', 'h3', [{ name: 'bare quinn', run: bareQuinn }]),
  await compared('h2only', 'h2', []),
];
publish('race-overhead', { measurements });
