// The record of `paths`: a line for each turn of a client in a scenario, and one for the link's report over the whole
// scenario.
import * as v from 'valibot';
import { labTrialSchema } from '../client.ts';
import { count, linkReportSchema, type RecordSchema } from '../journal.ts';

const ms = v.pipe(v.number(), v.finite());

const askedSchema = v.object({
  full: v.boolean(),
  /** Trials of each client in each scenario, and why hypotheses cannot be judged on so few. */
  rows: v.array(
    v.object({ name: v.string(), title: v.string(), trials: count, tooFew: v.optional(v.string()) }),
  ),
});

export type PathsPlan = v.InferOutput<typeof askedSchema>;

const clientSchema = {
  client: v.string(),
  title: v.string(),
  clientKind: v.picklist(['ours', 'peer', 'browser']),
};

const turnSchema = v.object({
  kind: v.literal('turn'),
  /** The scenario, followed by a slash and the condition if it has several. */
  scenario: v.string(),
  ...clientSchema,
  /** Numbers this client's turns in the scenario from 0. */
  turn: count,
  endedAtMs: v.number(),
  trials: v.array(
    v.union([
      labTrialSchema,
      v.strictObject({ afterRefusalMs: ms }),
      v.strictObject({ beyondDeadlineMs: ms }),
      v.strictObject({ medianMs: ms, udpPackets: v.optional(count) }),
    ]),
  ),
});
const absentSchema = v.object({ kind: v.literal('absent'), ...clientSchema, why: v.string() });
const versionsSchema = v.object({ kind: v.literal('versions'), versions: v.record(v.string(), v.string()) });
const linkSchema = v.object({ kind: v.literal('link'), scenario: v.string(), link: linkReportSchema });

const lineSchema = v.variant('kind', [turnSchema, absentSchema, versionsSchema, linkSchema]);
export type Line = v.InferOutput<typeof lineSchema>;
export type PathTrial = v.InferOutput<typeof turnSchema>['trials'][number];

/** Identifies a turn within a run. */
export const turnKey = (scenario: string, client: string, turn: number) => `${scenario} ${client} ${turn}`;

/** The key of a completed scenario is its name. */
function keyOf(line: Line): string | null {
  if (line.kind === 'turn') return turnKey(line.scenario, line.client, line.turn);
  return line.kind === 'link' ? line.scenario : null;
}

export const PATHS: RecordSchema<PathsPlan, object, Line> = {
  experiment: 'paths',
  asked: askedSchema,
  found: v.object({}),
  turn: lineSchema,
  keyOf,
};
