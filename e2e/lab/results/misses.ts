// Why a race did not end with HTTP/3: one line for each trial where misses should not occur, counts by cause where the
// link loses packets.
import type { Attempt, Trial } from '@photofinish/shared/outcome';
import type { AdoptionRun, CellResult } from '../adoption/run.ts';
import type { LabTrial } from '../trial.ts';
import { latenessWords } from './link-accuracy.ts';

/** Where the races are that must explain themselves: first contact and known host. */
export const EXPLAINED = ['race', 'race-known'] as const;

/** By what was known of the QUIC attempts when the race was over. */
export const CAUSES = {
  silent: 'no datagram had come back over QUIC when old HTTP was established',
  unfinished: 'QUIC had answered, but part of its flight was missing or still on its way',
  'quic-failed': 'QUIC had failed before old HTTP was established',
  'not-tried': 'no QUIC attempt was made',
  'nothing-adopted': 'neither protocol was established in time',
  unanswered: 'what was adopted brought no answer in time',
  untraced: 'the client left no record of the trial',
} as const;
export type Cause = keyof typeof CAUSES;

const isEstablished = ({ establishedMs }: Attempt) => establishedMs !== null;
const isQuic = ({ protocol }: Attempt) => protocol === 'h3';
const by = (ms: number | null | undefined, atMs: number) => ms !== null && ms !== undefined && ms <= atMs;

/** The cause of a trial that did not adopt HTTP/3. */
export function causeOf({ adopted, trace }: LabTrial): Cause {
  if (adopted === null) return trace?.attempts.some(isEstablished) ? 'unanswered' : 'nothing-adopted';
  if (trace === undefined) return 'untraced';
  const quic = trace.attempts.filter(isQuic);
  if (quic.length === 0) return 'not-tried';
  const overMs = trace.establishedMs ?? Infinity;
  if (quic.some(({ transportMs }) => by(transportMs, overMs))) return 'unfinished';
  return quic.every(({ outcome }) => outcome === 'failed') ? 'quic-failed' : 'silent';
}

const at = (ms: number | null | undefined) => (ms === null || ms === undefined ? '–' : ms.toFixed(1));

function attemptWords(attempt: Attempt): string {
  const { startedMs, transportMs, establishedMs, error, fresh } = attempt;
  const [name, first] = isQuic(attempt) ? ['QUIC', 'first datagram'] : ['TCP', 'connected'];
  const failed = error === undefined || error.code === 'cancelled' ? '' : `, failed: ${error.code}`;
  return `${fresh ? 'fresh ' : ''}${name} started ${at(startedMs)}, ${first} ${at(transportMs)}, established ${at(establishedMs)}${failed}`;
}

/** By how much HTTP/3 came late, in words. */
function marginWords({ establishedMs, attempts }: Trial): string {
  const quicMs = attempts.filter(isQuic).flatMap((attempt) => attempt.establishedMs ?? []);
  if (establishedMs === null) return 'nothing was adopted';
  if (quicMs.length === 0) return 'HTTP/3 was not established';
  return `HTTP/3 ${(Math.min(...quicMs) - establishedMs).toFixed(1)} ms late`;
}

/** A trial's attempts with their times in milliseconds from its start, and its margin. */
export function traceWords(trial: LabTrial): string {
  const { trace, error } = trial;
  if (trace === undefined) return error ?? 'no record';
  return [...trace.attempts.map(attemptWords), marginWords(trace)].join('; ');
}

export interface Miss {
  readonly cellId: string;
  readonly contestant: string;
  /** Counts the contestant's trials in the cell from 1. */
  readonly number: number;
  readonly cause: Cause;
  readonly words: string;
}

function missesIn(result: CellResult, contestant: string): Miss[] {
  return (result.trials[contestant] ?? []).flatMap((trial, index) =>
    trial.adopted === 'h3'
      ? []
      : {
          cellId: result.cell.id,
          contestant,
          number: index + 1,
          cause: causeOf(trial),
          words: `${traceWords(trial)}; ${latenessWords(result, contestant, index)}`,
        },
  );
}

