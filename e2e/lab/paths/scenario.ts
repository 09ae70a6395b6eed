// What a scenario of `paths` is, what it measures with, and how clients take turns on its path.
import type { Random } from '@photofinish/shared/testing/seeded-random';
import { shuffled } from '../../bench/measure.ts';
import type { Obstacle } from '../../network/obstacles.ts';
import type { Shape } from '../../network/shape.ts';
import type { Client, Opener } from '../client.ts';
import type { CommandLine } from '../photofinish.ts';
import { CADDY_PORT, type ServedTestbed } from '../testbed.ts';
import type { PathTrial } from './paths-record.ts';

/** The round trip of every path that does not say another, milliseconds. */
export const ROUND_TRIP_MS = 50;
/** Each direction of that path, without anything else. */
export const CLEAN: Shape = { delayMs: ROUND_TRIP_MS / 2 };

/** What stands in the way at Caddy's end of the path. */
const obstacle = (transport: Obstacle['transport'], effect: Obstacle['effect']): Obstacle => ({
  transport,
  effect,
  port: CADDY_PORT,
});
export const LOST_UDP = obstacle('udp', 'drop');
export const LOST_TCP = obstacle('tcp', 'drop');
export const REFUSED_UDP = obstacle('udp', 'refuse');
export const REFUSED_TCP = obstacle('tcp', 'refuse');

/** What scenarios measure with. */
export interface Session {
  readonly testbed: ServedTestbed;
  readonly command: CommandLine;
  /** Decides the order of turns. */
  readonly random: Random;
  /** Those that can be had, opened once and closed at the end; the others are remembered as absent. */
  open(openers: readonly Opener[]): Promise<Client[]>;
  /** Records the trials of that turn as `measure` gives them, unless an earlier run has recorded it. */
  record(
    where: { readonly scenario: string; readonly turn: number },
    client: Pick<Client, 'name' | 'title' | 'kind'>,
    measure: () => Promise<PathTrial[]>,
  ): Promise<void>;
  /** Tells whoever watches. */
  progress(text: string): void;
}

/** A path, or several alike, and who is measured on it; what was recorded there is analysed by `report/paths.py`. */
export interface Scenario {
  /** On the command line: small letters and hyphens. */
  readonly name: string;
  readonly title: string;
  /** Of each client in each condition, without `--trials` and with `--full`. */
  readonly trials: { readonly usual: number; readonly full: number };
  /** What one trial of everybody in every condition takes, milliseconds. */
  readonly trialMs: number;
  /** What it takes beside trials, milliseconds. */
  readonly fixedMs: number;
  /** Leaves the path as it likes: whoever is next sets its own. */
  measure(session: Session, trials: number): Promise<void>;
}

/** Sizes of the batches of that many trials, as equal as can be. */
export function batches(trials: number, most: number): number[] {
  const count = Math.ceil(trials / most);
  return Array.from({ length: count }, (_, index) => Math.ceil((trials - index) / count));
}

/** Gives every client that many trials. Those that learn have been prepared before. */
export async function takeTurns(
  { random, progress, record }: Pick<Session, 'random' | 'progress' | 'record'>,
  scenario: string,
  clients: readonly Client[],
  trials: number,
  mostABatch: number,
): Promise<void> {
  let done = 0;
  for (const [turn, batch] of batches(trials, mostABatch).entries()) {
    for (const client of shuffled(clients, random)) {
      progress(`${client.name}, ${done} of ${trials} trials`);
      await record({ scenario, turn }, client, () => client.run(batch));
    }
    done += batch;
  }
}
