// The door for what content scripts send: values come from pages, so every one is bounded and typed here, once.
import * as v from 'valibot';
import { MAX_BATCH_ENTRIES, MAX_LEFT_BATCHES, MAX_URL_CHARS } from '../../common/timing.ts';

const ms = v.pipe(v.number(), v.finite(), v.minValue(0));
const bytes = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER));

const timingSchema = v.object({
  navigation: v.boolean(),
  url: v.pipe(v.string(), v.startsWith('https://'), v.maxLength(MAX_URL_CHARS)),
  alpn: v.pipe(v.string(), v.maxLength(32)),
  deliveryType: v.pipe(v.string(), v.maxLength(32)),
  startMs: ms,
  endMs: ms,
  firstByteMs: ms,
  transferBytes: bytes,
  bodyBytes: bytes,
  worker: v.boolean(),
  opaque: v.boolean(),
});

export const timingBatchSchema = v.object({
  type: v.literal('timings'),
  source: v.pipe(v.string(), v.uuid()),
  seq: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000)),
  topOrigin: v.nullable(v.pipe(v.string(), v.maxLength(300))),
  startedMs: ms,
  controlled: v.boolean(),
  entries: v.pipe(v.array(timingSchema), v.minLength(1), v.maxLength(MAX_BATCH_ENTRIES)),
});

export const leftSchema = v.object({
  type: v.literal('left'),
  batches: v.pipe(v.array(timingBatchSchema), v.minLength(1), v.maxLength(MAX_LEFT_BATCHES)),
});

export const arrivedSchema = v.object({
  type: v.literal('arrived'),
  arrival: v.picklist(['bfcache', 'prerendered']),
});
