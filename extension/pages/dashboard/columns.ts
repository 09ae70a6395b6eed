// The records of all origins as columns in memory: a hundred thousand rows are sorted and searched as typed arrays, and
// only the visible rows become objects again. Filled in chunks, in the ledger's order.

import { VERDICT_CODES } from '@photofinish/shared/race/verdict-schema';
import { adoptionByRequest, requestsIn } from '@photofinish/shared/report/adoption';
import { type Gain, gainMsOf } from '@photofinish/shared/verdict/gain';
import { OBSERVATION_MODES, type ObservationModes, ONLY_FULL } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { PROTOCOLS } from '@photofinish/shared/web/protocol';
import type { OriginRecord } from '../../common/records/schema.ts';

/** The part of a record that the table shows. */
export type RowRecord = Pick<
  OriginRecord,
  'origin' | 'site' | 'protocol' | 'counts' | 'navigations' | 'modes' | 'lastSeenMs' | 'verdict'
>;

const FIRST_CAPACITY = 1024;

function arraysOf(capacity: number) {
  return {
    site: new Uint32Array(capacity),
    protocol: new Uint8Array(capacity),
    verdict: new Uint8Array(capacity),
    h3: new Float64Array(capacity),
    known: new Float64Array(capacity),
    hidden: new Float64Array(capacity),
    navigations: new Float64Array(capacity),
    /** One bit for each of OBSERVATION_MODES. */
    modes: new Uint8Array(capacity),
    lastSeenMs: new Float64Array(capacity),
    /** NaN: not measured; 0: no clear difference. */
    gainMs: new Float64Array(capacity).fill(Number.NaN),
  };
}

type Arrays = Readonly<ReturnType<typeof arraysOf>>;

function grown(old: Arrays, capacity: number): Arrays {
  const next = arraysOf(capacity);
  for (const name of Object.keys(next) as (keyof Arrays)[]) next[name].set(old[name]);
  return next;
}

function bitsOfModes(modes: ObservationModes = ONLY_FULL): number {
  return modes.reduce((bits, mode) => bits | (1 << OBSERVATION_MODES.indexOf(mode)), 0);
}

/** The modes of one bit each. */
export function modesOfBits(bits: number): ObservationModes {
  return OBSERVATION_MODES.filter((_, i) => (bits & (1 << i)) !== 0);
}

/** No rows yet; `append` and `update` are the only ways in. */
export function createColumns() {
  return {
    size: 0,
    origins: [] as Origin[],
    siteNames: [] as string[],
    arrays: arraysOf(FIRST_CAPACITY) as Arrays,
    /** Rows below it are in the ledger's order: by origin, then by site. */
    sortedSize: 0,
    /** What the newest comparison of each origin shows. */
    gains: new Map() as ReadonlyMap<Origin, Gain>,
    siteIds: new Map<string, number>(),
  };
}

/** Rows in memory. */
export type Columns = ReturnType<typeof createColumns>;

function siteId(columns: Columns, site: string): number {
  const known = columns.siteIds.get(site);
  if (known !== undefined) return known;
  const id = columns.siteNames.push(site) - 1;
  columns.siteIds.set(site, id);
  return id;
}

function write(columns: Columns, row: number, record: RowRecord): void {
  const { arrays } = columns;
  const { h3, known, hidden } = adoptionByRequest(record.counts);
  arrays.site[row] = siteId(columns, record.site);
  arrays.protocol[row] = PROTOCOLS.indexOf(record.protocol ?? 'unknown');
  arrays.verdict[row] = VERDICT_CODES.indexOf(record.verdict);
  arrays.h3[row] = h3;
  arrays.known[row] = known;
  arrays.hidden[row] = hidden;
  arrays.navigations[row] = requestsIn(record.navigations);
  arrays.modes[row] = bitsOfModes(record.modes);
  arrays.lastSeenMs[row] = record.lastSeenMs;
}

function add(columns: Columns, record: RowRecord): void {
  if (columns.size === columns.arrays.site.length)
    columns.arrays = grown(columns.arrays, 2 * columns.arrays.site.length);
  columns.origins[columns.size] = record.origin;
  write(columns, columns.size, record);
  columns.size += 1;
}

