// Protocols that became known later: the browser's developer tools reveal them for requests that were counted as
// unknown. Pure: moves counts, never below zero, and never more than was unknown.
import type { ProtocolCounts } from '@photofinish/shared/report/adoption';
import type { Observation } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import type { KnownProtocol } from '@photofinish/shared/web/protocol';
import type { DayRow, OriginRecord } from './schema.ts';

/** Requests of one origin on one site whose protocol became known. */
export interface Backfill {
  readonly origin: Origin;
  readonly site: string;
  /** When they were made, milliseconds since the epoch. */
  readonly atMs: number;
  readonly kind: Observation['kind'];
  readonly protocol: KnownProtocol;
  readonly count: number;
}

export interface BackfillBatch {
  /** Identifies the batch across retries. */
  readonly key: string;
  readonly backfills: readonly Backfill[];
  readonly nowMs: number;
}

type RequestCounts = Pick<DayRow, 'counts' | 'navigations'>;

/** How many of the backfill's kind are still unknown. */
export function hiddenOf({ counts, navigations }: RequestCounts, kind: Backfill['kind']): number {
  return kind === 'navigation' ? navigations.unknown : counts.unknown - navigations.unknown;
}

/** Counts with `count` of the unknown now known; `count` is at most what is unknown. */
export function backfilledCounts(
  counts: ProtocolCounts,
  protocol: KnownProtocol,
  count: number,
): ProtocolCounts {
  return { ...counts, [protocol]: counts[protocol] + count, unknown: counts.unknown - count };
}

/** A row with `count` of its unknown requests now known; `count` is at most what `hiddenOf` returns. */
export function backfilledRow<Row extends RequestCounts>(
  row: Row,
  { kind, protocol }: Backfill,
  count: number,
): Row {
  return {
    ...row,
    counts: backfilledCounts(row.counts, protocol, count),
    navigations: kind === 'navigation' ? backfilledCounts(row.navigations, protocol, count) : row.navigations,
  };
}

/** A record with `count` of its unknown requests now known, and the resulting newest protocol. */
export function backfilledRecord(record: OriginRecord, backfill: Backfill, count: number): OriginRecord {
  const row = backfilledRow(record, backfill, count);
  const known = { ...row, reason: row.counts.unknown === 0 ? null : row.reason };
  if ((record.protocolAtMs ?? 0) > backfill.atMs) return known;
  return {
    ...known,
    protocol: backfill.protocol,
    protocolAtMs: backfill.atMs,
    visitsSinceAdvertised: backfill.protocol === 'h3' ? 0 : row.visitsSinceAdvertised,
  };
}
