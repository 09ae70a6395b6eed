// How the ledger gets into the page: first what the first screen shows, then everything in chunks with pauses that keep
// the page responsive, and from then on, while it is visible, only changes.

import type { Origin } from '@photofinish/shared/web/origin';
import { IMPORT_CHANNEL } from '../../common/messages.ts';
import type { DayTotal, OriginRecord } from '../../common/records/schema.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { append, type Columns, createColumns, rowsOfOrigin, siteOfRow, update } from './columns.ts';
import { totalsOfRows } from './overview.ts';
import { type RaceSummary, summariseRace } from './race-samples.ts';
import type { Period } from './state.ts';

/** Between two chunks, input is handled and frames are painted. */
const CHUNK_ROWS = 4000;
const RACE_CHUNK = 200;
/** If a check finds more changes than this, everything is read again. */
const MAX_CHANGES = 500;
/**
 * A record may be written this long after it was last seen: what a page did not report waits for that (`SETTLE_MS` in
 * `observe/requests.ts`) and for a sweep, and a batch that a page left behind for the background's next start.
 */
const WRITTEN_LATE_MS = 60_000;

export type Total = DayTotal | ReturnType<typeof totalsOfRows>[number];

/** The period's totals, of every site or computed from one site's own rows. */
export async function loadTotals(
  ledger: Pick<Ledger, 'totals' | 'days'>,
  { fromDay, toDay }: Period,
  site: string | null,
): Promise<readonly Total[]> {
  if (site === null) return ledger.totals(fromDay, toDay);
  return totalsOfRows(await ledger.days(site, fromDay, toDay));
}

function inOrder(records: readonly OriginRecord[]): OriginRecord[] {
  return records.toSorted((a, b) => {
    if (a.origin !== b.origin) return a.origin < b.origin ? -1 : 1;
    return a.site < b.site ? -1 : 1;
  });
}

/** Enough rows for the first page: the newest, or those of the requested site. */
export async function loadFirst(
  ledger: Pick<Ledger, 'newestRecords' | 'records'>,
  site: string | null,
  limit: number,
): Promise<Columns> {
  const columns = createColumns();
  append(columns, inOrder(site === null ? await ledger.newestRecords(limit) : await ledger.records(site)));
  return columns;
}

/** Yields to input and painting. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    requestAnimationFrame(() => port2.postMessage(null));
    // A hidden page paints no frames, so its loading must not wait for one.
    if (document.hidden) port2.postMessage(null);
  });
}

/** Every record; `progress` receives the number loaded so far. */
export async function loadAll(
  ledger: Pick<Ledger, 'eachRecord'>,
  progress: (loaded: number) => void,
): Promise<Columns> {
  const columns = createColumns();
  await ledger.eachRecord(async (records) => {
    append(columns, records);
    progress(columns.size);
    await pause();
  }, CHUNK_ROWS);
  return columns;
}

/** Every race, newest first. */
export async function loadRaces(ledger: Pick<Ledger, 'recentRaces'>): Promise<RaceSummary[]> {
  const races: RaceSummary[] = [];
  let beforeMs = Number.POSITIVE_INFINITY;
  for (;;) {
    const chunk = await ledger.recentRaces(RACE_CHUNK, beforeMs);
    races.push(...chunk.map(summariseRace));
    const last = chunk.at(-1);
    if (last === undefined || chunk.length < RACE_CHUNK) return races;
    beforeMs = last.atMs;
    await pause();
  }
}

/** Races begun after `sinceMs`, newest first. */
async function loadRecentRaces(ledger: Pick<Ledger, 'recentRaces'>, sinceMs: number): Promise<RaceSummary[]> {
  const chunk = await ledger.recentRaces(RACE_CHUNK);
  return chunk.filter(({ atMs }) => atMs > sinceMs).map(summariseRace);
}

/** What shows whether the ledger changed since the last check; cheap enough to read every few seconds. */
interface LedgerStamp {
  /** 0 if nothing is recorded. */
  readonly lastSeenMs: number;
  readonly lastRaceMs: number;
  /** Changes whenever anything does. */
  readonly all: string;
}

async function stampOf(
  ledger: Pick<Ledger, 'newestRecords' | 'recentRaces' | 'totals'>,
  today: string,
): Promise<LedgerStamp> {
  const [newest, raced, totals] = await Promise.all([
    ledger.newestRecords(1),
    ledger.recentRaces(1),
    ledger.totals(today, today),
  ]);
  const lastSeenMs = newest[0]?.lastSeenMs ?? 0;
  const lastRaceMs = raced[0]?.atMs ?? 0;
  return { lastSeenMs, lastRaceMs, all: JSON.stringify([lastSeenMs, lastRaceMs, totals]) };
}

