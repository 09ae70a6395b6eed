// Input and output of the resolution's state machine: the complete interface between it and its driver.
import type { Alternative } from '@photofinish/shared/web/alt-svc';
import type { OriginParts } from '@photofinish/shared/web/origin';
import type { Answer, QueryKind } from './answer.ts';
import type { AddressHistory, Endpoint } from './discovering.ts';

/** `resolution`: the resolution delay (section 4.2); `expiry`: the TTL of the first answer in use has expired (4.4). */
export type ResolutionTimer = 'resolution' | 'expiry';

/** Times are milliseconds from the start of the trial. */
export type ResolutionEvent =
  | { readonly type: 'answer'; readonly query: number; readonly answer: Answer }
  | { readonly type: 'timer'; readonly timer: ResolutionTimer };

/** Actions to carry out, in order. */
export type ResolutionAction =
  | { readonly type: 'query'; readonly query: number; readonly name: string; readonly kind: QueryKind }
  | { readonly type: 'timer'; readonly timer: ResolutionTimer; readonly atMs: number | null }
  /**
   * The first one means: start connecting. `final`: no further list unless an answer expires. `untried`: number of
   * further known addresses and names that a race does not try.
   */
  | {
      readonly type: 'endpoints';
      readonly endpoints: readonly Endpoint[];
      readonly final: boolean;
      readonly untried: number;
    }
  /** Every answer is in, and there is no endpoint. */
  | { readonly type: 'failed'; readonly code: 'no-address' | 'dns-failed'; readonly message: string };

/** The families that the machine can send from (section 4.1), and the preferred one. */
export interface Connectivity {
  readonly ipv6: boolean;
  readonly ipv4: boolean;
  readonly preferred: 'ipv6' | 'ipv4';
  /** By which to synthesise (RFC 6052), for example `64:ff9b::/96`; null: IPv4 has a route, or none was found. */
  readonly nat64Prefix: string | null;
}

export interface ResolutionOptions {
  readonly origin: OriginParts;
  /** Unexpired HTTP/3 alternatives known beforehand. */
  readonly alternatives: readonly Alternative[];
  readonly assumeH3: boolean;
  readonly connectivity: Connectivity;
  readonly history: ReadonlyMap<string, AddressHistory>;
  /** Source address that the system would use for a destination, null without a route. Required by RFC 6724. */
  readonly sourceFor: (destination: string) => string | null;
  /** The address that the user gave for this port of a host, whose other ports have others; null: none. */
  readonly pinAt?: (host: string, port: number) => string | null;
  /** Whether the addresses of a host are known without DNS, and used whatever their family; absent: of none. */
  readonly isGiven?: (host: string) => boolean;
  /** At least 0 and below 1; shuffles services of equal priority (section 5.2). */
  readonly random: () => number;
}
