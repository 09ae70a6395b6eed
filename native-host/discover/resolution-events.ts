// What goes into the resolution's state machine and what comes out of it: the whole language between it and its driver.
import type { Alternative } from '@photofinish/shared/web/alt-svc';
import type { OriginParts } from '@photofinish/shared/web/origin';
import type { Answer, QueryKind } from './answer.ts';
import type { AddressHistory } from './discovering.ts';
import type { Endpoint } from './endpoint.ts';

/** `resolution`: the resolution delay (section 4.2); `expiry`: the first used answer has outlived its TTL (4.4). */
export type ResolutionTimer = 'resolution' | 'expiry';

/** Times are milliseconds from the start of the trial. */
export type ResolutionEvent =
  | { readonly type: 'answer'; readonly query: number; readonly answer: Answer }
  | { readonly type: 'timer'; readonly timer: ResolutionTimer };

/** What is to be done, in order. */
export type ResolutionAction =
  | { readonly type: 'query'; readonly query: number; readonly name: string; readonly kind: QueryKind }
  | { readonly type: 'timer'; readonly timer: ResolutionTimer; readonly atMs: number | null }
  /**
   * The first one means: start connecting. `final`: nothing more is to come unless an answer expires. `untried`: how many
   * addresses and names are known of beside them that a race does not go to.
   */
  | {
      readonly type: 'endpoints';
      readonly endpoints: readonly Endpoint[];
      readonly final: boolean;
      readonly untried: number;
    }
  /** Every answer is in and no endpoint came of them. */
  | { readonly type: 'failed'; readonly code: 'no-address' | 'dns-failed'; readonly message: string };

/** Which families the machine can send from (section 4.1), and which of them it prefers. */
export interface Connectivity {
  readonly ipv6: boolean;
  readonly ipv4: boolean;
  readonly preferred: 'ipv6' | 'ipv4';
  /** The network's NAT64 prefix (RFC 6052), for example `64:ff9b::/96`; null: none was found. */
  readonly nat64Prefix: string | null;
}

export interface ResolutionOptions {
  readonly origin: OriginParts;
  /** Unexpired HTTP/3 alternatives known beforehand. */
  readonly alternatives: readonly Alternative[];
  readonly assumeH3: boolean;
  readonly connectivity: Connectivity;
  readonly history: ReadonlyMap<string, AddressHistory>;
  /** Source address that the system would use to reach a destination, null: no route. RFC 6724 needs it. */
  readonly sourceFor: (destination: string) => string | null;
  /** From 0 to below 1; shuffles services of equal priority (section 5.2). */
  readonly random: () => number;
}