/**
 * Updates the columns with what was seen since `sinceMs`, or may have been written since; false if that is too much, and
 * everything must be read again.
 */
export async function refresh(
  ledger: Pick<Ledger, 'newestRecords'>,
  columns: Columns,
  sinceMs: number,
): Promise<boolean> {
  const newest = await ledger.newestRecords(MAX_CHANGES);
  const changed = newest.filter(({ lastSeenMs }) => lastSeenMs >= sinceMs - WRITTEN_LATE_MS);
  if (changed.length === MAX_CHANGES) return false;
  update(columns, changed);
  return true;
}

// An open dashboard checks every few seconds whether the ledger changed. A check costs three small reads;
// records and races, of which there may be very many, are counted only if something changed.

const LOOK_EVERY_MS = 4000;

interface LoadedData {
  readonly columns: Columns;
  readonly complete: boolean;
  readonly races: readonly RaceSummary[];
}

export interface LiveUpdates {
  readonly ledger: Ledger;
  readonly today: () => string;
  readonly known: () => LoadedData;
  /** The columns were updated; all races are passed again. */
  readonly changed: (next: { readonly races: readonly RaceSummary[] }) => Promise<void>;
  /** Too much changed, or something was deleted. */
  readonly reload: () => Promise<void>;
  readonly failed: (error: unknown) => void;
}

/** A race changes the verdict of its origin on every site, without a new visit. */
async function readRaced(
  ledger: Pick<Ledger, 'recordsOf'>,
  columns: Columns,
  origins: readonly Origin[],
): Promise<void> {
  const records: OriginRecord[] = [];
  for (const origin of new Set(origins))
    for (const row of rowsOfOrigin(columns, origin)) {
      const found = await ledger.recordsOf([origin], siteOfRow(columns, row));
      records.push(...found.values());
    }
  update(columns, records);
}

async function bringUpToDate(live: LiveUpdates, before: LedgerStamp, now: LedgerStamp): Promise<void> {
  const { columns, complete, races } = live.known();
  // Time only increases: if the newest is gone, it was deleted.
  const deleted = now.lastSeenMs < before.lastSeenMs || now.lastRaceMs < before.lastRaceMs;
  if (!complete || deleted) return live.reload();
  if (!(await refresh(live.ledger, columns, before.lastSeenMs))) return live.reload();
  const newestMs = races[0]?.atMs ?? 0;
  const newer = await loadRecentRaces(live.ledger, newestMs);
  // What was recorded after a deletion is newer than what was deleted, so only the number reveals it. Counted last: what
  // is recorded meanwhile must not look like a deletion.
  const [recordsLeft, racesLeft] = await Promise.all([
    live.ledger.count('records'),
    live.ledger.count('races'),
  ]);
  if (columns.size > recordsLeft) return live.reload();
  const kept = [...newer, ...races];
  // A new race may replace the oldest of its origin; that needs no reading of the records.
  const anew = kept.length > racesLeft || newer.length === RACE_CHUNK;
  const current = anew ? await loadRaces(live.ledger) : kept;
  await readRaced(
    live.ledger,
    columns,
    current.filter(({ atMs }) => atMs > newestMs).map(({ origin }) => origin),
  );
  await live.changed({ races: current });
}

/** The stamp of what the page has loaded; the ledger may have changed since, while the tab was hidden. */
function loadedStamp({ columns, races }: LoadedData): LedgerStamp {
  const { lastSeenMs } = columns.arrays;
  let newest = 0;
  for (let row = 0; row < columns.size; row += 1) newest = Math.max(newest, lastSeenMs[row] ?? 0);
  return { lastSeenMs: newest, lastRaceMs: races[0]?.atMs ?? 0, all: '' };
}

/** Starts checking; checks at once when the page becomes visible again. */
export function keepLive(live: LiveUpdates): void {
  let before: LedgerStamp | null = null;
  let busy = false;
  let imported = false;
  const look = async (): Promise<void> => {
    if (busy || document.hidden) return;
    busy = true;
    try {
      const now = await stampOf(live.ledger, live.today());
      const last = before ?? loadedStamp(live.known());
      const anew = imported;
      imported = false;
      if (anew) await live.reload();
      else if (last.all !== now.all) await bringUpToDate(live, last, now);
      before = now;
    } catch (error) {
      live.failed(error);
    } finally {
      busy = false;
    }
  };
  // What is imported may all be older than what is shown.
  new BroadcastChannel(IMPORT_CHANNEL).addEventListener('message', () => {
    imported = true;
    void look();
  });
  void look();
  setInterval(() => void look(), LOOK_EVERY_MS);
  document.addEventListener('visibilitychange', () => void look());
}
