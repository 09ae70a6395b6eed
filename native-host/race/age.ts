// The `Age` field, parsed strictly as a number of seconds: the result is subtracted from lifetimes and sent on.

/** Upper bound for delta-seconds; larger values are read as this (RFC 9111 section 1.2.2). */
const MOST_SECONDS = 2 ** 31;

/**
 * `Age` in seconds (RFC 9111 section 5.1), null if absent. Of several members the first counts; a value that is not a
 * non-negative integer is ignored and gives 0.
 */
export function ageSeconds(value: string | null): number {
  const [first = ''] = (value ?? '').split(',', 1);
  const digits = first.trim();
  return /^[0-9]+$/.test(digits) ? Math.min(Number(digits), MOST_SECONDS) : 0;
}
