// Validates instants from files and from pages. Nothing has been observed or raced in the future, so a later instant is a mistake or
// an attack: it would never expire, and sort before everything else.

/** Clocks of two machines differ, and their dates by time zone. */
const AHEAD_MS = 86_400_000;

/** Whether an instant (milliseconds since the epoch, or an ISO 8601 date or time) is later than tomorrow. */
export function isTooLate(instant: number | string, nowMs: number): boolean {
  const atMs = typeof instant === 'number' ? instant : Date.parse(instant);
  // An invalid date must be rejected by the schema.
  return atMs > nowMs + AHEAD_MS;
}
