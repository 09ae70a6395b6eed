// From segments to cells: the samples of all of a cell's driven segments together, as P1 reports them.
import { median, percentile } from '@photofinish/shared/statistics';
import type { Cell } from './cells.ts';
import type { Measured, Sample } from './measured.ts';

/** Median with 10th and 90th percentile, as in P1. */
export interface Spread {
  readonly median: number;
  readonly p10: number;
  readonly p90: number;
}

export interface CellSummary {
  readonly cell: Cell;
  /** Those of driven segments. */
  readonly samples: readonly Sample[];
  /** Segments that were driven, of how many were measured. */
  readonly driven: { readonly segments: number; readonly of: number };
  /** Why the others were not, each reason once. */
  readonly why: readonly string[];
  /** The worst of its driven segments. */
  readonly lateP99Ms: number | null;
  readonly idleShare: number | null;
  readonly races: { readonly of: number; readonly h3: number };
}

/** What can be asked of a sample; null where it was not to be had. */
export const FIGURES = {
  serverMs: ({ server, requests }: Sample) => (server.userMs + server.systemMs) / requests,
  serverUserMs: ({ server, requests }: Sample) => server.userMs / requests,
  serverSystemMs: ({ server, requests }: Sample) => server.systemMs / requests,
  clientMs: ({ client, requests }: Sample) => (client.userMs + client.systemMs) / requests,
  linkMs: ({ link, requests }: Sample) => (link.userMs + link.systemMs) / requests,
  /** Of one processor. */
  serverShare: ({ server, seconds }: Sample) => (server.userMs + server.systemMs) / (1000 * seconds),
  serverPssBytes: ({ serverMemory }: Sample) => serverMemory?.pssBytes ?? null,
  serverRssBytes: ({ serverMemory }: Sample) => serverMemory?.rssBytes ?? null,
  clientPssBytes: ({ clientMemory }: Sample) => clientMemory?.pssBytes ?? null,
  /** The kernel's caches and buffers, of both ends. */
  kernelBytes: ({ slabBytes, bufferBytes }: Sample) =>
    slabBytes === null || bufferBytes === null ? null : slabBytes + bufferBytes,
  serverSockets: ({ serverSockets }: Sample) =>
    serverSockets === null ? null : serverSockets.tcp + serverSockets.udp,
} as const;
export type Figure = keyof typeof FIGURES;

/** The figure of every sample that has it; samples without a request say nothing. */
export function valuesOf(summary: Pick<CellSummary, 'samples'>, figure: Figure): number[] {
  return summary.samples
    .filter(({ requests }) => requests > 0)
    .flatMap((sample) => FIGURES[figure](sample) ?? []);
}

/** Null for no values. */
export function spreadOf(values: readonly number[]): Spread | null {
  const middle = median(values);
  if (middle === null) return null;
  const sorted = values.toSorted((a, b) => a - b);
  return { median: middle, p10: percentile(sorted, 0.1), p90: percentile(sorted, 0.9) };
}

function summaryOf(cell: Cell, segments: readonly Measured[]): CellSummary {
  const driven = segments.filter(({ drive }) => drive.why.length === 0);
  const late = driven.flatMap(({ drive }) => drive.lateP99Ms ?? []);
  const sum = (pick: (measured: Measured) => number) => driven.reduce((total, one) => total + pick(one), 0);
  return {
    cell,
    samples: driven.flatMap(({ trials }) => trials),
    driven: { segments: driven.length, of: segments.length },
    why: [...new Set(segments.flatMap(({ drive }) => drive.why))],
    lateP99Ms: late.length === 0 ? null : Math.max(...late),
    idleShare: driven.length === 0 ? null : Math.min(...driven.map(({ drive }) => drive.idleShare)),
    races: { of: sum(({ races }) => races.of), h3: sum(({ races }) => races.h3) },
  };
}

/** A summary for each cell, in their order; one that has not been measured has no samples. */
export function summarise(cells: readonly Cell[], segments: readonly Measured[]): CellSummary[] {
  const byCell = Map.groupBy(segments, ({ scenario }) => scenario);
  return cells.map((cell) => summaryOf(cell, byCell.get(cell.id) ?? []));
}
