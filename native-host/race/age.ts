// The `Age` field, which is a number of seconds and nothing else: what comes of it is taken off lifetimes and sent on.

/** No cached response is older than this: delta-seconds beyond are read as this (RFC 9111 section 1.2.2). */
const MOST_SECONDS = 2 ** 31;

/**
 * `Age` in seconds (RFC 9111 section 5.1); null: there is none. Of several members the first counts, and one that is no
 * non-negative integer is ignored: 0.
 */
export function ageSeconds(value: string | null): number {
  const [first = ''] = (value ?? '').split(',', 1);
  const digits = first.trim();
  return /^[0-9]+$/.test(digits) ? Math.min(Number(digits), MOST_SECONDS) : 0;
}
