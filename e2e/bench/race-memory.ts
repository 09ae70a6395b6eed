// Resident memory of one helper over 10,000 races asked for over its port, in batches of what its budget allows, a
// minute by its own clock between them.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Mode } from '@photofinish/shared/race/outcome';
import { median } from '@photofinish/shared/race/statistics';
import { greet, helperArguments } from '../helper/open.ts';
import { type HostPort, openHost } from '../helper/port.ts';
import type { Fact } from './result.ts';

const RACES = 10_000;
/** The helper's own limits: races begun in a minute, and at once. */
const PER_MINUTE = 30;
const AT_ONCE = 4;
const TELL_EVERY = 1000;
/** The last quarter over the second; the first is start-up and warming up. */
const FLAT_AT_MOST = 1.05;
/** A minute that has been announced passes within this. */
const MINUTE_COMES_MS = 1;
const KIB_PER_MIB = 1024;
const MINUTES_PASS = new URL('minutes-pass.mjs', import.meta.url);

export interface Series {
  readonly name: string;
  readonly origin: string;
  readonly mode: Mode;
}

/** Resident memory in MiB; throws where the system does not tell. */
export function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kib = /^VmRSS:\s+([0-9]+) kB$/m.exec(status)?.[1];
  if (kib === undefined) throw new Error('the system does not tell resident memory');
  return Number(kib) / KIB_PER_MIB;
}

function medianOf(samples: readonly number[], from: number, to: number): number {
  const middle = median(samples.slice(Math.floor(samples.length * from), Math.floor(samples.length * to)));
  if (middle === null) throw new Error('too few samples');
  return middle;
}

/** Runs as many races as a minute allows, four at once; each must adopt something. */
async function raceForAMinute(helper: HostPort, { origin, mode }: Series, firstId: number): Promise<void> {
  const ids = Array.from({ length: PER_MINUTE }, (_, n) => firstId + n);
  const start = (id: number) => helper.send({ type: 'race', id, origin, mode, reason: 'click' });
  for (const id of ids.splice(0, AT_ONCE)) start(id);
  for (let over = 0; over < PER_MINUTE; ) {
    const reply = await helper.next();
    if (reply.type === 'progress') continue;
    if (reply.type === 'error' && reply.code === 'too-many-races') {
      await pause(MINUTE_COMES_MS);
      start(Number(reply.id));
      continue;
    }
    const adopted = (reply.summary as { failed?: number } | undefined)?.failed === 0;
    if (!adopted) throw new Error(`no race but ${JSON.stringify(reply)}`);
    over += 1;
    const next = ids.shift();
    if (next !== undefined) start(next);
  }
}

/**
 * Races one series in a helper with these settings and gives what it held after every thousand races, and how flat that
 * is. `onRaces` is told how many there were.
 */
export async function residentOverRaces(
  config: string,
  series: Series,
  onRaces: (races: number) => void,
): Promise<Fact[]> {
  const helper = openHost(process.execPath, ['--import', MINUTES_PASS.href, ...helperArguments(config)]);
  await greet(helper);
  const samples: number[] = [];
  const facts: Fact[] = [];
  for (let races = 0; races < RACES; ) {
    await raceForAMinute(helper, series, races + 2);
    const value = residentMiB(helper.pid);
    samples.push(value);
    if (Math.floor((races + PER_MINUTE) / TELL_EVERY) > Math.floor(races / TELL_EVERY))
      facts.push({ name: `${series.name}, after ${races + PER_MINUTE} races`, value, unit: 'MiB' });
    races += PER_MINUTE;
    onRaces(races);
    helper.child.kill('SIGUSR2');
  }
  await helper.close();
  const value = medianOf(samples, 0.75, 1) / medianOf(samples, 0.25, 0.5);
  const name = `${series.name}, last quarter of the races over the second`;
  return [...facts, { name, value, unit: 'times', atMost: FLAT_AT_MOST }];
}
