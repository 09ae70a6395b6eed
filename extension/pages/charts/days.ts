// UTC days as an axis: their range, which of them get a label, and how they are written.
import { catalogLanguage } from '@photofinish/shared/language/catalog';

/** Start of a UTC day (`2026-11-21`) in milliseconds since the epoch. */
export function dayStartMs(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

function dateText(day: string, parts: Intl.DateTimeFormatOptions, withYear: boolean): string {
  const options = { ...parts, year: withYear ? 'numeric' : undefined, timeZone: 'UTC' } as const;
  return new Intl.DateTimeFormat(catalogLanguage(), options).format(dayStartMs(day));
}

/** A day in the reader's language, with its year only on request. */
export function dayText(day: string, withYear: boolean): string {
  return dateText(day, { day: 'numeric', month: 'short' }, withYear);
}

export interface DayTick {
  /** Index into the days. */
  readonly index: number;
  readonly label: string;
}

/** Up to this number of days, single days or weeks are labelled; beyond it, months. */
const MAX_DAYS_BY_WEEK = 62;

/** Days that get a label, at most `most` of them at even distances: single days, weeks, or first days of months. */
export function dayTicks(days: readonly string[], most: number): DayTick[] {
  const limit = Math.max(1, most);
  if (days.length > MAX_DAYS_BY_WEEK) {
    const firsts = days.flatMap((day, index) => (day.endsWith('-01') ? [{ day, index }] : []));
    const every = Math.ceil(firsts.length / limit);
    const shown = firsts.filter((_, i) => i % every === 0);
    return shown.map(({ day, index }, i) => {
      const year = day.slice(0, 4);
      // January may be among those without a label.
      const begins = day.startsWith('01', 5) || (shown[i - 1]?.day ?? year) < year;
      return { index, label: dateText(day, { month: 'short' }, begins) };
    });
  }
  const every = [1, 2, 7, 14, 28].find((step) => days.length / step <= limit) ?? days.length;
  // Counted from the newest, so that today always has a label.
  return days
    .map((day, index) => ({ index, label: dayText(day, false) }))
    .filter(({ index }) => (days.length - 1 - index) % every === 0);
}
