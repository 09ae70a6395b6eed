// The record of `adoption`, with one line for each turn of a client: its trials and the link's report; and the summary
// of a complete or partial record.
import * as v from 'valibot';
import type { LinkReport } from '../../network/link.ts';
import { clientKindSchema, type LabTrial, labTrialSchema, type UnavailableClient } from '../client.ts';
import {
  count,
  type ExperimentRecord,
  type Journal,
  linkReportSchema,
  type RecordSchema,
  turnKey,
} from '../journal.ts';
import type { Cell } from './turns.ts';

const askedSchema = v.object({
  full: v.boolean(),
  /** By kind of client, unless specified for a client. */
  trials: v.object({ ours: count, peer: count, browser: count }),
  scenarios: v.array(v.object({ id: v.string(), delayMs: v.number(), loss: v.number() })),
  clients: v.array(
    v.object({
      name: v.string(),
      title: v.string(),
      kind: clientKindSchema,
      versions: v.record(v.string(), v.string()),
      trials: count,
      /** Trials per turn. */
      batch: count,
    }),
  ),
});
export type AdoptionPlan = v.InferOutput<typeof askedSchema>;

const foundSchema = v.object({
  absent: v.array(v.object({ name: v.string(), title: v.string(), kind: clientKindSchema, why: v.string() })),
});

export type AdoptionFindings = v.InferOutput<typeof foundSchema>;

const turnSchema = v.object({
  kind: v.literal('turn'),
  scenario: v.string(),
  client: v.string(),
  /** Numbers this client's turns in the scenario from 0. */
  turn: count,
  endedAtMs: v.number(),
  trials: v.array(labTrialSchema),
  link: linkReportSchema,
});
type Turn = v.InferOutput<typeof turnSchema>;

/** The client crashed in this scenario; a later run tries it again. */
const crashSchema = v.object({
  kind: v.literal('crash'),
  scenario: v.string(),
  client: v.string(),
  endedAtMs: v.number(),
  error: v.string(),
});

const lineSchema = v.variant('kind', [turnSchema, crashSchema]);
export type Line = v.InferOutput<typeof lineSchema>;

export const ADOPTION: RecordSchema<AdoptionPlan, AdoptionFindings, Line> = {
  experiment: 'adoption',
  asked: askedSchema,
  found: foundSchema,
  turn: lineSchema,
  keyOf: (line) => (line.kind === 'turn' ? turnKey(line.scenario, line.client, line.turn) : null),
};
export type AdoptionJournal = Journal<AdoptionPlan, AdoptionFindings, Line>;
type AdoptionRecord = ExperimentRecord<AdoptionPlan, AdoptionFindings, Line>;

/** The results of one cell: every single trial, and the link's reports. */
export interface CellResult {
  readonly cell: Cell;
  /** By client name; clients not measured here are absent. */
  readonly trials: Readonly<Record<string, readonly LabTrial[]>>;
  /** One for each turn of a client, in turn order. */
  readonly link: readonly { readonly client: string; readonly report: LinkReport }[];
  /** Clients that crashed here, with their error; their trials are those of earlier turns. */
  readonly crashed?: Readonly<Record<string, string>>;
}

export interface AdoptionResult {
  readonly absent: readonly UnavailableClient[];
  readonly cells: readonly CellResult[];
}

function cellResult({ meta, turns: lines }: AdoptionRecord, cell: Cell): CellResult {
  const here = lines.filter(({ scenario }) => scenario === cell.id);
  const trials: Record<string, readonly LabTrial[]> = {};
  const crashed: Record<string, string> = {};
  for (const { name } of meta.asked.clients) {
    const own = here.filter(({ client }) => client === name);
    const last = own.at(-1);
    if (last?.kind === 'crash') crashed[name] = last.error;
    const turns = own.filter((line) => line.kind === 'turn');
    if (turns.length > 0) trials[name] = turns.flatMap((turn) => turn.trials);
  }
  const turns = here.filter((line): line is Turn => line.kind === 'turn');
  return {
    cell,
    trials,
    link: turns.map(({ client, link }) => ({ client, report: link })),
    ...(Object.keys(crashed).length > 0 && { crashed }),
  };
}

/** How many of the requested trials are in the run's cells. */
export function progress(recorded: AdoptionRecord): { readonly made: number; readonly asked: number } {
  const { clients, scenarios } = recorded.meta.asked;
  const perCell = clients.reduce((sum, { trials }) => sum + trials, 0);
  const made = collect(recorded)
    .cells.flatMap(({ trials }) => Object.values(trials))
    .reduce((sum, trials) => sum + trials.length, 0);
  return { made, asked: perCell * scenarios.length };
}

/** The input for the expectations of `quick`. */
export function collect(recorded: AdoptionRecord): AdoptionResult {
  const { asked, found } = recorded.meta;
  return {
    absent: found.absent,
    cells: asked.scenarios.map((cell) => cellResult(recorded, cell)),
  };
}
