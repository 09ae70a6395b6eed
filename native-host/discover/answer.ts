// Answers to DNS questions, validated at the network boundary: everything behind it is typed.
import type { ServiceRecord } from '@photofinish/shared/race/discovered';

export type QueryKind = 'A' | 'AAAA' | 'HTTPS';

export interface AddressRecord {
  readonly address: string;
  readonly ttlSeconds: number;
}

/** Maximum number of records accepted per answer, from any source; the addon has the same limit (`MOST_RECORDS`). */
export const MOST_RECORDS = 16;

/** How many records an answer had beyond those accepted; absent: none. */
interface Bounded {
  readonly untried?: number;
}

/**
 * Positive and negative answers are both `ok`; an empty list is a negative answer (RFC 2308). CNAMEs are followed by
 * the resolver: the records belong to the name that was queried.
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
