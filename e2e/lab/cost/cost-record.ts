// The record of `cost`: a line for each segment of a cell, with its samples and whether its load was sustained.
import * as v from 'valibot';
import { count, type Journal, type RecordSchema } from '../journal.ts';
import { type Cell, EXTENTS, OBJECTS, SERVERS } from './cells.ts';

const figure = v.pipe(v.number(), v.finite());
const nullable = v.nullable(figure);

/** Processor time of one process during a sample. */
const timeSchema = v.object({ userMs: figure, systemMs: figure });
const memorySchema = v.nullable(v.object({ rssBytes: figure, pssBytes: figure }));
const socketsSchema = v.nullable(v.object({ tcp: figure, timeWait: figure, udp: figure }));

/** Some seconds of a segment: processor time used in them, memory at their end. */
export const sampleSchema = v.object({
  seconds: figure,
  /** Requests that ended within it, including failed ones. */
  requests: figure,
  server: timeSchema,
  client: timeSchema,
  /** All processes of the link together, which belong to neither client nor server. */
  link: timeSchema,
  /** Of all processors together. */
  idleMs: figure,
  busyMs: figure,
  serverMemory: memorySchema,
  clientMemory: memorySchema,
  serverSockets: socketsSchema,
  clientSockets: socketsSchema,
  /** Of the whole kernel, client and server alike; null if the kernel does not report them. */
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

export const segmentSchema = v.object({
  kind: v.literal('turn'),
  /** The cell. */
  scenario: v.string(),
  /** The cell's segment number, from 0. */
  turn: figure,
  endedAtMs: figure,
  trials: v.array(sampleSchema),
  drive: driveSchema,
  /** Of races of both protocols: how many there were, and how many HTTP/3 won. */
  races: v.object({ of: figure, h3: figure }),
  serverVersion: v.string(),
});
export type SegmentRecord = v.InferOutput<typeof segmentSchema>;

const loadsSchema = v.array(
  v.object({
    server: v.picklist(SERVERS),
    driven: v.array(count),
    notDriven: v.array(v.object({ perSecond: count, why: v.string() })),
  }),
);
export type Loads = v.InferOutput<typeof loadsSchema>;

const askedSchema = v.object({
  seconds: count,
  extent: v.picklist(EXTENTS),
  servers: v.array(v.picklist(SERVERS)),
  objects: v.array(v.picklist(OBJECTS)),
  /** Requested loads; null: determined by trial. */
  loads: v.nullable(v.array(count)),
  cells: v.nullable(v.array(v.string())),
});
export type CostPlan = v.InferOutput<typeof askedSchema>;

const foundSchema = v.object({
  /** Determined by trial, if none were requested. */
  loads: loadsSchema,
  scenarios: v.array(
    v.custom<Cell>((value) => typeof value === 'object' && value !== null && 'way' in value),
  ),
});
export type CostFindings = v.InferOutput<typeof foundSchema>;

/** Identifies a segment within a run. */
export const segmentKey = (cell: string, round: number) => `${cell} ${round}`;

export const COST: RecordSchema<CostPlan, CostFindings, SegmentRecord> = {
  experiment: 'cost',
  asked: askedSchema,
  found: foundSchema,
  turn: segmentSchema,
  keyOf: ({ scenario, turn }) => segmentKey(scenario, turn),
};
export type CostJournal = Journal<CostPlan, CostFindings, SegmentRecord>;
