// Instants that come in files. Nothing has been observed or raced after today, so a later one is a mistake or a trick: it
// would never expire, and sort before everything that happens.

/** Clocks of two machines differ, and their days by time zone. */
const AHEAD_MS = 86_400_000;

/** Whether an instant (milliseconds since the epoch, or an ISO 8601 date or time) lies later than tomorrow. */
export function isTooLate(instant: number | string, nowMs: number): boolean {
  const atMs = typeof instant === 'number' ? instant : Date.parse(instant);
  // What is no date at all is the schema's to refuse.
  return atMs > nowMs + AHEAD_MS;
}
