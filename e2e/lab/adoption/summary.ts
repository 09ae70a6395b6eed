// Who adopted what, in a few lines.
import { statistics } from '@photofinish/shared/statistics';
import { formatTable } from '../../run/table.ts';
import { DEADLINE_MS } from '../trial.ts';
import type { AdoptionRun } from './run.ts';

/** Shares of HTTP/3 and mean times of every cell and contestant. */
export function summary(run: AdoptionRun): string {
  const rows = run.cells.flatMap(({ cell, trials }) =>
    Object.entries(trials).map(([name, own]) => {
      const times = own.flatMap(({ adopted, establishedMs }) =>
        adopted === null ? DEADLINE_MS : (establishedMs ?? []),
      );
      const adopted = own.filter((trial) => trial.adopted === 'h3').length;
      return [cell.id, name, `${adopted}/${own.length}`, statistics(times)?.mean.toFixed(1) ?? ''];
    }),
  );
  const columns = [
    { title: 'cell' },
    { title: 'contestant' },
    { title: 'HTTP/3', align: 'right' },
    { title: 'mean ms', align: 'right' },
  ] as const;
  return formatTable(columns, rows);
}
