// One run from the opening of the testbed to what it has measured: what `adoption` and `quick` have in common.
import { beginStep, heading, say } from '../../run/display.ts';
import { type Absent, type Client, isAbsent } from '../client.ts';
import { formatDuration } from '../duration.ts';
import { record } from '../experiment.ts';
import { briefAccuracy } from '../link/brief.ts';
import { loadLines } from '../load.ts';
import { openServedTestbed, type ServedTestbed } from '../testbed.ts';
import type { ClientChoice } from './clients.ts';
import { doneTurns, progress } from './collect.ts';
import { estimate } from './estimate.ts';
import { measure } from './measure.ts';
import type { AdoptionOptions } from './options.ts';
import { planRun, remaining } from './plan.ts';
import { ADOPTION, type AdoptionJournal, type Asked } from './record.ts';

/** Trials in a turn; a browser's cold start makes its trials long. */
const BATCH = { ours: 10, peer: 10, browser: 2 } as const;

export interface RunOptions extends AdoptionOptions {
  /** Whether to measure first how exact the link is; seconds. */
  readonly checksLink: boolean;
}

async function checkLink(): Promise<void> {
  const step = beginStep('how exact the link is');
  const lines = await briefAccuracy();
  step.end(true);
  for (const line of lines) say(`    ${line}`);
}

async function openClients(testbed: ServedTestbed, choices: readonly ClientChoice[]) {
  const clients: Client[] = [];
  const absent: Absent[] = [];
  for (const { name, open } of choices) {
    const step = beginStep(name);
    const opened = await open(testbed);
    if (isAbsent(opened)) absent.push(opened);
    else clients.push(opened);
    const versions = isAbsent(opened) ? [] : Object.entries(opened.versions);
    step.end(
      !isAbsent(opened),
      isAbsent(opened) ? opened.why : versions.map((pair) => pair.join(' ')).join(', '),
    );
  }
  return { clients, absent };
}

function sayMachine({ awake }: ServedTestbed): void {
  for (const line of loadLines(', and times measured now are too long')) say(`  ${line}`);
  if (!awake) say('  processors may sleep between packets, and times hold their waking up');
}

interface Opened {
  readonly testbed: ServedTestbed;
  readonly clients: readonly Client[];
  readonly absent: readonly Absent[];
  close(): Promise<void>;
}

async function open(choices: readonly ClientChoice[], seed: number): Promise<Opened> {
  const step = beginStep('opening the link and the servers');
  const testbed = await openServedTestbed(seed);
  step.end(true, `Caddy ${testbed.caddy.version.split(' ')[0]}`);
  heading('Clients');
  try {
    const { clients, absent } = await openClients(testbed, choices);
    const close = async () => {
      for (const client of clients) await client.close();
      await testbed.close();
    };
    return { testbed, clients, absent, close };
  } catch (error) {
    await testbed.close();
    throw error;
  }
}

function askedOf({ full, trials, cells, choices, trialsOf }: RunOptions, { clients }: Opened): Asked {
  const portions = clients.flatMap(({ name, title, kind, versions }) => {
    const choice = choices.find((each) => each.name === name);
    if (choice === undefined) return [];
    return { name, title, kind, versions, trials: trialsOf(choice), batch: BATCH[kind] };
  });
  const scenarios = cells.map(({ id, delayMs, loss }) => ({ id, delayMs, loss }));
  return { full, trials: { ...trials }, scenarios, clients: portions };
}

async function measureOn(
  { seed, checksLink }: RunOptions,
  { testbed, clients }: Opened,
  journal: AdoptionJournal,
): Promise<boolean> {
  heading('Measuring');
  const { meta } = journal;
  const plan = planRun(meta.asked.scenarios, meta.asked.clients, seed);
  const left = remaining(plan, doneTurns(journal));
  const duration = estimate(
    new Map(clients.map(({ name, kind, prepare }) => [name, { kind, prepares: prepare !== undefined }])),
  );
  say(`  Estimated duration: ${formatDuration(duration.cellsMs(left))}`);
  sayMachine(testbed);
  if (checksLink && left.some(({ turns }) => turns.length > 0)) await checkLink();
  await measure({ link: testbed.server, clients, journal, estimate: duration }, left);
  const { made, asked } = progress(journal);
  return made === asked;
}

/** Measures what the options ask for and the journal does not have yet. */
export function runAdoption(options: RunOptions, dir: string) {
  const { seed, fresh, choices } = options;
  return record(
    {
      form: ADOPTION,
      seed,
      fresh,
      open: (drawn) => open(choices, drawn),
      asked: (opened) => askedOf(options, opened),
      find: async ({ absent }) => ({ absent: [...absent] }),
      measure: (opened, journal) => measureOn(options, opened, journal),
    },
    dir,
  );
}
