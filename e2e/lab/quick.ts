// The laboratory's smoke test: a few trials on two links, our client and the paper's code, with bounds on adoption and
// losses that chance exceeds less than once in a million, and on times.
import { rm } from 'node:fs/promises';
import { heading, say } from '../run/display.ts';
import { type AdoptionResult, collect } from './adoption/adoption-record.ts';
import { CLIENTS } from './adoption/clients.ts';
import {
  adopts,
  type Expectation,
  linkLoses,
  neverFails,
  nobodyBrokeOff,
  takesRoundTrips,
} from './adoption/expectations.ts';
import { CELLS } from './adoption/turn-plan.ts';
import { adoption } from './adoption.ts';
import { folderOf, laboratoryOpens, readOptions, record, runProgram } from './experiment.ts';

/** The folder of its record. */
export const QUICK_DIR = folderOf('quick');
/** With a round trip so long that a server which waits for the processor seldom loses QUIC's lead. */
const [LOSSLESS, LOSSY] = ['delay-100', 'loss-10'];
const RACES = ['race', 'race-known', 'go-race'];
const ALL = [...RACES, 'alt-svc'];
/** Enough to distinguish a race that loses HTTP/3 to every lost packet from a correct one. */
const TRIALS = 20;
/** Its trials take an additional round trip over old HTTP, and without loss are all alike. */
const ALT_SVC_TRIALS = 10;

function expectations(run: AdoptionResult): Expectation[] {
  const lossless = run.cells.find(({ cell }) => cell.id === LOSSLESS);
  const lossy = run.cells.find(({ cell }) => cell.id === LOSSY);
  if (lossless === undefined || lossy === undefined) throw new Error('a cell was not measured');
  return [
    nobodyBrokeOff(run),
    ...[lossless, lossy].map(linkLoses),
    ...ALL.flatMap((name) => [neverFails(lossless, name), adopts(lossless, name)]),
    ...RACES.map((name) => takesRoundTrips(lossless, name, 1)),
    // Old HTTP's: TCP's, then TLS's.
    takesRoundTrips(lossless, 'alt-svc', 2),
    ...RACES.map((name) => adopts(lossy, name)),
  ];
}

async function main(args: readonly string[]): Promise<number> {
  readOptions(args, {});
  if (!(await laboratoryOpens())) return 1;
  await rm(QUICK_DIR, { recursive: true, force: true });
  const { journal } = await record(
    adoption({
      full: false,
      trials: { ours: TRIALS, peer: TRIALS, browser: 0 },
      trialsOf: ({ name }) => (name === 'alt-svc' ? ALT_SVC_TRIALS : TRIALS),
      cells: CELLS.filter(({ id }) => id === LOSSLESS || id === LOSSY),
      choices: CLIENTS.filter(({ name }) => ALL.includes(name)),
      seed: 1,
      fresh: true,
      checksLink: false,
    }),
    QUICK_DIR,
  );
  heading('Expectations');
  const all = expectations(collect(journal));
  for (const { title, holds, found } of all) say(`  ${holds ? '✓' : '✗'} ${title}: ${found}`);
  return all.every(({ holds }) => holds) ? 0 : 1;
}

if (import.meta.main) await runProgram('usage: npm run lab -- quick', main);
