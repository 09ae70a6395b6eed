// One run from the opening of the testbed to what it has measured: what `adoption` and `quick` have in common.
import { beginStep, heading, say } from '../../run/display.ts';
import { type Absent, type Contestant, isAbsent } from '../contestant.ts';
import { formatDuration } from '../duration.ts';
import { openRecord } from '../experiment.ts';
import { identify, readJournal } from '../journal.ts';
import { briefAccuracy } from '../link/brief.ts';
import { loadLines } from '../load.ts';
import { openServedTestbed, type ServedTestbed } from '../testbed.ts';
import { doneTurns } from './collect.ts';
import type { Entrant } from './contestants.ts';
import { estimate } from './estimate.ts';
import { measure } from './measure.ts';
import type { AdoptionOptions } from './options.ts';
import { planRun, remaining } from './plan.ts';
import { ADOPTION, type AdoptionRecord } from './record.ts';

/** Trials in a turn; a browser's cold start makes its trials long. */
const BATCH = { ours: 10, peer: 10, browser: 2 } as const;

type Asked = 'full' | 'trials' | 'trialsOf' | 'cells' | 'entrants' | 'seed' | 'fresh';

export interface Wish extends Pick<AdoptionOptions, Asked> {
  /** Whether to measure first how exact the link is; seconds. */
  readonly checksLink: boolean;
}

async function checkLink(): Promise<void> {
  const step = beginStep('how exact the link is');
  const lines = await briefAccuracy();
  step.end(true);
  for (const line of lines) say(`    ${line}`);
}

async function openContestants(testbed: ServedTestbed, entrants: readonly Entrant[]) {
  const contestants: Contestant[] = [];
  const absent: Absent[] = [];
  for (const { name, open } of entrants) {
    const step = beginStep(name);
    const opened = await open(testbed);
    if (isAbsent(opened)) absent.push(opened);
    else contestants.push(opened);
    const versions = isAbsent(opened) ? [] : Object.entries(opened.versions);
    step.end(
      !isAbsent(opened),
      isAbsent(opened) ? opened.why : versions.map((pair) => pair.join(' ')).join(', '),
    );
  }
  return { contestants, absent };
}

function sayMachine({ awake }: ServedTestbed): void {
  for (const line of loadLines(', and times measured now are too long')) say(`  ${line}`);
  if (!awake) say('  processors may sleep between packets, and times hold their waking up');
}

async function measureOn(
  testbed: ServedTestbed,
  wish: Wish,
  dir: string,
  closing: (() => Promise<void>)[],
): Promise<AdoptionRecord> {
  heading('Contestants');
  const { contestants, absent } = await openContestants(testbed, wish.entrants);
  closing.push(...contestants.map((contestant) => () => contestant.close()));
  const portions = wish.entrants
    .filter(({ name }) => contestants.some((contestant) => contestant.name === name))
    .map((entrant) => ({
      name: entrant.name,
      trials: wish.trialsOf(entrant),
      batch: BATCH[entrant.kind],
    }));
  const { seed, cells, full, trials } = wish;
  const clients = contestants.map(({ name, title, kind, versions }) => {
    const portion = portions.find((each) => each.name === name);
    return { name, title, kind, versions, trials: portion?.trials ?? 0, batch: portion?.batch ?? 0 };
  });
  const scenarios = cells.map(({ id, delayMs, loss }) => ({ id, delayMs, loss }));
  const asked = { full, trials: { ...trials }, scenarios, clients };

  heading('Measuring');
  const journal = await openRecord(dir, ADOPTION, {
    identity: await identify(seed, asked),
    startedAtMs: Date.now(),
    fresh: wish.fresh,
    find: async () => ({ absent }),
  });
  const plan = planRun(cells, portions, seed);
  const left = remaining(plan, doneTurns(journal));
  const duration = estimate(
    new Map(contestants.map(({ name, kind, prepare }) => [name, { kind, prepares: prepare !== undefined }])),
  );
  const turns = (of: typeof plan) => of.reduce((sum, cell) => sum + cell.turns.length, 0);
  const done = turns(plan) - turns(left);
  say(`  Estimated duration: ${formatDuration(duration.cellsMs(left))}`);
  sayMachine(testbed);
  if (wish.checksLink && done < turns(plan)) await checkLink();
  await measure({ link: testbed.server, contestants, journal, estimate: duration }, left);
  return journal;
}

/** Measures what the wish asks for and the journal does not have yet. */
export async function runAdoption(wish: Wish, dir: string): Promise<AdoptionRecord> {
  const step = beginStep('opening the link and the servers');
  // Losses are drawn anew by a run that goes on: the same seed again would repeat those of its beginning.
  const earlier = wish.fresh ? null : await readJournal(dir, ADOPTION);
  const testbed = await openServedTestbed(wish.seed + (earlier?.turns.length ?? 0));
  step.end(true, `Caddy ${testbed.caddy.version.split(' ')[0]}`);
  const closing: (() => Promise<void>)[] = [testbed.close];
  try {
    return await measureOn(testbed, wish, dir, closing);
  } finally {
    for (const close of closing.reverse()) await close();
  }
}
