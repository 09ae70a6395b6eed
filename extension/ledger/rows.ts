// Changes of rows inside a transaction, each with what hangs on them: totals move with days, verdicts with records
// and races. Whoever changes a row changes it here.
import type { Origin } from '@photofinish/shared/origin';
import type { OriginRace } from '@photofinish/shared/outcome';
import { verdictOfRecord } from '../verdict.ts';
import { racesOf, recordsOf } from './ranges.ts';
import { type OriginRecord, RACES_PER_ORIGIN } from './schema.ts';
import { type DayChange, emptyTotal, movedTotal } from './totals.ts';
import type { Writing } from './transaction.ts';

/** Puts changed rows of days and moves the totals by as much. */
export async function putDays(tx: Writing, changes: readonly DayChange[]): Promise<void> {
  const days = tx.objectStore('days');
  const totals = tx.objectStore('totals');
  const byTotal = Map.groupBy(changes, ({ after }) => `${after.day} ${after.network}`);
  await Promise.all([
    // Async, so that one that is refused at once is heard of together with those under way.
    ...changes.map(async ({ after }) => void (await days.put(after))),
    ...[...byTotal.values()].map(async (group) => {
      const [{ after }] = group as [DayChange, ...DayChange[]];
      const { day, network } = after;
      const total = (await totals.get([day, network])) ?? emptyTotal(day, network);
      await totals.put(group.reduce(movedTotal, total));
    }),
  ]);
}

/** The newest race of an origin. */
export async function newestRace(tx: Writing, origin: Origin): Promise<OriginRace | undefined> {
  return (await tx.objectStore('races').openCursor(racesOf(origin), 'prev'))?.value;
}

/** Puts a record with the verdict that it and the newest race of its origin come to. */
export async function putRecord(tx: Writing, record: OriginRecord): Promise<void> {
  const verdict = verdictOfRecord(record, await newestRace(tx, record.origin)).code;
  await tx.objectStore('records').put({ ...record, verdict });
}

/** Keeps a race, and of its origin the newest RACES_PER_ORIGIN; judges the origin's records on every site anew. */
export async function putRace(tx: Writing, race: OriginRace): Promise<void> {
  const races = tx.objectStore('races');
  await races.put(race);
  const keys = await races.getAllKeys(racesOf(race.origin));
  for (const key of keys.slice(0, -RACES_PER_ORIGIN)) await races.delete(key);
  const newest = await newestRace(tx, race.origin);
  const records = tx.objectStore('records');
  for (const record of await records.getAll(recordsOf(race.origin))) {
    const verdict = verdictOfRecord(record, newest).code;
    if (verdict !== record.verdict) await records.put({ ...record, verdict });
  }
}
