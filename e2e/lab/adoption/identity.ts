// What the turns of one run have in common, so that a journal is only gone on with by the same run.
import { runCommand } from '../../network/namespace.ts';
import { TOP } from '../../scratch.ts';
import type { Contestant } from '../contestant.ts';
import { digestOfBuild } from '../photofinish.ts';
import type { Identity } from './journal.ts';
import type { Portion } from './plan.ts';
import type { Cell } from './run.ts';

/** The commit that the checkout is at, with `-dirty` where files differ from it; null outside of a checkout. */
async function commit(): Promise<string | null> {
  const describe = ['-C', TOP, 'describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'];
  const said = await runCommand('git', describe).catch(() => null);
  return said?.code === 0 ? said.stdout.trim() : null;
}

/** Of a run of these contestants with these portions. */
export async function identify(
  seed: number,
  cells: readonly Cell[],
  contestants: readonly Contestant[],
  portions: readonly Portion[],
): Promise<Identity> {
  return {
    seed,
    cells: cells.map(({ id, delayMs, loss }) => ({ id, delayMs, loss })),
    contestants: contestants.map(({ name, title, kind, versions }) => {
      const portion = portions.find((each) => each.name === name);
      return { name, title, kind, versions, trials: portion?.trials ?? 0, batch: portion?.batch ?? 0 };
    }),
    commit: await commit(),
    build: await digestOfBuild(),
  };
}
