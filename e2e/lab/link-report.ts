// What the link tells of itself, checked where it is read again.
import * as v from 'valibot';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** Of one direction. */
export const directionReportSchema = v.object({
  delivered: count,
  lost: count,
  overflowed: count,
  oversized: count,
  lateUs: v.nullable(v.object({ median: v.number(), p99: v.number(), max: v.number() })),
  shortestUs: v.nullable(v.number()),
});
export const linkReportSchema = v.object({ up: directionReportSchema, down: directionReportSchema });
