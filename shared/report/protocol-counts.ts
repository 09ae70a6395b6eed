// Network answers by protocol, as reports count and order them everywhere.
import type { Mark } from '../drawing/marks.ts';
import type { ReportOrigin } from './report.ts';

export type Counts = ReportOrigin['protocols'];

/** The order of every bar and of the columns of every table. */
export const PROTOCOL_COLUMNS: readonly (readonly [Mark, keyof Counts])[] = [
  ['h3', 'h3'],
  ['h2', 'h2'],
  ['h1', 'http/1.1'],
  ['unknown', 'unknown'],
];

export function addProtocols(origins: readonly Pick<ReportOrigin, 'protocols'>[]): Counts {
  const sum = { h3: 0, h2: 0, 'http/1.1': 0, unknown: 0 };
  for (const { protocols } of origins) for (const [, key] of PROTOCOL_COLUMNS) sum[key] += protocols[key];
  return sum;
}

export function totalOf(counts: Counts): number {
  return PROTOCOL_COLUMNS.reduce((sum, [, key]) => sum + counts[key], 0);
}
