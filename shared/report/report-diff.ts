// `photofinish.report-diff/2`: two reports compared. What changed, before and after with the counts behind it, and
// which conditions differ; the rules that determine it are in `report-compare`.
import * as v from 'valibot';
import { TRANSPORTS } from '../race/terms.ts';
import { VERDICT_CODES, verdictSchema } from '../race/verdict-schema.ts';
import { type ObservationModes, ONLY_FULL, observationModesSchema, unitedModes } from '../web/observation.ts';
import { originSchema, siteSchema } from '../web/origin.ts';
import { knownProtocolSchema } from '../web/protocol.ts';
import { count } from '../web/untrusted.ts';
import { adoptionSchema } from './adoption.ts';
import { reportSchema } from './report.ts';

export const REPORT_DIFF_SCHEMA = 'photofinish.report-diff/2';

const finite = v.pipe(v.number(), v.finite());

/** Two sides of one item; null: that side has none. */
function sides<const S extends v.GenericSchema>(schema: S) {
  return v.object({ before: schema, after: schema });
}

/** Conditions of the two reports that differ; append-only. */
export const CONDITIONS = [
  'browser',
  'version',
  'network',
  /** One period is much longer than the other. */
  'length',
  /** The periods of reports of one browser overlap, so that requests may be counted in both. */
  'overlap',
  /** The "before" report covers a later time. */
  'order',
  /** One was counted in another mode, or only partly in the same one. */
  'modes',
  /** A network of one of them is not known, so that it may be another one. */
  'unknown-network',
] as const;

export const conditionSchema = v.object({
  condition: v.picklist(CONDITIONS),
  before: v.string(),
  after: v.string(),
  /** It alone could explain a difference, whatever the servers did. */
  unfair: v.boolean(),
});
export type DiffCondition = v.InferOutput<typeof conditionSchema>;

/** Why an origin is listed; append-only. */
export const CHANGES = [
  'appeared',
  'disappeared',
  'h3-began',
  'h3-ended',
  /** The share of HTTP/3 differs in integer percent. */
  'share',
  /** The set of protocols used changed. */
  'protocols',
  /** Its protocols became known, or hidden. */
  'visibility',
  'verdict',
  /** The gain of HTTP/3 is clearly larger on one side than on the other, on one network. */
  'gain',
] as const;
export type Change = (typeof CHANGES)[number];

/** Changes that are derived from shares, and therefore mean little with few requests. */
export const SHARE_CHANGES: ReadonlySet<Change> = new Set(['h3-began', 'h3-ended', 'share', 'protocols']);

const protocolsSchema = reportSchema.entries.sites.item.entries.origins.item.entries.protocols;

/** The newest comparison of a side, times in milliseconds. */
export const gainSchema = v.object({
  /** Difference of the medians, whether clear or not. */
  gainMs: finite,
  h3Ms: v.pipe(finite, v.minValue(0)),
  h2Ms: v.pipe(finite, v.minValue(0)),
  /** The protocol that HTTP/3 was compared with; absent: HTTP/2. */
  old: v.optional(knownProtocolSchema),
  pairs: count,
  /**
   * The transport that is clearly faster; null: no clear difference. Absent, like the range, in reports from before it
   * was stored.
   */
  quicker: v.optional(v.nullable(v.picklist(TRANSPORTS))),
  /** Interval of the median difference, pair by pair. */
  lowMs: v.optional(finite),
  highMs: v.optional(finite),
  network: v.string(),
  atMs: v.pipe(finite, v.minValue(0)),
});
export type DiffGain = v.InferOutput<typeof gainSchema>;

export const originDiffSchema = v.object({
  origin: originSchema,
  changes: v.pipe(v.array(v.picklist(CHANGES)), v.minLength(1)),
  protocols: sides(v.nullable(protocolsSchema)),
  adoption: sides(v.nullable(adoptionSchema)),
  /** Too few known requests on one side for its share to mean much. */
  few: v.boolean(),
  /** What each says about its own code. */
  verdict: sides(v.nullable(verdictSchema)),
  /** How each was observed; absent in comparisons from before it was stored. */
  modes: v.optional(sides(v.nullable(observationModesSchema))),
  gain: sides(v.nullable(gainSchema)),
});
export type OriginDiff = v.InferOutput<typeof originDiffSchema>;

/** How a side of an origin was observed; those that do not say are from before there was a second mode. */
export function modesOfSide({ modes }: OriginDiff, side: 'before' | 'after'): ObservationModes {
  return modes?.[side] ?? ONLY_FULL;
}

const adoptionsSchema = reportSchema.entries.sites.item.entries.adoption;

export const siteDiffSchema = v.object({
  site: siteSchema,
  adoption: sides(v.nullable(adoptionsSchema)),
  /** Origins of both sides that are not listed, because none of the above changed. */
  unchanged: count,
  /** The most used first. */
  origins: v.array(originDiffSchema),
});
export type SiteDiff = v.InferOutput<typeof siteDiffSchema>;

const sideSchema = v.pick(reportSchema, [
  'createdAt',
  'period',
  'browser',
  'network',
  'networks',
  'networkNames',
  'modes',
  'language',
]);
export type DiffSide = v.InferOutput<typeof sideSchema>;

export const reportDiffSchema = v.object({
  schema: v.literal(REPORT_DIFF_SCHEMA),
  ...sides(sideSchema).entries,
  conditions: v.array(conditionSchema),
  total: v.object({
    adoption: sides(adoptionsSchema),
    /** By request over the origins that both sides have: the change without those that appeared or disappeared. */
    common: v.object({ origins: count, ...sides(adoptionSchema).entries }),
    origins: v.object({ ...sides(count).entries, changed: count, unchanged: count }),
    /** Origins by verdict. */
    verdicts: v.array(v.object({ code: v.picklist(VERDICT_CODES), ...sides(count).entries })),
  }),
  /** Sites with any change, alphabetically. */
  sites: v.array(siteDiffSchema),
});
export type ReportDiff = v.InferOutput<typeof reportDiffSchema>;

/** How the two reports were observed, together. */
export function modesOfBoth({ before, after }: Pick<ReportDiff, 'before' | 'after'>): ObservationModes {
  return unitedModes(before.modes, after.modes);
}
