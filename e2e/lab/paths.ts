// What a race costs where it matters most, on broken and lossy paths: UDP lost, refused, known to be lost, everything
// dead, first flights lost, servers of one protocol, and what the answers to all that cost in packets.
import { relative } from 'node:path';
import { beginStep, formatElapsed, say } from '../run/display.ts';
import { TOP } from '../scratch.ts';
import { laboratoryOpens, runExperiment } from './experiment.ts';
import { folderOf } from './folder.ts';
import { identify, openJournal } from './journal.ts';
import { openBench } from './paths/bench.ts';
import { estimatedMs, type Plan, planOf, usage } from './paths/plan.ts';
import { judged, type PathsRun, type RowResult, write } from './paths/result.ts';
import type { Row } from './paths/row.ts';
import { blackHole } from './paths/rows/black-hole.ts';
import { dead } from './paths/rows/dead.ts';
import { established } from './paths/rows/established.ts';
import { knownBroken } from './paths/rows/known-broken.ts';
import { oneProtocol } from './paths/rows/one-protocol.ts';
import { packets } from './paths/rows/packets.ts';
import { refused } from './paths/rows/refused.ts';
import { scenarios } from './paths/rows/scenarios.ts';
import { spurious } from './paths/rows/spurious.ts';
import { PATHS } from './paths/turn.ts';
import { anyMissed, formatGoals } from './results/goal-row.ts';

const ROWS: readonly Row[] = [
  established,
  spurious,
  blackHole,
  refused,
  knownBroken,
  dead,
  oneProtocol,
  scenarios,
  packets,
];
/** Decides losses and the order of turns. */
const SEED = 1;

async function run(plan: Plan): Promise<PathsRun> {
  const rows = plan.rows.map(({ row: { name, title }, trials, tooFew }) => ({
    name,
    title,
    trials,
    ...(tooFew !== undefined && { tooFew }),
  }));
  const { journal, aside } = await openJournal(folderOf('paths'), PATHS, {
    identity: await identify(SEED, { full: plan.full, rows }),
    startedAtMs: Date.now(),
    fresh: plan.fresh,
    find: async () => ({}),
  });
  if (aside !== null)
    say(`Beginning anew (${aside.because}); the earlier run is in ${relative(TOP, aside.dir)}`);
  const { startedAtMs } = journal.meta;
  if (journal.turns.length > 0) say('Going on where the last run stopped; --fresh begins anew');
  const bench = await openBench(SEED, journal);
  const results: RowResult[] = [];
  try {
    for (const { row, trials, tooFew } of plan.rows) {
      const step = beginStep(row.title);
      bench.watch(step.detail);
      await bench.scene.server.report();
      const figures = await row.measure(bench, trials).finally(() => bench.scene.server.obstruct([]));
      const link = await bench.scene.server.report();
      await journal.append({ kind: 'link', scenario: row.name, link });
      step.end(true);
      const goals = judged(figures, tooFew);
      results.push({ name: row.name, title: row.title, trials, goals, link });
    }
    const { contestants, absent } = bench.present();
    const { version } = bench.scene.caddy;
    const versions: Record<string, string> = {
      Caddy: version,
      ...Object.assign({}, ...contestants.map((each) => each.versions)),
    };
    await journal.append({ kind: 'versions', versions });
    for (const { name, title, kind, why } of absent)
      await journal.append({ kind: 'absent', client: name, title, clientKind: kind, why });
    return {
      startedAtMs,
      endedAtMs: Date.now(),
      seed: SEED,
      full: plan.full,
      versions,
      absent,
      rows: results,
    };
  } finally {
    await bench.close();
  }
}

async function main(args: readonly string[]): Promise<number> {
  const plan = planOf(args, ROWS);
  if (!(await laboratoryOpens())) return 1;
  say(`About ${formatElapsed(estimatedMs(plan))}.`);
  const result = await run(plan);
  const goals = result.rows.flatMap((row) => row.goals);
  say(`\n${formatGoals(goals)}`);
  const absent = result.absent.map(({ title, why }) => `not measured: ${title}: ${why}`);
  if (absent.length > 0) say(`\n${absent.join('\n')}`);
  await write(result);
  return anyMissed(goals) ? 1 : 0;
}

await runExperiment(usage(ROWS), main);
