// The record of `p1`: a line for each turn of a cell.
import * as v from 'valibot';
import { OBJECTS } from '../cost/cells.ts';
import { count, type Journal, type RecordSchema } from '../journal.ts';
import { type Cell, SECURITIES } from './cells.ts';
import { loadSchema, TRANSPORTS } from './contenders.ts';

const figure = v.pipe(v.number(), v.finite());
const nullable = v.nullable(figure);

const turnSchema = v.object({
  kind: v.literal('turn'),
  /** The cell. */
  scenario: v.string(),
  /** The round, from 0. */
  turn: count,
  endedAtMs: figure,
  /** Of the whole turn, from the first request to the end of the last connection. */
  trials: v.array(
    v.object({
      seconds: figure,
      /** Connections that ended, including those of races before the first request. */
      requests: figure,
      /** The server's processor time, precise; user and kernel in hundredths of a second. */
      serverMs: figure,
      serverUserMs: figure,
      serverSystemMs: figure,
      /** The process that carries the link's packets, and on whose account the kernel processes what arrives. */
      linkMs: figure,
      serverPssBytes: nullable,
      /** In the middle of the turn, of the whole kernel; null if it does not report them. */
      bufferBytes: nullable,
      slabBytes: nullable,
    }),
  ),
  drive: v.object({ idleShare: figure, why: v.array(v.string()) }),
  load: loadSchema,
});
export type TurnRecord = v.InferOutput<typeof turnSchema>;

const planSchema = v.object({
  seconds: count,
  full: v.boolean(),
  objects: v.array(v.picklist(OBJECTS)),
  securities: v.array(v.picklist(SECURITIES)),
  /** Requested loads; null: determined by trial. */
  loads: v.nullable(v.array(count)),
  cells: v.nullable(v.array(v.string())),
  /** The contender of TCP. */
  sctp: v.picklist(TRANSPORTS),
});
export type P1Plan = v.InferOutput<typeof planSchema>;

const loadsSchema = v.array(
  v.object({
    objectBytes: v.picklist(OBJECTS),
    security: v.picklist(SECURITIES),
    driven: v.array(count),
    notDriven: v.array(v.object({ perSecond: count, why: v.string() })),
  }),
);
export type Loads = v.InferOutput<typeof loadsSchema>;

const foundSchema = v.object({
  loads: loadsSchema,
  /** SCTP's retransmission timers, those of the kernel's TCP. */
  timers: v.record(v.string(), figure),
  scenarios: v.array(
    v.custom<Cell>((value) => typeof value === 'object' && value !== null && 'way' in value),
  ),
});
export type P1Findings = v.InferOutput<typeof foundSchema>;

/** Identifies a turn within a run. */
export const turnKey = (cell: string, round: number) => `${cell} ${round}`;

export const P1: RecordSchema<P1Plan, P1Findings, TurnRecord> = {
  experiment: 'p1',
  asked: planSchema,
  found: foundSchema,
  turn: turnSchema,
  keyOf: ({ scenario, turn }) => turnKey(scenario, turn),
};
export type P1Journal = Journal<P1Plan, P1Findings, TurnRecord>;
