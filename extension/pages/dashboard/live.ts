// Keeps an open dashboard up to date: while visible, it checks every few seconds whether the ledger changed, and reads
// only what did. A check costs three small reads.
import type { Origin } from '@photofinish/shared/web/origin';
import type { OriginRecord } from '../../common/records/schema.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { type Columns, rowsOfOrigin, siteOfRow, update } from './columns.ts';
import { loadRecentRaces, type Pulse, pulseOf, refresh } from './load.ts';
import type { RaceSummary } from './race-samples.ts';

const LOOK_EVERY_MS = 4000;

interface LoadedData {
  readonly columns: Columns;
  readonly complete: boolean;
  readonly races: readonly RaceSummary[];
}

export interface Live {
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

async function bringUpToDate(live: Live, before: Pulse, now: Pulse): Promise<void> {
  const { columns, complete, races } = live.known();
  // Time only increases: if the newest is gone, it was deleted.
  const deleted = now.lastSeenMs < before.lastSeenMs || now.lastRaceMs < before.lastRaceMs;
  if (!complete || deleted) return live.reload();
  if (!(await refresh(live.ledger, columns, before.lastSeenMs))) return live.reload();
  const newer = await loadRecentRaces(live.ledger, races[0]?.atMs ?? 0);
  await readRaced(
    live.ledger,
    columns,
    newer.map(({ origin }) => origin),
  );
  await live.changed({ races: [...newer, ...races] });
}

/** The pulse of what the page has loaded; the ledger may have changed since, while the tab was hidden. */
function loadedPulse({ columns, races }: LoadedData): Pulse {
  const { lastSeenMs } = columns.arrays;
  let newest = 0;
  for (let row = 0; row < columns.size; row += 1) newest = Math.max(newest, lastSeenMs[row] ?? 0);
  return { lastSeenMs: newest, lastRaceMs: races[0]?.atMs ?? 0, all: '' };
}

/** Starts checking; checks at once when the page becomes visible again. */
export function keepLive(live: Live): void {
  let before: Pulse | null = null;
  let busy = false;
  const look = async (): Promise<void> => {
    if (busy || document.hidden) return;
    busy = true;
    try {
      const now = await pulseOf(live.ledger, live.today());
      const last = before ?? loadedPulse(live.known());
      if (last.all !== now.all) await bringUpToDate(live, last, now);
      before = now;
    } catch (error) {
      live.failed(error);
    } finally {
      busy = false;
    }
  };
  void look();
  setInterval(() => void look(), LOOK_EVERY_MS);
  document.addEventListener('visibilitychange', () => void look());
}
