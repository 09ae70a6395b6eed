// The state of steering as it is stored.
import { originSchema } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import type { SteerState } from './plan.ts';

export const STATE_VERSION = 1;
const time = v.pipe(v.number(), v.finite());
const storedSchema = v.object({
  version: v.literal(STATE_VERSION),
  chosen: v.array(originSchema),
  steerings: v.array(
    v.object({
      origin: originSchema,
      direction: v.picklist(['to-h3', 'from-h3']),
      ruleId: v.pipe(v.number(), v.integer(), v.minValue(1)),
      network: v.string(),
      untilMs: time,
      heardAtMs: v.nullable(time),
      misses: v.pipe(v.number(), v.integer(), v.minValue(0)),
      undoing: v.boolean(),
    }),
  ),
  undone: v.record(originSchema, v.picklist(['network', 'failed', 'expired', 'changed'])),
});

/** The state that was stored; null: it is none. */
export function steerStateOf(stored: unknown): SteerState | null {
  const parsed = v.safeParse(storedSchema, stored);
  return parsed.success ? parsed.output : null;
}
