// What a DNS question can be answered with, checked where the network is left behind: everything further in is typed.
import type { ServiceRecord } from '@photofinish/shared/race/discovered';

export type QueryKind = 'A' | 'AAAA' | 'HTTPS';

export interface AddressRecord {
  readonly address: string;
  readonly ttlSeconds: number;
}

/** Records of one answer that are taken in, whoever gives it; the addon's own bound (`MOST_RECORDS`). */
export const MOST_RECORDS = 16;

/** How many records an answer had beyond those taken in; absent: none. */
interface Bounded {
  readonly untried?: number;
}

/**
 * Positive and negative answers are both `ok`; an empty list is a negative one (RFC 2308). CNAMEs are followed by the
 * resolver: the records belong to the name that was asked for.
 */
export type Answer =
  | ({
      readonly ok: true;
      readonly kind: 'A' | 'AAAA';
      readonly addresses: readonly AddressRecord[];
    } & Bounded)
  | ({ readonly ok: true; readonly kind: 'HTTPS'; readonly services: readonly ServiceRecord[] } & Bounded)
  | { readonly ok: false; readonly kind: QueryKind; readonly message: string };

/** Asks one question. Never rejects; an aborted question resolves as failed. */
export interface DnsClient {
  ask(name: string, kind: QueryKind, signal: AbortSignal): Promise<Answer>;
}
