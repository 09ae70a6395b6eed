// The answer before a navigation: which protocols a host supports here, and which one this browser will use now. The
// two are separate facts: a browser's h2 never overrides a raced h3 in `reachable`.
import * as v from 'valibot';
import { originSchema } from '../web/origin.ts';
import { protocolSchema } from '../web/protocol.ts';

const ageMs = v.nullable(v.pipe(v.number(), v.finite(), v.minValue(0)));

export const forecastSchema = v.object({
  origin: originSchema,
  /** What the host supports on this network. */
  reachable: v.object({
    protocol: protocolSchema,
    /**
     * `shared`: by races that machines of the organisation shared, possibly this one; it has no evidence of its own that
     * counts here.
     */
    basis: v.picklist(['raced', 'advertised', 'shared', 'none']),
    /** Age of the evidence in milliseconds; null without evidence. */
    ageMs,
    fresh: v.boolean(),
  }),
  /** What the requesting browser will use now, from its own history with this origin and site. */
  expected: v.object({
    protocol: protocolSchema,
    basis: v.picklist(['observed', 'advertised', 'none']),
  }),
  /** A fresh entry was found (P1's hit); counted for the hit ratio. */
  hit: v.boolean(),
});
export type Forecast = v.InferOutput<typeof forecastSchema>;

/** Accuracy's numerator and denominator (never a bare ratio): forecasts that were right, forecasts scored. */
export interface Accuracy {
  readonly right: number;
  readonly scored: number;
}
