// Every message that the helper may send: those of wire.ts, and a race's record.
import * as v from 'valibot';
import { originRaceSchema } from '../race/outcome.ts';
import { briefReplySchema, idSchema } from './wire.ts';

/** One element of the document `photofinish.race/1`. */
export const raceReplySchema = v.object({
  id: idSchema,
  type: v.literal('race'),
  ...originRaceSchema.entries,
});

export const replySchema = v.variant('type', [...briefReplySchema.options, raceReplySchema]);
/** What the helper may send, as parsed. */
export type Reply = v.InferOutput<typeof replySchema>;
/** The same as sent: to older extensions, verdicts are text. */
export type SentReply = v.InferInput<typeof replySchema>;
