// What a DNS question can be answered with, checked where the network is left behind: everything further in is typed.
import type { ServiceRecord } from '@photofinish/shared/discovered';

export type QueryKind = 'A' | 'AAAA' | 'HTTPS';

export interface AddressRecord {
  readonly address: string;
  readonly ttlSeconds: number;
}

/**
 * Positive and negative answers are both `ok`; an empty list is a negative one (RFC 2308). CNAMEs are followed by the
 * resolver: the records belong to the name that was asked for.
 */
export type Answer =
  | { readonly ok: true; readonly kind: 'A' | 'AAAA'; readonly addresses: readonly AddressRecord[] }
  | { readonly ok: true; readonly kind: 'HTTPS'; readonly services: readonly ServiceRecord[] }
  | { readonly ok: false; readonly kind: QueryKind; readonly message: string };

/** Asks one question. Never rejects; an aborted question resolves as failed. */
export interface DnsClient {
  ask(name: string, kind: QueryKind, signal: AbortSignal): Promise<Answer>;
}
