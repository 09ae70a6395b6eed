// One cold connection as any client of the laboratory reports it: the common language of ours, the peers and the
// browsers, checked where it enters.
import { trialSchema } from '@photofinish/shared/race/outcome';
import { knownProtocolSchema } from '@photofinish/shared/web/protocol';
import * as v from 'valibot';

/** What the papers' procedure gives a connection before it has failed; a failed trial enters every mean as this. */
export const DEADLINE_MS = 30_000;

const ms = v.pipe(v.number(), v.finite(), v.minValue(0));

/** Times are milliseconds from the start of the trial. */
export const labTrialSchema = v.object({
  /** What the client went on to use; null: nothing, it failed. */
  adopted: v.nullable(knownProtocolSchema),
  /** The first secure handshake of a connection that was used; null where it failed, or the client does not tell. */
  establishedMs: v.nullable(ms),
  /** The first byte of the answer; null where there was none, or the client does not tell. */
  firstByteMs: v.nullable(ms),
  /** Why it failed, in the client's own words. */
  error: v.optional(v.string()),
  /** QUIC datagrams sent until the trial ended, where the client tells. */
  datagramsSent: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  /** Our own client's whole record, kept for trials that did not adopt HTTP/3. */
  trace: v.optional(trialSchema),
});
export type LabTrial = v.InferOutput<typeof labTrialSchema>;

/** What a peer prints: one JSON array. Throws a ValiError for anything else. */
export function parseTrials(json: string): LabTrial[] {
  return v.parse(v.array(labTrialSchema), JSON.parse(json));
}

export type TimeKey = 'establishedMs' | 'firstByteMs';

/**
 * The times of all trials, a failed one as 30,000 ms. An answer that never came, though others of this client did, is a
 * failure too. Left out are connections that were used without the client telling when they were established: with a
 * client that never tells a time the result is empty.
 */
export function timesOf(trials: readonly LabTrial[], key: TimeKey): number[] {
  const succeeded = trials.filter(({ adopted }) => adopted !== null);
  const tells = succeeded.length === 0 || succeeded.some((trial) => trial[key] !== null);
  if (!tells) return [];
  return trials.flatMap((trial) => {
    if (trial.adopted === null) return DEADLINE_MS;
    return trial[key] ?? (key === 'firstByteMs' ? DEADLINE_MS : []);
  });
}
