// What `paths` records: a line for each turn of a client in a scenario, and one for what the link did in a row.
import * as v from 'valibot';
import { count, type Form, linkReportSchema } from '../journal.ts';
import { labTrialSchema } from '../trial.ts';

const ms = v.pipe(v.number(), v.finite());

const askedSchema = v.object({
  full: v.boolean(),
  /** Trials of each client in each scenario, and why hypotheses cannot be judged on so few. */
  rows: v.array(
    v.object({ name: v.string(), title: v.string(), trials: count, tooFew: v.optional(v.string()) }),
  ),
});

const clientSchema = {
  client: v.string(),
  title: v.string(),
  clientKind: v.picklist(['ours', 'peer', 'browser']),
};

const turnSchema = v.object({
  kind: v.literal('turn'),
  /** The row, and behind a slash the condition where it has several. */
  scenario: v.string(),
  ...clientSchema,
  /** Counts this client's turns in the scenario from 0. */
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

export const PATHS: Form<v.InferOutput<typeof askedSchema>, object, Line> = {
  experiment: 'paths',
  asked: askedSchema,
  found: v.object({}),
  turn: lineSchema,
};
