// Validates instants from files, from pages, and from a clock that has since been corrected. Nothing has been observed or
// raced in the future, so a later instant is a mistake or an attack: it would never expire, and sort before everything
// else.

/** Clocks of two machines differ, and their dates by time zone. */
const AHEAD_MS = 86_400_000;

/** Whether an instant (milliseconds since the epoch, or an ISO 8601 date or time) is later than tomorrow. */
export function isTooLate(instant: number | string, nowMs: number): boolean {
  const atMs = typeof instant === 'number' ? instant : Date.parse(instant);
  // An invalid date must be rejected by the schema.
  return atMs > nowMs + AHEAD_MS;
}

/**
 * A machine's own clock, while it is right, is corrected by seconds. A later time is that of a clock that was wrong, such
 * as one that took local time for UTC at boot.
 */
const MAX_CORRECTION_MS = 60_000;

/** Whether this machine's own record is from a clock that was ahead: it would be newer than everything until that time. */
export function isAhead(atMs: number, nowMs: number): boolean {
  return atMs > nowMs + MAX_CORRECTION_MS;
}
