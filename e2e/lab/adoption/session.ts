// One run from the opening of the testbed to what it has measured: what `adoption` and `quick` have in common.
import { beginStep, heading, say } from '../../run/display.ts';
import { type Absent, type Contestant, isAbsent } from '../contestant.ts';
import { formatDuration } from '../duration.ts';
import { record } from '../experiment.ts';
import { briefAccuracy } from '../link/brief.ts';
import { loadLines } from '../load.ts';
import { openServedTestbed, type ServedTestbed } from '../testbed.ts';
import { doneTurns, progress } from './collect.ts';
import type { Entrant } from './contestants.ts';
import { estimate } from './estimate.ts';
import { measure } from './measure.ts';
import type { AdoptionOptions } from './options.ts';
import { planRun, remaining } from './plan.ts';
import { ADOPTION, type AdoptionJournal, type Asked } from './record.ts';

/** Trials in a turn; a browser's cold start makes its trials long. */
const BATCH = { ours: 10, peer: 10, browser: 2 } as const;

export interface Wish extends AdoptionOptions {
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

interface Opened {
  readonly testbed: ServedTestbed;
  readonly contestants: readonly Contestant[];
  readonly absent: readonly Absent[];
  close(): Promise<void>;
}

async function open(entrants: readonly Entrant[], seed: number): Promise<Opened> {
  const step = beginStep('opening the link and the servers');
  const testbed = await openServedTestbed(seed);
  step.end(true, `Caddy ${testbed.caddy.version.split(' ')[0]}`);
  heading('Contestants');
  try {
    const { contestants, absent } = await openContestants(testbed, entrants);
    const close = async () => {
      for (const contestant of contestants) await contestant.close();
      await testbed.close();
    };
    return { testbed, contestants, absent, close };
  } catch (error) {
    await testbed.close();
    throw error;
  }
}

function askedOf({ full, trials, cells, entrants, trialsOf }: Wish, { contestants }: Opened): Asked {
  const portions = contestants.flatMap(({ name, title, kind, versions }) => {
    const entrant = entrants.find((each) => each.name === name);
    if (entrant === undefined) return [];
    return { name, title, kind, versions, trials: trialsOf(entrant), batch: BATCH[kind] };
  });
  const scenarios = cells.map(({ id, delayMs, loss }) => ({ id, delayMs, loss }));
  return { full, trials: { ...trials }, scenarios, clients: portions };
}

async function measureOn(
  { seed, checksLink }: Wish,
  { testbed, contestants }: Opened,
  journal: AdoptionJournal,
): Promise<boolean> {
  heading('Measuring');
  const { meta } = journal;
  const plan = planRun(meta.asked.scenarios, meta.asked.clients, seed);
  const left = remaining(plan, doneTurns(journal));
  const duration = estimate(
    new Map(contestants.map(({ name, kind, prepare }) => [name, { kind, prepares: prepare !== undefined }])),
  );
  say(`  Estimated duration: ${formatDuration(duration.cellsMs(left))}`);
  sayMachine(testbed);
  if (checksLink && left.some(({ turns }) => turns.length > 0)) await checkLink();
  await measure({ link: testbed.server, contestants, journal, estimate: duration }, left);
  const { made, asked } = progress(journal);
  return made === asked;
}

/** Measures what the wish asks for and the journal does not have yet. */
export function runAdoption(wish: Wish, dir: string) {
  const { seed, fresh, entrants } = wish;
  return record(
    {
      form: ADOPTION,
      seed,
      fresh,
      open: (drawn) => open(entrants, drawn),
      asked: (opened) => askedOf(wish, opened),
      find: async ({ absent }) => ({ absent: [...absent] }),
      measure: (opened, journal) => measureOn(wish, opened, journal),
    },
    dir,
  );
}
