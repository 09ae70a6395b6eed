// The interface of a client under test, which makes cold connections to one origin over the testbed's link, one after
// the other, and the trial that each connection yields, validated where it enters.
import { trialSchema } from '@photofinish/shared/race/outcome';
import { knownProtocolSchema } from '@photofinish/shared/web/protocol';
import * as v from 'valibot';
import type { ServedTestbed } from './testbed.ts';

/**
 * The papers' procedure allows a connection this long before it has failed; a failed trial enters every mean as this.
 */
export const DEADLINE_MS = 30_000;

const ms = v.pipe(v.number(), v.finite(), v.minValue(0));

/** Times are milliseconds from the start of the trial. */
export const labTrialSchema = v.object({
  /** The protocol that the client continued with; null if it failed. */
  adopted: v.nullable(knownProtocolSchema),
  /** The first secure handshake of a connection that was used; null if it failed, or the client does not report it. */
  establishedMs: v.nullable(ms),
  /** The first byte of the response; null if there was none, or the client does not report it. */
  firstByteMs: v.nullable(ms),
  /** Why it failed, in the client's own words. */
  error: v.optional(v.string()),
  /** QUIC datagrams sent until the trial ended, if the client reports them. */
  datagramsSent: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  /** Our own client's complete record, kept for trials that did not adopt HTTP/3. */
  trace: v.optional(trialSchema),
});
export type LabTrial = v.InferOutput<typeof labTrialSchema>;

/** Parses a peer's output, a JSON array. Throws a ValiError for anything else. */
export function parseTrials(json: string): LabTrial[] {
  return v.parse(v.array(labTrialSchema), JSON.parse(json));
}

type TimeKey = 'establishedMs' | 'firstByteMs';

/**
 * The times of all trials, a failed one as 30,000 ms. A missing response is a failure too, if other trials of this
 * client have one. Connections used without a reported establishment time are left out: for a client that never reports
 * times the result is empty.
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

export const clientKindSchema = v.picklist(['ours', 'peer', 'browser']);
export type ClientKind = v.InferOutput<typeof clientKindSchema>;

export interface Client {
  /** Used in results and on the command line: lower-case letters, digits and hyphens. */
  readonly name: string;
  /** Used in tables. */
  readonly title: string;
  readonly kind: ClientKind;
  /** Versions of its components, by name. */
  readonly versions: Readonly<Record<string, string>>;
  /**
   * Runs before a cell, with the link already set: forgets the previous cell, and learns what a client that knows the
   * host has learnt. Not part of the results.
   */
  prepare?(): Promise<void>;
  /** Makes `trials` cold connections one after the other; each yields a trial, whatever its outcome. */
  run(trials: number): Promise<LabTrial[]>;
  close(): Promise<void>;
}

/** A client that is unavailable here; the tables name it. */
export interface UnavailableClient {
  readonly name: string;
  readonly title: string;
  readonly kind: ClientKind;
  readonly why: string;
}

/** Opens a client on a testbed; never rejects because something is not installed. */
export type Opener = (testbed: ServedTestbed) => Promise<Client | UnavailableClient>;

export function isAbsent(entry: Client | UnavailableClient): entry is UnavailableClient {
  return 'why' in entry;
}
