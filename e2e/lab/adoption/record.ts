// What `adoption` records: a line for each turn of a client, with its trials and what the link did meanwhile.
import * as v from 'valibot';
import { count, type Form, type Journal, linkReportSchema, type Recorded } from '../journal.ts';
import { labTrialSchema } from '../trial.ts';

const kindSchema = v.picklist(['ours', 'peer', 'browser']);

const askedSchema = v.object({
  full: v.boolean(),
  /** Of each kind of client, where nothing else is said of one. */
  trials: v.object({ ours: count, peer: count, browser: count }),
  scenarios: v.array(v.object({ id: v.string(), delayMs: v.number(), loss: v.number() })),
  clients: v.array(
    v.object({
      name: v.string(),
      title: v.string(),
      kind: kindSchema,
      versions: v.record(v.string(), v.string()),
      trials: count,
      /** Trials in one turn. */
      batch: count,
    }),
  ),
});
export type Asked = v.InferOutput<typeof askedSchema>;

const foundSchema = v.object({
  absent: v.array(v.object({ name: v.string(), title: v.string(), kind: kindSchema, why: v.string() })),
});

const turnSchema = v.object({
  kind: v.literal('turn'),
  scenario: v.string(),
  client: v.string(),
  /** Counts this client's turns in the scenario from 0. */
  turn: count,
  endedAtMs: v.number(),
  trials: v.array(labTrialSchema),
  link: linkReportSchema,
});
export type Turn = v.InferOutput<typeof turnSchema>;

/** The client broke off in this scenario; a later run tries it again. */
const crashSchema = v.object({
  kind: v.literal('crash'),
  scenario: v.string(),
  client: v.string(),
  endedAtMs: v.number(),
  error: v.string(),
});

const lineSchema = v.variant('kind', [turnSchema, crashSchema]);
export type Line = v.InferOutput<typeof lineSchema>;

export const ADOPTION: Form<Asked, v.InferOutput<typeof foundSchema>, Line> = {
  experiment: 'adoption',
  asked: askedSchema,
  found: foundSchema,
  turn: lineSchema,
};
export type AdoptionJournal = Journal<Asked, v.InferOutput<typeof foundSchema>, Line>;
export type AdoptionRecord = Recorded<Asked, v.InferOutput<typeof foundSchema>, Line>;
