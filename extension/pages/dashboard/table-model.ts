// What the table shows, as pure functions over the columns: which rows pass the filters, in which order, and the same
// by site. Only one page of the result reaches the document.

import { VERDICT_CODES, type VerdictCode } from '@photofinish/shared/race/verdict-schema';
import { MARKS, type Mark, markOf, PROTOCOLS } from '@photofinish/shared/web/protocol';
import { type Columns, rowsByOrigin } from './columns.ts';

export const ORIGIN_KEYS = [
  'origin',
  'site',
  'protocol',
  'requests',
  'share',
  'hidden',
  'navigations',
  'verdict',
  'gain',
  'seen',
] as const;
export const SITE_KEYS = [
  'site',
  'origins',
  'originShare',
  'requests',
  'share',
  'hidden',
  'navigations',
  'seen',
] as const;
export type SortKey = (typeof ORIGIN_KEYS)[number] | (typeof SITE_KEYS)[number];

export interface Filter {
  /** Part of an origin or site, lower case; empty: all. */
  readonly query: string;
  readonly site: string | null;
  readonly mark: Mark | null;
  readonly verdict: VerdictCode | null;
  /** Last seen at or after this, in milliseconds since the epoch. */
  readonly sinceMs: number;
  /** Last seen before this. */
  readonly untilMs: number;
}

/** Shares are compared with a resolution of one millionth, gains of a hundredth of a millisecond: keys are integers. */
const SHARE_STEPS = 1e6;
const GAIN_STEPS = 100;

const MARK_OF_PROTOCOL = PROTOCOLS.map((protocol) => MARKS.indexOf(markOf(protocol)));

/** The rows that pass, in the columns' order. */
export function filterRows(columns: Columns, filter: Filter): Uint32Array {
  const { arrays, origins, siteNames, siteIds, size } = columns;
  const site = filter.site === null ? null : (siteIds.get(filter.site) ?? -1);
  const mark = filter.mark === null ? null : MARKS.indexOf(filter.mark);
  const verdict = filter.verdict === null ? null : VERDICT_CODES.indexOf(filter.verdict);
  // Each site name is searched once, not for each of its origins.
  const siteMatches = filter.query === '' ? null : siteNames.map((name) => name.includes(filter.query));
  const found = new Uint32Array(size);
  let count = 0;
  for (let row = 0; row < size; row += 1) {
    const seenMs = arrays.lastSeenMs[row] ?? 0;
    const ofSite = arrays.site[row] ?? 0;
    if (seenMs < filter.sinceMs || seenMs >= filter.untilMs) continue;
    if (site !== null && ofSite !== site) continue;
    if (mark !== null && MARK_OF_PROTOCOL[arrays.protocol[row] ?? 0] !== mark) continue;
    if (verdict !== null && arrays.verdict[row] !== verdict) continue;
    if (siteMatches !== null && !siteMatches[ofSite] && !origins[row]?.includes(filter.query)) continue;
    found[count] = row;
    count += 1;
  }
  return found.slice(0, count);
}

function share(part: number, whole: number): number {
  return whole === 0 ? Number.NaN : Math.round((SHARE_STEPS * part) / whole);
}

/** Alphabetical positions of sites, by site id. */
function siteRanks(siteNames: readonly string[]): Uint32Array {
  const ids = siteNames.map((_, id) => id);
  ids.sort((a, b) => ((siteNames[a] ?? '') < (siteNames[b] ?? '') ? -1 : 1));
  return ranksOf(Uint32Array.from(ids));
}

function originKey(columns: Columns, key: SortKey): (row: number) => number {
  const { arrays } = columns;
  const at = (array: { readonly [index: number]: number }) => (row: number) => array[row] ?? 0;
  const requests = (row: number) => (arrays.known[row] ?? 0) + (arrays.hidden[row] ?? 0);
  switch (key) {
    case 'origin':
      return at(ranksOf(rowsByOrigin(columns)));
    case 'site': {
      const ranks = siteRanks(columns.siteNames);
      return (row) => ranks[arrays.site[row] ?? 0] ?? 0;
    }
    case 'protocol':
      return at(arrays.protocol);
    case 'verdict':
      return at(arrays.verdict);
    case 'share':
      return (row) => share(arrays.h3[row] ?? 0, arrays.known[row] ?? 0);
    case 'hidden':
      return at(arrays.hidden);
    case 'navigations':
      return at(arrays.navigations);
    case 'gain':
      return (row) => Math.round(GAIN_STEPS * (arrays.gainMs[row] ?? Number.NaN));
    case 'seen':
      return at(arrays.lastSeenMs);
    default:
      return requests;
  }
}

/** The rows in the requested order. */
export function sortRows(
  columns: Columns,
  rows: Uint32Array,
  key: SortKey,
  direction: Direction,
): Uint32Array {
  return orderRows(rows, originKey(columns, key), direction);
}

