// The door between races and discovery: what a race may ask of names, and what it is told. Behind it every address has
// passed the guard, and nothing in front of it ever resolves a name.

import type { Names } from '@photofinish/shared/race/discovered';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import type { Alternative } from '@photofinish/shared/web/alt-svc';
import type { OriginParts } from '@photofinish/shared/web/origin';
import type { Endpoint } from './endpoint.ts';

/** What is remembered of an address, for the historical rules of the draft (section 5.3). */
export interface AddressHistory {
  readonly srttMs: number;
  readonly usedAtMs: number;
}

export interface DiscoveryQuery {
  readonly origin: OriginParts;
  /** Unexpired HTTP/3 alternatives known beforehand. */
  readonly alternatives: readonly Alternative[];
  /** Try HTTP/3 at the origin's own port although nothing advertises it (P2); else only where it is advertised. */
  readonly assumeH3: boolean;
  readonly history: ReadonlyMap<string, AddressHistory>;
}

/** A settled discovery: endpoints in the draft's order, at least one. */
export type Discovery =
  | { readonly ok: true; readonly endpoints: readonly Endpoint[]; readonly names: Names }
  | { readonly ok: false; readonly error: AttemptError; readonly names: Names };

/** The whole list in its order each time; `final`: no further list will come. */
export type DiscoveryNews =
  | { readonly type: 'endpoints'; readonly endpoints: readonly Endpoint[]; readonly final: boolean }
  | { readonly type: 'failed'; readonly error: AttemptError };

export interface LiveDiscovery {
  /** What was learnt so far. */
  names(): Names;
  /** No listener is called after this. */
  cancel(): void;
}

/** Where alternatives lead, and what was asked to find that out. */
export interface FollowedAlternatives {
  readonly endpoints: readonly Endpoint[];
  readonly names: Names;
}

export interface Discovering {
  /** Runs a discovery to its end: every answer is in, or the resolution delay has passed. Never rejects. */
  settle(query: DiscoveryQuery, signal: AbortSignal): Promise<Discovery>;
  /** Begins one whose answers arrive while connections are already attempted. */
  begin(query: DiscoveryQuery, listener: (news: DiscoveryNews) => void): LiveDiscovery;
  /**
   * The endpoints of alternatives that an answer just named; those of the origin's own host need no look-up. Gives no
   * endpoint for what does not resolve or is forbidden; `names` then says why. Never rejects.
   */
  follow(
    origin: OriginParts,
    alternatives: readonly Alternative[],
    signal: AbortSignal,
  ): Promise<FollowedAlternatives>;
}