/** Every miss of our races, in the order of cells and trials. */
export function missesOfRun({ cells }: Pick<AdoptionRun, 'cells'>): Miss[] {
  return cells.flatMap((result) => EXPLAINED.flatMap((contestant) => missesIn(result, contestant)));
}

export interface MissCount {
  readonly cellId: string;
  readonly contestant: string;
  readonly cause: Cause;
  readonly count: number;
}

/** The misses of each cell and contestant by cause, the most frequent cause first. */
export function countCauses(misses: readonly Miss[]): MissCount[] {
  const groups = Map.groupBy(misses, ({ cellId, contestant }) => `${cellId} ${contestant}`);
  return [...groups.values()].flatMap((members) =>
    [...Map.groupBy(members, ({ cause }) => cause)]
      .map(([cause, { length: count }]) => ({ cause, count }))
      .sort((a, b) => b.count - a.count)
      .map(({ cause, count }) => {
        const [{ cellId, contestant } = { cellId: '', contestant: '' }] = members;
        return { cellId, contestant, cause, count };
      }),
  );
}

/** In a cell without loss misses are told one by one up to this many, and counted by cause beyond. */
const TOLD_ONE_BY_ONE = 20;

export interface ToldMisses {
  /** "race, delay-50: 2 of 1000 trials" */
  readonly title: string;
  /** By cause: "2: no datagram had come back ...". */
  readonly causes: readonly string[];
  /** Single trials; none where the link loses packets, there the causes suffice. */
  readonly lines: readonly string[];
}

function tellMembers(result: CellResult, members: readonly Miss[]): ToldMisses {
  const [{ cellId, contestant } = { cellId: '', contestant: '' }] = members;
  const told = result.cell.loss > 0 ? [] : members.slice(0, TOLD_ONE_BY_ONE);
  const lines = told.map(({ number, words }) => `trial ${number}: ${words}`);
  const rest = members.length - told.length;
  return {
    title: `${contestant}, ${cellId}: ${members.length} of ${result.trials[contestant]?.length} trials`,
    causes: countCauses(members).map(({ cause, count }) => `${count}: ${CAUSES[cause]}`),
    lines: told.length > 0 && rest > 0 ? [...lines, `${rest} more in the JSON file`] : lines,
  };
}

/** The misses for people, one entry a cell and contestant. */
export function tellMisses(run: Pick<AdoptionRun, 'cells'>): ToldMisses[] {
  return run.cells.flatMap((result) =>
    EXPLAINED.flatMap((contestant) => {
      const members = missesIn(result, contestant);
      return members.length === 0 ? [] : tellMembers(result, members);
    }),
  );
}

/** Over those lines. */
export const MISSING_TITLE = 'Not in the tables, or not with all of their trials';

export const MISSES_TITLE = 'Races that did not adopt HTTP/3';

/** The same as text; without a trailing newline. */
export function formatMisses(run: Pick<AdoptionRun, 'cells'>): string {
  const told = tellMisses(run).map(({ title, causes, lines }) =>
    [title, ...[...causes, ...lines].map((line) => `  ${line}`)].join('\n'),
  );
  return [MISSES_TITLE, ...(told.length === 0 ? ['none'] : told)].join('\n');
}

/** One line for each client that is not, not everywhere or with fewer trials in the tables, with the reason. */
export function missingClients({ absent, cells }: Pick<AdoptionRun, 'absent' | 'cells'>): string[] {
  const away = absent.map(({ title, why }) => `${title}: ${why}`);
  const crashed = cells.flatMap((result) =>
    Object.entries(result.crashed ?? {}).map(
      ([name, words]) =>
        `${name}: broke off in ${result.cell.id} after ${result.trials[name]?.length ?? 0} trials: ${words}`,
    ),
  );
  return [...away, ...crashed];
}
