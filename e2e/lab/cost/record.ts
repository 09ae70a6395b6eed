// What `cost` records: a line for each segment of a cell, with its samples and whether its load was driven.
import * as v from 'valibot';
import { count, type Form, type Journal } from '../journal.ts';
import { type Cell, EXTENTS, OBJECTS, SERVERS } from './cells.ts';
import { type Measured, measuredSchema } from './measured.ts';

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
  /** Loads asked for; null: found by trying. */
  loads: v.nullable(v.array(count)),
  cells: v.nullable(v.array(v.string())),
});
export type Asked = v.InferOutput<typeof askedSchema>;

const foundSchema = v.object({
  /** By trying, where none were asked for. */
  loads: loadsSchema,
  scenarios: v.array(
    v.custom<Cell>((value) => typeof value === 'object' && value !== null && 'way' in value),
  ),
});
export type Found = v.InferOutput<typeof foundSchema>;

export const COST: Form<Asked, Found, Measured> = {
  experiment: 'cost',
  asked: askedSchema,
  found: foundSchema,
  turn: measuredSchema,
};
export type CostJournal = Journal<Asked, Found, Measured>;
