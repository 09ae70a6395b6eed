// What one site may add to what is remembered. A page can name as many hosts as it likes, and every one would be a record
// for a year: whoever keeps records of origins asks here before it begins another.

/** Far more than any real site names in a day; the busiest of news pages come to some hundreds. */
export const MAX_NEW_ORIGINS_A_DAY = 2000;

const DAY_MS = 24 * 3_600_000;

/** The day, counted from the epoch in UTC, in which an instant lies. */
export function dayOf(epochMs: number): number {
  return Math.floor(epochMs / DAY_MS);
}

/** Whether a site that has added so many origins today may add another. */
export function mayAddOrigin(addedToday: number, most: number = MAX_NEW_ORIGINS_A_DAY): boolean {
  return addedToday < most;
}
