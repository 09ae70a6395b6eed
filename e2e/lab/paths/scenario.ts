// The interface of a `paths` scenario, what it measures with, and how clients take turns on its path.
import type { Random } from '@photofinish/shared/testing/seeded-random';
import * as v from 'valibot';
import { shuffled } from '../../bench/measure.ts';
import type { Shape } from '../../network/link.ts';
import type { Obstacle } from '../../network/namespace.ts';
import { type Client, type CommandLine, clientKindSchema, labTrialSchema, type Opener } from '../client.ts';
import { count, linkReportSchema, type RecordSchema, turnKey } from '../journal.ts';
import { CADDY_PORT, type ServedTestbed } from '../testbed.ts';

/** The default round trip of a path, milliseconds. */
export const ROUND_TRIP_MS = 50;
/** Each direction of that path, without impairments. */
export const CLEAN: Shape = { delayMs: ROUND_TRIP_MS / 2 };

/** An obstacle at Caddy's end of the path. */
const obstacle = (transport: Obstacle['transport'], effect: Obstacle['effect']): Obstacle => ({
  transport,
  effect,
  port: CADDY_PORT,
});
export const LOST_UDP = obstacle('udp', 'drop');
export const LOST_TCP = obstacle('tcp', 'drop');
export const REFUSED_UDP = obstacle('udp', 'refuse');
export const REFUSED_TCP = obstacle('tcp', 'refuse');

/** The functions that scenarios measure with. */
export interface Session {
  readonly testbed: ServedTestbed;
  readonly command: CommandLine;
  /** Determines the order of turns. */
  readonly random: Random;
  /** The available ones, opened once and closed at the end; the others are recorded as absent. */
  open(openers: readonly Opener[]): Promise<Client[]>;
  /** Records the trials of that turn as returned by `measure`, unless an earlier run has recorded it. */
  record(
    where: { readonly scenario: string; readonly turn: number },
    client: Pick<Client, 'name' | 'title' | 'kind'>,
    measure: () => Promise<PathTrial[]>,
  ): Promise<void>;
  /** Displays progress. */
  progress(text: string): void;
}

/** A path, or several alike, and the clients measured on it; `report/paths.py` analyses its record. */
export interface Scenario {
  /** On the command line: lower-case letters and hyphens. */
  readonly name: string;
  readonly title: string;
  /** Per client and condition, without `--trials` and with `--full`. */
  readonly trials: { readonly usual: number; readonly full: number };
  /** Duration of one trial of all clients in all conditions, milliseconds. */
  readonly trialMs: number;
  /** Duration apart from trials, milliseconds. */
  readonly fixedMs: number;
  /** Need not restore the path: the next scenario sets its own. */
  measure(session: Session, trials: number): Promise<void>;
}

/** Sizes of the batches, as equal as possible. */
export function batches(trials: number, most: number): number[] {
  const count = Math.ceil(trials / most);
  return Array.from({ length: count }, (_, index) => Math.ceil((trials - index) / count));
}

/** Gives every client that many trials. Clients that learn must have been prepared. */
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

const ms = v.pipe(v.number(), v.finite());

const askedSchema = v.object({
  full: v.boolean(),
  /** Trials of each client in each scenario, and why hypotheses cannot be judged on so few. */
  rows: v.array(
    v.object({ name: v.string(), title: v.string(), trials: count, tooFew: v.optional(v.string()) }),
  ),
});

export type PathsPlan = v.InferOutput<typeof askedSchema>;

const clientSchema = {
  client: v.string(),
  title: v.string(),
  clientKind: clientKindSchema,
};

const turnSchema = v.object({
  kind: v.literal('turn'),
  /** The scenario, followed by a slash and the condition if it has several. */
  scenario: v.string(),
  ...clientSchema,
  /** Numbers this client's turns in the scenario from 0. */
  turn: count,
  endedAtMs: v.number(),
  trials: v.array(
    v.union([
      labTrialSchema,
      v.strictObject({ afterRefusalMs: ms }),
      v.strictObject({ beyondDeadlineMs: ms }),
      v.strictObject({ medianMs: ms, udpPackets: v.optional(count) }),
    ]),
  ),
  /** Absent in records from before it was stored. */
  link: v.optional(linkReportSchema),
});
const absentSchema = v.object({ kind: v.literal('absent'), ...clientSchema, why: v.string() });
const versionsSchema = v.object({ kind: v.literal('versions'), versions: v.record(v.string(), v.string()) });
/** Ends a scenario. It reports what followed the last turn or, if turns have no reports, all since a run resumed. */
const linkSchema = v.object({ kind: v.literal('link'), scenario: v.string(), link: linkReportSchema });

const lineSchema = v.variant('kind', [turnSchema, absentSchema, versionsSchema, linkSchema]);
export type Line = v.InferOutput<typeof lineSchema>;
type PathTrial = v.InferOutput<typeof turnSchema>['trials'][number];

/** The key of a completed scenario is its name. */
function keyOf(line: Line): string | null {
  if (line.kind === 'turn') return turnKey(line.scenario, line.client, line.turn);
  return line.kind === 'link' ? line.scenario : null;
}

export const PATHS: RecordSchema<PathsPlan, object, Line> = {
  experiment: 'paths',
  asked: askedSchema,
  found: v.object({}),
  turn: lineSchema,
  keyOf,
};
