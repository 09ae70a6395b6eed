// What a segment of a cell has measured, as the journal keeps it: every sample, and whether the load was driven.
import * as v from 'valibot';

const figure = v.pipe(v.number(), v.finite());
const nullable = v.nullable(figure);

/** Processor time of one process in a sample's time. */
const timeSchema = v.object({ userMs: figure, systemMs: figure });
const memorySchema = v.nullable(v.object({ rssBytes: figure, pssBytes: figure }));
const socketsSchema = v.nullable(v.object({ tcp: figure, timeWait: figure, udp: figure }));

/** Some seconds of a segment: processor time spent in them, memory at their end. */
export const sampleSchema = v.object({
  seconds: figure,
  /** Requests that were over within it, failed ones included. */
  requests: figure,
  server: timeSchema,
  client: timeSchema,
  /** The link's processes together, which belong to neither. */
  link: timeSchema,
  /** Of all processors together. */
  idleMs: figure,
  busyMs: figure,
  serverMemory: memorySchema,
  clientMemory: memorySchema,
  serverSockets: socketsSchema,
  clientSockets: socketsSchema,
  /** Of the whole kernel, client and server alike; null where it does not show them. */
  bufferBytes: nullable,
  slabBytes: nullable,
});
export type Sample = v.InferOutput<typeof sampleSchema>;

const driveSchema = v.object({
  lateP99Ms: nullable,
  rateShare: figure,
  failedShare: figure,
  idleShare: figure,
  why: v.array(v.string()),
});

export const measuredSchema = v.object({
  kind: v.literal('turn'),
  /** The cell. */
  scenario: v.string(),
  /** Of the segments of the cell, from 0. */
  turn: figure,
  endedAtMs: figure,
  trials: v.array(sampleSchema),
  drive: driveSchema,
  /** Of races of both protocols at once: how many there were, and how many HTTP/3 won. */
  races: v.object({ of: figure, h3: figure }),
  serverVersion: v.string(),
});
export type Measured = v.InferOutput<typeof measuredSchema>;

const MODES_OF_RACES: ReadonlySet<string> = new Set(['naive', 'race']);

/** Whether a request of that mode opened both protocols, so that one could win. */
export function isRace(mode: string): boolean {
  return MODES_OF_RACES.has(mode);
}
