// A client under test: a way to make cold connections to one origin over the testbed's link, one after the other, all with
// the same interface, and the trial that each connection gives, checked where it enters.
import { trialSchema } from '@photofinish/shared/race/outcome';
import { knownProtocolSchema } from '@photofinish/shared/web/protocol';
import * as v from 'valibot';
import type { ServedTestbed } from './testbed.ts';

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

type TimeKey = 'establishedMs' | 'firstByteMs';

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

export type ClientKind = 'ours' | 'peer' | 'browser';

export interface Client {
  /** In results and on the command line: small letters, digits and hyphens. */
  readonly name: string;
  /** In tables. */
  readonly title: string;
  readonly kind: ClientKind;
  /** Of what it is made of, by name. */
  readonly versions: Readonly<Record<string, string>>;
  /**
   * Before a cell, its link being in place already: forgets the last cell, and learns what a known host has taught. None
   * of it counts.
   */
  prepare?(): Promise<void>;
  /** Makes that many cold connections one after the other; each gives a trial, whatever became of it. */
  run(trials: number): Promise<LabTrial[]>;
  close(): Promise<void>;
}

/** One that cannot be had here; the tables name it. */
export interface Absent {
  readonly name: string;
  readonly title: string;
  readonly kind: ClientKind;
  readonly why: string;
}

/** Opens a client on a testbed; never rejects because something is not installed. */
export type Opener = (testbed: ServedTestbed) => Promise<Client | Absent>;

export function isAbsent(entry: Client | Absent): entry is Absent {
  return 'why' in entry;
}
