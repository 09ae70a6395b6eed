// Keeps the ledger bounded: deletes what is older than the retention and the oldest rows beyond the limits, in small
// batches, so that no transaction of a busy browser waits long for it.
import type { IDBPDatabase } from 'idb';
import {
  BATCH_RETENTION_MS,
  DAY_MS,
  dayOf,
  type LedgerSchema,
  MAX_BATCHES,
  MAX_DAYS,
  MAX_RACES,
  MAX_RECORDS,
  MAX_TOTALS,
} from '../common/records/schema.ts';
import { whole } from './database.ts';

const STEP_ROWS = 500;

interface Plan {
  readonly store: 'records' | 'days' | 'totals' | 'races' | 'batches';
  /** Index that orders the rows by age; null: the primary key does. */
  readonly byAge: string | null;
  readonly before: number | [string];
  readonly maxRows: number;
}

function plansAt(nowMs: number, retentionDays: number): readonly Plan[] {
  const cutMs = nowMs - retentionDays * DAY_MS;
  return [
    { store: 'records', byAge: 'lastSeenMs', before: cutMs, maxRows: MAX_RECORDS },
    { store: 'days', byAge: null, before: [dayOf(cutMs)], maxRows: MAX_DAYS },
    { store: 'totals', byAge: null, before: [dayOf(cutMs)], maxRows: MAX_TOTALS },
    { store: 'races', byAge: 'atMs', before: cutMs, maxRows: MAX_RACES },
    { store: 'batches', byAge: 'atMs', before: nowMs - BATCH_RETENTION_MS, maxRows: MAX_BATCHES },
  ];
}

/** Deletes the oldest rows that are too old, or among the `tooMany` oldest, at most STEP_ROWS; returns their number. */
async function pruneStep(
  db: IDBPDatabase<LedgerSchema>,
  { store, byAge, before }: Plan,
  tooMany: number,
): Promise<number> {
  return whole(db.transaction(store, 'readwrite'), async (tx) => {
    const source = byAge === null ? tx.store : tx.store.index(byAge as never);
    let deleted = 0;
    let cursor = await source.openCursor();
    while (cursor !== null && deleted < STEP_ROWS) {
      const tooOld = indexedDB.cmp(cursor.key, before) < 0;
      if (!tooOld && deleted >= tooMany) break;
      await cursor.delete();
      deleted += 1;
      cursor = await cursor.continue();
    }
    return deleted;
  });
}

/**
 * Deletes, step by step, what is older than the retention and the oldest rows beyond the limit; returns the number of
 * rows.
 */
export async function pruneAll(
  db: IDBPDatabase<LedgerSchema>,
  nowMs: number,
  retentionDays: number,
): Promise<number> {
  let deleted = 0;
  for (const plan of plansAt(nowMs, retentionDays)) {
    // Counting half a million rows takes a second, so it is done once rather than at each step.
    let tooMany = (await db.count(plan.store)) - plan.maxRows;
    for (let step = STEP_ROWS; step === STEP_ROWS; tooMany -= step) {
      step = await pruneStep(db, plan, tooMany);
      deleted += step;
    }
  }
  return deleted;
}

// Prunes the ledger on an alarm, because the background rarely lives for an hour.

const ALARM = 'prune';
const EVERY_MINUTES = 60;

async function schedule(): Promise<void> {
  // Recreating it at each start would postpone it forever.
  if ((await chrome.alarms.get(ALARM)) === undefined)
    await chrome.alarms.create(ALARM, { periodInMinutes: EVERY_MINUTES });
}

/** Calls `prune` every hour; must be called synchronously when the background starts, or the alarm is lost. */
export function pruneHourly(prune: () => Promise<unknown>): void {
  chrome.alarms.onAlarm.addListener(({ name }) => {
    if (name === ALARM) prune().catch(console.error);
  });
  schedule().catch(console.error);
}
