// The interface of a `paths` scenario, what it measures with, and how clients take turns on its path. Also the scenarios
// that measure only our own command line, from its records: UDP refused, HTTP/3 known to be broken, both paths blocked.
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Attempt, Trial } from '@photofinish/shared/race/outcome';
import { median } from '@photofinish/shared/race/statistics';
import type { Random } from '@photofinish/shared/testing/seeded-random';
import { count } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { shuffled } from '../../bench/measure.ts';
import type { Shape } from '../../network/link.ts';
import type { Obstacle } from '../../network/namespace.ts';
import { scratchIn } from '../../scratch.ts';
import {
  type Client,
  type CommandLine,
  clientKindSchema,
  labTrialSchema,
  type Opener,
  recordIn,
} from '../client.ts';
import { figure, linkReportSchema, type RecordSchema, turnKey } from '../journal.ts';
import { CADDY_PORT, type ServedTestbed, servedSchema } from '../testbed.ts';

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

const askedSchema = v.object({
  served: servedSchema,
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
      v.strictObject({ afterRefusalMs: figure }),
      v.strictObject({ beyondDeadlineMs: figure }),
      v.strictObject({ medianMs: figure, udpPackets: v.optional(count) }),
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

function attemptOf({ attempts }: Trial, protocol: Attempt['protocol']): Attempt {
  const attempt = attempts.find((candidate) => candidate.protocol === protocol);
  if (attempt === undefined) throw new Error(`no attempt over ${protocol}`);
  return attempt;
}

/**
 * From HTTP/3's refusal to TCP's start; negative if the start delay ended first. A record does not say when an
 * attempt failed: the refusal takes a round trip from QUIC's start, and so does TCP's connect, which is in the record.
 * Throws if HTTP/3 was not refused, or TCP was not connected.
 */
export function afterRefusalMs(trial: Trial): number {
  const [quic, tcp] = [attemptOf(trial, 'h3'), attemptOf(trial, 'h2')];
  if (quic.error?.code !== 'udp-refused')
    throw new Error(`HTTP/3 was not refused: ${quic.error?.code ?? quic.outcome}`);
  if (tcp.transportMs === undefined || tcp.transportMs === null) throw new Error('TCP was not connected');
  const roundTripMs = tcp.transportMs - tcp.startedMs;
  return tcp.startedMs - quic.startedMs - roundTripMs;
}

const START_DELAYS_MS = [10, 250, 500, 1000];
const MAX_A_BATCH = 10;

/** UDP refused by ICMP: TCP starts because of the refusal, whatever the start delay. */
export const refused: Scenario = {
  name: 'refused',
  title: `UDP refused, round trip ${ROUND_TRIP_MS} ms: from the refusal to the start of TCP`,
  trials: { usual: 20, full: 100 },
  trialMs: 500,
  fixedMs: 3000,
  async measure({ testbed: { server }, command, record, progress }, trials) {
    await server.shape({ up: CLEAN, down: CLEAN });
    await server.obstruct([REFUSED_UDP]);
    for (const [turn, batch] of batches(trials, MAX_A_BATCH).entries()) {
      for (const delayMs of START_DELAYS_MS) {
        progress(`start delay ${delayMs} ms, turn ${turn + 1}`);
        const options = ['--memory', 'none', '--start-delay', String(delayMs), '--trials', String(batch)];
        const [name, title] = [`start-delay-${delayMs}`, `ours, start delay ${delayMs} ms`];
        await record({ scenario: 'refused', turn }, { name, title, kind: 'ours' }, async () =>
          (await command.race(...options)).trials.map((trial) => ({ afterRefusalMs: afterRefusalMs(trial) })),
        );
      }
    }
  },
};

/** A round's sample is their median. */
const TRIALS_A_ROUND = 5;
/** Ends the lesson's HTTP/3 attempt, which would continue. */
const LESSON_MS = 600;
const TITLES = { known: 'ours, HTTP/3 known to be broken', alone: 'ours, HTTP/2 alone' };

/** A host whose HTTP/3 is known to be broken: it costs neither time compared with HTTP/2 alone, nor packets. */
export const knownBroken: Scenario = {
  name: 'known-broken',
  title: `UDP lost and known to be, round trip ${ROUND_TRIP_MS} ms: HTTP/2 established`,
  trials: { usual: 50, full: 300 },
  trialMs: 300,
  fixedMs: 2000,
  async measure({ testbed: { client, server }, command, random, record, progress }, trials) {
    await server.shape({ up: CLEAN, down: CLEAN });
    await server.obstruct([LOST_UDP]);
    await using closing = new AsyncDisposableStack();
    const dir = await scratchIn(closing, 'lab-known-broken');
    const remembering = ['--memory', 'full', '--cache', join(dir, 'cache.sqlite'), '--network', 'laboratory'];
    const middle = async (...options: string[]) => {
      const race = await command.race('--trials', String(TRIALS_A_ROUND), ...options);
      const value = median(race.trials.flatMap(({ establishedMs }) => establishedMs ?? []));
      if (value === null || race.summary.failed > 0)
        throw new Error('HTTP/2 failed on a path that carries it');
      return value;
    };
    await command.race(...remembering, '--timeout', String(LESSON_MS));
    const counter = await client.countSent({ transport: 'udp' });
    const sides = {
      known: async () => {
        const before = await counter.read();
        const medianMs = await middle(...remembering);
        return { medianMs, udpPackets: (await counter.read()) - before };
      },
      alone: async () => ({ medianMs: await middle('--mode', 'h2', '--memory', 'none') }),
    };
    const rounds = Math.ceil(trials / TRIALS_A_ROUND);
    for (let turn = 0; turn < rounds; turn += 1) {
      progress(`${turn} of ${rounds} rounds`);
      for (const name of shuffled(['known', 'alone'] as const, random)) {
        const client = { name, title: TITLES[name], kind: 'ours' } as const;
        await record({ scenario: 'known-broken', turn }, client, async () => [await sides[name]()]);
      }
    }
  },
};

const DEADLINES_MS = [1000, 3000];
/** Mostly seconds of waiting: the trials of all deadlines. */
const WAITED_MS = DEADLINES_MS.reduce((sum, ms) => sum + ms, 0);
const START_MS = 400;

/**
 * From the start of a trial, according to its record, to the first byte of that record, beyond the deadline; integer
 * ms.
 */
async function beyondDeadlineMs(command: CommandLine, deadlineMs: number): Promise<number> {
  const child = command.start('--memory', 'none', '--timeout', String(deadlineMs));
  const ended = text(child.stdout);
  await once(child.stdout, 'readable');
  const endedAtMs = Date.now();
  const race = recordIn(await ended);
  if (race.summary.failed !== 1) throw new Error('a dead origin was adopted');
  return endedAtMs - race.atMs - deadlineMs;
}

/** Both paths blocked: a race ends at its deadline. */
export const dead: Scenario = {
  name: 'dead',
  title: 'UDP and TCP lost: the end of a race beyond its deadline',
  trials: { usual: 5, full: 30 },
  trialMs: WAITED_MS + DEADLINES_MS.length * START_MS,
  fixedMs: 1000,
  async measure({ testbed: { server }, command, record, progress }, trials) {
    await server.shape({ up: CLEAN, down: CLEAN });
    await server.obstruct([LOST_UDP, LOST_TCP]);
    for (const deadlineMs of DEADLINES_MS) {
      const [name, title] = [`deadline-${deadlineMs}`, `ours, deadline ${deadlineMs} ms`];
      for (let turn = 0; turn < trials; turn += 1) {
        progress(`deadline ${deadlineMs} ms, ${turn} of ${trials} trials`);
        await record({ scenario: 'dead', turn }, { name, title, kind: 'ours' }, async () => [
          { beyondDeadlineMs: await beyondDeadlineMs(command, deadlineMs) },
        ]);
      }
    }
  },
};
