// What memory tells a race about an origin's paths without deciding its protocol: the known host of memory `hints`.
import type { SharedOutcome } from '@photofinish/shared/race/outcome';
import type { AttemptErrorCode } from '@photofinish/shared/race/terms';
import type { AddressHistory } from '../discover/discovering.ts';

/** A path's history over one transport, in milliseconds (RFC 6298, RFC 9002 section 5). */
export interface PathHint {
  readonly srttMs: number;
  readonly rttvarMs: number;
  /** Time to established without loss; null: never established. */
  readonly handshakeMs: number | null;
  /** Share of sent packets lost, from 0 to 1; null if the transport does not report it. */
  readonly lossRate: number | null;
}

export interface Hints {
  readonly h3: PathHint | null;
  readonly h2: PathHint | null;
  /** HTTP/3 failed here while TCP worked, and is avoided until then (milliseconds since the epoch). */
  readonly h3Broken: { readonly code: AttemptErrorCode; readonly untilMs: number } | null;
  /** What races of other machines found, as long as this one has no evidence of its own; null: nothing. */
  readonly shared: SharedOutcome | null;
  /** By address literal. */
  readonly addresses: ReadonlyMap<string, AddressHistory>;
}

/** Nothing is known. */
export const NO_HINTS: Hints = {
  h3: null,
  h2: null,
  h3Broken: null,
  shared: null,
  addresses: new Map(),
};
