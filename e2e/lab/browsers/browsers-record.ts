// The record of `browsers`: a line for each turn of a client in a sweep, which visits once at every delay, and a line
// for each turn of all clients in which QUIC fails.
import * as v from 'valibot';
import { count, type RecordSchema } from '../journal.ts';
import { avoidanceSchema } from './avoidance.ts';
import { observationSchema } from './observation.ts';

const ms = v.pipe(v.number(), v.finite(), v.minValue(0));

const askedSchema = v.object({
  full: v.boolean(),
  trials: count,
  delaysMs: v.array(ms),
  sweeps: v.array(v.object({ name: v.string(), title: v.string(), late: v.string() })),
  ways: v.array(
    v.object({ name: v.string(), title: v.string(), trials: count, limitMs: v.pipe(v.number(), v.finite()) }),
  ),
  clients: v.array(
    v.object({
      name: v.string(),
      title: v.string(),
      kind: v.picklist(['ours', 'peer', 'browser']),
      version: v.string(),
    }),
  ),
});
export type BrowsersPlan = v.InferOutput<typeof askedSchema>;

const foundSchema = v.object({
  versions: v.record(v.string(), v.string()),
  absent: v.array(v.object({ name: v.string(), title: v.string() })),
});
export type BrowsersFindings = v.InferOutput<typeof foundSchema>;

const turnSchema = v.object({
  kind: v.literal('turn'),
  sweep: v.string(),
  client: v.string(),
  /** Numbers this client's turns in the sweep from 0. */
  turn: count,
  endedAtMs: v.number(),
  /** The load average of one minute when the turn ended. */
  load: v.number(),
  trials: v.array(v.object({ delayMs: ms, ...observationSchema.entries })),
});
const lineSchema = v.variant('kind', [turnSchema, avoidanceSchema]);
export type Line = v.InferOutput<typeof lineSchema>;
export type SweepTurn = v.InferOutput<typeof turnSchema>;

/** Identifies a turn within a run. */
export const turnKey = (sweep: string, client: string, turn: number) => `${sweep} ${client} ${turn}`;

/** Identifies a turn of all clients within a run. */
export const wayKey = (way: string, turn: number) => `${way} ${turn}`;

export const BROWSERS: RecordSchema<BrowsersPlan, BrowsersFindings, Line> = {
  experiment: 'browsers',
  asked: askedSchema,
  found: foundSchema,
  turn: lineSchema,
  keyOf: (line) =>
    line.kind === 'turn' ? turnKey(line.sweep, line.client, line.turn) : wayKey(line.way, line.turn),
};
