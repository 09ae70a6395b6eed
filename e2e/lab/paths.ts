// What a race costs where it matters most, on broken and lossy paths: UDP lost, refused, known to be lost, everything
// dead, first flights lost, servers of one protocol, and what the answers to all that cost in packets.
import { beginStep, formatElapsed, say } from '../run/display.ts';
import { laboratoryOpens, record, runExperiment } from './experiment.ts';
import { folderOf, sayReport } from './folder.ts';
import type { Journal } from './journal.ts';
import { estimatedMs, type Plan, planOf, usage } from './paths/plan.ts';
import { type Line, PATHS } from './paths/record.ts';
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
import { openSession } from './paths/session.ts';
import { openServedTestbed, type ServedTestbed } from './testbed.ts';

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
const DIR = folderOf('paths');

async function measure(
  plan: Plan,
  testbed: ServedTestbed,
  journal: Journal<object, object, Line>,
): Promise<boolean> {
  const session = openSession(testbed, SEED, journal);
  try {
    for (const { row, trials } of plan.rows) {
      if (journal.turns.some((line) => line.kind === 'link' && line.scenario === row.name)) continue;
      const step = beginStep(row.title);
      session.watch(step.detail);
      await testbed.server.report();
      await row.measure(session, trials).finally(() => testbed.server.obstruct([]));
      await journal.append({ kind: 'link', scenario: row.name, link: await testbed.server.report() });
      step.end(true);
    }
    const { clients, absent } = session.present();
    const caddy = { Caddy: testbed.caddy.version };
    const versions: Record<string, string> = Object.assign(caddy, ...clients.map((each) => each.versions));
    await journal.append({ kind: 'versions', versions });
    for (const { name, title, kind, why } of absent)
      await journal.append({ kind: 'absent', client: name, title, clientKind: kind, why });
    return true;
  } finally {
    await session.close();
  }
}

async function run(plan: Plan): Promise<void> {
  const rows = plan.rows.map(({ row: { name, title }, trials, tooFew }) => ({
    name,
    title,
    trials,
    ...(tooFew !== undefined && { tooFew }),
  }));
  await record(
    {
      form: PATHS,
      seed: SEED,
      fresh: plan.fresh,
      open: openServedTestbed,
      asked: () => ({ full: plan.full, rows }),
      find: async () => ({}),
      measure: (testbed, journal) => measure(plan, testbed, journal),
    },
    DIR,
  );
}

async function main(args: readonly string[]): Promise<number> {
  const plan = planOf(args, ROWS);
  if (!(await laboratoryOpens())) return 1;
  say(`About ${formatElapsed(estimatedMs(plan))}.`);
  await run(plan);
  sayReport(DIR);
  return 0;
}

await runExperiment(usage(ROWS), main);
