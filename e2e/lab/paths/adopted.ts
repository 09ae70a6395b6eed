// The usual three figures of a race: what was adopted, and when there was a connection to use.
import { timesOf } from '../trial.ts';
import { type Figure, figureOf, plottedAs, shareOf } from './figure.ts';
import type { Measured } from './turns.ts';

/** Adoption of HTTP/3 among all trials, mean and 95th percentile; failed trials count as the whole deadline. */
export function adoptedFigures(group: string, { contestant, trials }: Measured): Figure[] {
  const { title } = contestant;
  const times = timesOf(trials, 'establishedMs');
  const failed = trials.filter(({ adopted }) => adopted === null).length;
  const note = failed === 0 ? '' : `${failed} of ${trials.length} failed`;
  const adopted = trials.map((trial) => trial.adopted === 'h3');
  return [
    shareOf({ group, name: `${title}: adopted HTTP/3`, note }, adopted),
    figureOf(
      { group, name: `${title}: established, mean`, unit: 'ms', plotted: plottedAs(contestant) },
      'mean',
      times,
    ),
    figureOf({ group, name: `${title}: established, p95`, unit: 'ms' }, 'p95', times),
  ];
}
