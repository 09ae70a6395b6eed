// The ledger's rows as they come from outside, in a file: checked here, and trusted from then on.

import { VERDICT_CODES } from '@photofinish/shared/race/verdict-schema';
import { adoptionSchema } from '@photofinish/shared/report/adoption';
import { MAX_ALT_SVC_CHARS } from '@photofinish/shared/web/observation';
import { originSchema, siteSchema } from '@photofinish/shared/web/origin';
import { knownProtocolSchema, unknownReasonSchema } from '@photofinish/shared/web/protocol';
import * as v from 'valibot';

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const instant = v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(8.64e15));
const day = v.pipe(v.string(), v.isoDate());
const network = v.pipe(v.string(), v.minLength(1), v.maxLength(128));
const counts = v.object({ h3: count, h2: count, 'http/1.1': count, 'http/1.0': count, unknown: count });
const delivered = v.object({ 'http-cache': count, 'service-worker': count, prefetch: count });

type Counts = v.InferOutput<typeof counts>;

/** Navigations are requests too; what is moved later on relies on it. */
function navigationsAmong(row: { readonly counts: Counts; readonly navigations: Counts }): boolean {
  return (Object.keys(row.counts) as (keyof Counts)[]).every(
    (key) => row.navigations[key] <= row.counts[key],
  );
}
const AMONG = 'more navigations than requests';

const counted = { counts, navigations: counts, delivered, bytes: count };
const asked = { lookups: count, hits: count, scored: count, right: count };

function ratiosHold(row: { lookups: number; hits: number; scored: number; right: number }): boolean {
  return row.hits <= row.lookups && row.right <= row.scored;
}
const RATIOS = 'more hits than look-ups, or more right than scored';

export const recordSchema = v.pipe(
  v.object({
    origin: originSchema,
    site: siteSchema,
    firstSeenMs: instant,
    lastSeenMs: instant,
    protocol: v.nullable(knownProtocolSchema),
    protocolAtMs: v.nullable(instant),
    reason: v.nullable(unknownReasonSchema),
    address: v.nullable(v.pipe(v.string(), v.maxLength(64))),
    ...counted,
    altSvc: v.nullable(v.pipe(v.string(), v.maxLength(MAX_ALT_SVC_CHARS))),
    advertisedSinceMs: v.nullable(instant),
    visitsSinceAdvertised: count,
    visitedPageMs: v.nullable(instant),
    verdict: v.picklist(VERDICT_CODES),
  }),
  v.check((row) => navigationsAmong(row), AMONG),
);

export const daySchema = v.pipe(
  v.object({ day, site: siteSchema, origin: originSchema, network, ...counted, ...asked }),
  v.check((row) => navigationsAmong(row), AMONG),
  v.check((row) => ratiosHold(row), RATIOS),
);

export const totalSchema = v.pipe(
  v.object({ day, network, origins: adoptionSchema, ...counted, ...asked }),
  v.check((row) => navigationsAmong(row), AMONG),
  v.check((row) => ratiosHold(row), RATIOS),
);
