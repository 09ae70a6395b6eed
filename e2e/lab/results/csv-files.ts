// A run as CSV for whoever wants to compute for himself: one row for each cell and contestant, and one for each trial.
import { csvText } from '@photofinish/shared/csv';
import type { AdoptionRun } from '../adoption/run.ts';
import type { Derived, Figures, Times } from './figures.ts';
import { causeOf } from './misses.ts';

const CELL_HEAD = ['cell', 'delay_ms', 'loss', 'contestant', 'kind', 'trials', 'h3', 'failed'];
const SHARE_HEAD = ['adoption', 'adoption_low', 'adoption_high'];
const TIME_HEAD = [
  'n',
  'mean',
  'mean_low',
  'mean_high',
  'sigma',
  'median',
  'p95',
  'p95_low',
  'p95_high',
  'max',
];

function timeCells(times: Times | null): (string | number)[] {
  if (times === null) return TIME_HEAD.map(() => '');
  const { valuesMs, mean, sigmaMs, medianMs, p95, maxMs } = times;
  const n = valuesMs.length;
  return [n, mean.value, mean.low, mean.high, sigmaMs, medianMs, p95.value, p95.low, p95.high, maxMs];
}

function cellRow({ cell, contestant, adopted, adoption, failed, established, firstByte }: Figures) {
  const { id, delayMs, loss } = cell;
  return [
    ...[id, delayMs, loss, contestant.name, contestant.kind, adopted.of, adopted.hits, failed],
    ...[adoption.value, adoption.low, adoption.high],
    ...timeCells(established),
    ...timeCells(firstByte),
  ];
}

/** One row for each cell and contestant; shares from 0 to 1, times in milliseconds with failed trials as 30,000. */
export function cellsCsv({ all }: Derived): string {
  const times = ['established', 'first_byte'].flatMap((what) =>
    TIME_HEAD.map((name) => `${what}_ms_${name}`),
  );
  return csvText([[...CELL_HEAD, ...SHARE_HEAD, ...times], ...all.map(cellRow)]);
}

const TRIAL_HEAD = [
  'cell',
  'delay_ms',
  'loss',
  'contestant',
  'trial',
  'adopted',
  'established_ms',
  'first_byte_ms',
  'datagrams_sent',
  'error',
  'cause',
];

/** One row for each trial; empty: not told, or it did not come to that. */
export function trialsCsv({ cells }: AdoptionRun): string {
  const rows = cells.flatMap(({ cell, trials }) =>
    Object.entries(trials).flatMap(([name, own]) =>
      own.map((trial, index) => {
        const { adopted, establishedMs, firstByteMs, datagramsSent, error, trace } = trial;
        const where = [cell.id, cell.delayMs, cell.loss, name, index + 1];
        const cause = trace === undefined ? '' : causeOf(trial);
        const times = [establishedMs ?? '', firstByteMs ?? ''];
        return [...where, adopted ?? '', ...times, datagramsSent ?? '', error ?? '', cause];
      }),
    ),
  );
  return csvText([TRIAL_HEAD, ...rows]);
}
