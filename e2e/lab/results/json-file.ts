// A run and all that was derived from it as one JSON document, `photofinish.lab-adoption/1`.
import type { Derived, Figures, Times } from './figures.ts';
import type { Estimate, GoalRow } from './goal-row.ts';
import { linkAccuracy } from './link-accuracy.ts';
import { countCauses, missesOfRun } from './misses.ts';

const SCHEMA = 'photofinish.lab-adoption/1';

/** JSON has neither Infinity nor NaN: null stands for an end that an interval does not have. */
const finite = (value: number) => (Number.isFinite(value) ? value : null);
const estimate = ({ value, low, high }: Estimate) => ({
  value: finite(value),
  low: finite(low),
  high: finite(high),
});

function times(summary: Times | null) {
  if (summary === null) return null;
  const { valuesMs, mean, sigmaMs, medianMs, p95, maxMs } = summary;
  return { n: valuesMs.length, meanMs: mean, sigmaMs, medianMs, p95Ms: p95, maxMs };
}

function figures({ cell, contestant, adopted, adoption, failed, established, firstByte }: Figures) {
  return {
    cell: cell.id,
    contestant: contestant.name,
    trials: adopted.of,
    adopted: adopted.hits,
    failed,
    adoption,
    established: times(established),
    firstByte: times(firstByte),
  };
}

const goal = (row: GoalRow) => ({ ...row, measured: row.measured && estimate(row.measured) });

/** The document's text with a newline at its end. */
export function adoptionDocument(derived: Derived, goals: readonly GoalRow[]): string {
  const misses = missesOfRun(derived.run);
  const document = {
    schema: SCHEMA,
    goals: goals.map(goal),
    figures: derived.all.map(figures),
    link: linkAccuracy(derived.run),
    causes: countCauses(misses),
    misses,
    run: derived.run,
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}
