// The interface between races and discovery. Behind it every address has passed the guard, and nothing in front of it
// ever resolves a name.

import type { Names } from '@photofinish/shared/race/discovered';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import type { Alternative } from '@photofinish/shared/web/alt-svc';
import type { OriginParts } from '@photofinish/shared/web/origin';
import type { Endpoint } from './endpoint.ts';

/** What is remembered about an address, for the draft's rules on history (section 5.3). */
export interface AddressHistory {
  readonly srttMs: number;
  readonly usedAtMs: number;
}

export interface DiscoveryQuery {
  readonly origin: OriginParts;
  /** Unexpired HTTP/3 alternatives known beforehand. */
  readonly alternatives: readonly Alternative[];
  /** Try HTTP/3 at the origin's own port although nothing advertises it (P2); otherwise only where it is advertised. */
  readonly assumeH3: boolean;
  readonly history: ReadonlyMap<string, AddressHistory>;
}

/** A completed discovery: at least one endpoint, in the draft's order. */
export type Discovery =
  | { readonly ok: true; readonly endpoints: readonly Endpoint[]; readonly names: Names }
  | { readonly ok: false; readonly error: AttemptError; readonly names: Names };

/** Always the whole sorted list; `final`: no further list will come. */
export type DiscoveryNews =
  | { readonly type: 'endpoints'; readonly endpoints: readonly Endpoint[]; readonly final: boolean }
  | { readonly type: 'failed'; readonly error: AttemptError };

export interface LiveDiscovery {
  /** What was learnt so far. */
  names(): Names;
  /** No listener is called after this. */
  cancel(): void;
}

/** Endpoints of alternatives, and the questions asked to find them. */
export interface FollowedAlternatives {
  readonly endpoints: readonly Endpoint[];
  readonly names: Names;
}

export interface Discovering {
  /** Runs a discovery until every answer is in, or the resolution delay has passed. Never rejects. */
  settle(query: DiscoveryQuery, signal: AbortSignal): Promise<Discovery>;
  /** Starts a discovery whose answers arrive while connections are already attempted. */
  begin(query: DiscoveryQuery, listener: (news: DiscoveryNews) => void): LiveDiscovery;
  /**
   * The endpoints of alternatives named by an answer; those on the origin's own host need no look-up. Alternatives that
   * do not resolve or are forbidden give no endpoint; `names` then says why. Never rejects.
   */
  follow(
    origin: OriginParts,
    alternatives: readonly Alternative[],
    signal: AbortSignal,
  ): Promise<FollowedAlternatives>;
}