/** Adds records that come in the ledger's order. */
export function append(columns: Columns, records: readonly RowRecord[]): void {
  for (const record of records) add(columns, record);
  columns.sortedSize = columns.size;
}

/** The row of an origin on a site, -1 when there is none. */
export function findRow(columns: Columns, origin: Origin, site: string): number {
  const { origins } = columns;
  const siteAt = (row: number) => siteOfRow(columns, row);
  let low = 0;
  let high = columns.sortedSize;
  while (low < high) {
    const middle = (low + high) >> 1;
    const there = origins[middle] ?? '';
    if (there < origin || (there === origin && siteAt(middle) < site)) low = middle + 1;
    else high = middle;
  }
  if (low < columns.sortedSize && origins[low] === origin && siteAt(low) === site) return low;
  for (let row = columns.sortedSize; row < columns.size; row += 1)
    if (origins[row] === origin && siteAt(row) === site) return row;
  return -1;
}

/** The site of a row. */
export function siteOfRow({ siteNames, arrays }: Columns, row: number): string {
  return siteNames[arrays.site[row] ?? 0] ?? '';
}

/** Every row of an origin, one for each site that uses it. */
export function rowsOfOrigin(columns: Columns, origin: Origin): number[] {
  const rows: number[] = [];
  for (let row = 0; row < columns.size; row += 1) if (columns.origins[row] === origin) rows.push(row);
  return rows;
}

/** Writes changed records, and adds new ones. */
export function update(columns: Columns, records: readonly RowRecord[]): void {
  for (const record of records) {
    const row = findRow(columns, record.origin, record.site);
    if (row === -1) add(columns, record);
    else write(columns, row, record);
  }
}

/** Writes the results of comparisons; origins without one are not measured. */
export function writeGains(columns: Columns, gains: ReadonlyMap<Origin, Gain>): void {
  const { gainMs } = columns.arrays;
  columns.gains = gains;
  for (let row = 0; row < columns.size; row += 1) {
    const gain = gains.get(columns.origins[row] as Origin);
    gainMs[row] = gain === undefined ? Number.NaN : (gainMsOf(gain) ?? 0);
  }
}

/** The row as an object; throws RangeError if the row does not exist. */
export function rowAt({ size, origins, siteNames, arrays, gains }: Columns, row: number) {
  const origin = origins[row];
  if (origin === undefined || row >= size) throw new RangeError(`no row ${row}`);
  const number = (array: Float64Array | Uint32Array | Uint8Array) => array[row] ?? 0;
  return {
    origin,
    site: siteNames[number(arrays.site)] ?? '',
    protocol: PROTOCOLS[number(arrays.protocol)] ?? 'unknown',
    h3: number(arrays.h3),
    known: number(arrays.known),
    hidden: number(arrays.hidden),
    navigations: number(arrays.navigations),
    modes: modesOfBits(number(arrays.modes)),
    verdict: VERDICT_CODES[number(arrays.verdict)] ?? 'unknown',
    /** What its newest comparison shows; null: not measured. */
    gain: gains.get(origin) ?? null,
    lastSeenMs: number(arrays.lastSeenMs),
  };
}

/** One line of the table. */
export type Row = Readonly<ReturnType<typeof rowAt>>;

/** Every row by origin and then site, even if some were added out of order: a merge, not a sort. */
export function rowsByOrigin(columns: Columns): Uint32Array {
  const { origins, size, sortedSize } = columns;
  const siteAt = (row: number) => siteOfRow(columns, row);
  const before = (a: number, b: number): boolean => {
    const [x = '', y = ''] = [origins[a], origins[b]];
    return x === y ? siteAt(a) < siteAt(b) : x < y;
  };
  const late = Array.from({ length: size - sortedSize }, (_, i) => sortedSize + i).sort((a, b) =>
    before(a, b) ? -1 : 1,
  );
  const merged = new Uint32Array(size);
  let row = 0;
  let next = 0;
  for (let at = 0; at < size; at += 1) {
    const candidate = late[next];
    if (candidate !== undefined && (row >= sortedSize || before(candidate, row))) {
      merged[at] = candidate;
      next += 1;
    } else {
      merged[at] = row;
      row += 1;
    }
  }
  return merged;
}
