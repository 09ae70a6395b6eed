// What a row of the paths laboratory is, and what it measures with.
import type { Random } from '@photofinish/shared/testing/seeded-random';
import type { Shape } from '../../network/shape.ts';
import type { Client, Opener } from '../client.ts';
import type { CommandLine } from '../photofinish.ts';
import type { ServedTestbed } from '../testbed.ts';
import type { PathTrial } from './record.ts';

/** The round trip of every path that does not say another, milliseconds. */
export const ROUND_TRIP_MS = 50;
/** Each direction of that path, without anything else. */
export const CLEAN: Shape = { delayMs: ROUND_TRIP_MS / 2 };

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

/** A path, or several alike, and who is measured on it; what it has recorded is analysed by `report/paths.py`. */
export interface Row {
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
