// What races from the command line and from standard input have in common: their options, documents and exit code.
import { type OriginRace, RACE_SCHEMA, type RaceDocument } from '@photofinish/shared/race/outcome';
import type { OriginParts } from '@photofinish/shared/web/origin';
import { NETWORK_CHANGED } from '../network/watch.ts';
import { TCP_ATTEMPT_DELAY_MS } from '../race/pacing.ts';
import type { RaceSpec, Racing } from '../racing.ts';
import type { NetworkNames } from './network-names.ts';
import type { RaceCommand } from './race-options.ts';
import type { Terminal } from './terminal.ts';
import { Complaint, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK } from './usage.ts';

/** The state of a run of `race`, from when the network is known until it ends. */
export interface Session {
  readonly command: RaceCommand;
  readonly race: Racing;
  readonly network: string;
  readonly names: NetworkNames;
  readonly stop: AbortController;
  /** Whether the network changed during the run, which stops everything. */
  readonly moved: () => boolean;
}

export interface Run {
  readonly origin: OriginParts;
  readonly trials: number;
}

/** The options of one origin's race. */
export function specOf(
  command: RaceCommand,
  { origin, trials }: Run,
  where: Pick<RaceSpec, 'network' | 'signal'>,
): RaceSpec {
  return {
    ...where,
    origin,
    mode: command.mode,
    memory: command.memory,
    trials,
    pairs: trials,
    pacing: command.pacing,
    timeoutMs: command.timeoutMs,
  };
}

/** The start delay is the one given, otherwise the first origin's: if derived from memory, it differs by origin. */
export function documentOf({ mode, memory, pacing }: RaceCommand, races: OriginRace[]): RaceDocument {
  const startDelayMs = pacing.tcpAttemptDelayMs ?? races[0]?.startDelayMs ?? TCP_ATTEMPT_DELAY_MS;
  return { schema: RACE_SCHEMA, mode, memory, startDelayMs, races };
}

/** Marks a record that was cut short by a change of network. */
export function cutShort(race: OriginRace): OriginRace {
  if (race.error?.code !== 'cancelled') return race;
  return { ...race, error: { code: 'cancelled', message: NETWORK_CHANGED } };
}

/** Races report failures as data; the only exceptions are a transport that cannot be loaded and unusable input. */
export function cannotRace(error: unknown): Complaint {
  if (error instanceof Complaint) return error;
  const [why] = (error instanceof Error ? error.message : String(error)).split('\n');
  return new Complaint('cannot-race', `${why}; "photofinish doctor" says what to do`, EXIT_FAILED);
}

/** The exit code when a session ends. */
export function exitCode({ moved, stop }: Session, allWell: boolean, terminal: Terminal): number {
  if (moved()) {
    terminal.error('network-changed', `${NETWORK_CHANGED}; races in progress were not remembered`);
    return EXIT_FAILED;
  }
  if (stop.signal.aborted) return EXIT_INTERRUPTED;
  return allWell ? EXIT_OK : EXIT_FAILED;
}