/** Sums the rows by site; `ids` are those of the sites that have rows. */
export function groupBySite({ arrays, siteNames }: Columns, rows: Uint32Array) {
  const empty = () => new Float64Array(siteNames.length);
  const sums = {
    origins: empty(),
    h3Origins: empty(),
    knownOrigins: empty(),
    h3: empty(),
    known: empty(),
    hidden: empty(),
    navigations: empty(),
    /** One bit for each of OBSERVATION_MODES. */
    modes: new Uint8Array(siteNames.length),
    lastSeenMs: empty(),
  };
  const plus = (array: Float64Array, id: number, value: number): void => {
    array[id] = (array[id] ?? 0) + value;
  };
  for (const row of rows) {
    const id = arrays.site[row] ?? 0;
    const [h3, known] = [arrays.h3[row] ?? 0, arrays.known[row] ?? 0];
    plus(sums.origins, id, 1);
    if (h3 > 0) plus(sums.h3Origins, id, 1);
    if (known > 0) plus(sums.knownOrigins, id, 1);
    plus(sums.h3, id, h3);
    plus(sums.known, id, known);
    plus(sums.hidden, id, arrays.hidden[row] ?? 0);
    plus(sums.navigations, id, arrays.navigations[row] ?? 0);
    sums.modes[id] = (sums.modes[id] ?? 0) | (arrays.modes[row] ?? 0);
    sums.lastSeenMs[id] = Math.max(sums.lastSeenMs[id] ?? 0, arrays.lastSeenMs[row] ?? 0);
  }
  const ids = Uint32Array.from(siteNames.keys()).filter((id) => (sums.origins[id] ?? 0) > 0);
  return { names: siteNames, ids, ...sums };
}

/** Rows summed by site. */
export type SiteColumns = Readonly<ReturnType<typeof groupBySite>>;

/** The sites in the requested order. */
export function sortSites(sites: SiteColumns, key: SortKey, direction: Direction): Uint32Array {
  const at = (array: { readonly [index: number]: number }) => (id: number) => array[id] ?? 0;
  const requests = (id: number) => (sites.known[id] ?? 0) + (sites.hidden[id] ?? 0);
  const keys: Partial<Record<SortKey, (id: number) => number>> = {
    origins: at(sites.origins),
    originShare: (id) => share(sites.h3Origins[id] ?? 0, sites.knownOrigins[id] ?? 0),
    requests,
    share: (id) => share(sites.h3[id] ?? 0, sites.known[id] ?? 0),
    hidden: at(sites.hidden),
    navigations: at(sites.navigations),
    seen: at(sites.lastSeenMs),
  };
  return orderRows(sites.ids, keys[key] ?? at(siteRanks(sites.names)), direction);
}

/** How many of the rows have each verdict; codes without rows are omitted. */
export function countVerdicts({ arrays }: Columns, rows: Uint32Array): Map<VerdictCode, number> {
  const counts = new Uint32Array(VERDICT_CODES.length);
  for (const row of rows) {
    const code = arrays.verdict[row] ?? 0;
    counts[code] = (counts[code] ?? 0) + 1;
  }
  const found = VERDICT_CODES.map((code, i): [VerdictCode, number] => [code, counts[i] ?? 0]);
  return new Map(found.filter(([, count]) => count > 0).sort((a, b) => b[1] - a[1]));
}

// Sorting without a comparison function: each row's key becomes an integer, key and row are packed into one double, and
// the engine sorts plain numbers. A hundred thousand rows take a few milliseconds, and the sort is stable.

export type Direction = 'ascending' | 'descending';

/** Doubles represent integers up to 2^53 exactly, and key and row share that range. */
const MOST = Number.MAX_SAFE_INTEGER;

/**
 * The rows ordered by a key, of which only the integer part is compared. Rows whose key is NaN come last in either
 * direction. Throws RangeError when the range of keys is too large to be packed with that many rows.
 */
export function orderRows(
  rows: Uint32Array,
  keyOf: (row: number) => number,
  direction: Direction,
): Uint32Array {
  const keys = new Float64Array(rows.length);
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  rows.forEach((row, i) => {
    const key = Math.floor(keyOf(row));
    keys[i] = key;
    if (key < least) least = key;
    if (key > most) most = key;
  });
  const span = most >= least ? most - least : 0;
  if ((span + 2) * rows.length > MOST) throw new RangeError('the keys lie too far apart');
  const packed = keys.map((key, i) => {
    const place = Number.isNaN(key) ? span + 1 : direction === 'ascending' ? key - least : most - key;
    return place * rows.length + i;
  });
  packed.sort();
  return Uint32Array.from(
    packed,
    (value) => rows[value - Math.floor(value / rows.length) * rows.length] ?? 0,
  );
}

/** The position of each row in an order: the inverse permutation. */
export function ranksOf(order: Uint32Array): Uint32Array {
  const ranks = new Uint32Array(order.length);
  order.forEach((row, rank) => {
    ranks[row] = rank;
  });
  return ranks;
}
