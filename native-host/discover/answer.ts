// Answers to DNS questions as typed records, and the guard that checks them before the resolution's state machine sees
// them, so that no name leads into the user's own network, whoever answers for it and however late.
import type { ServiceRecord } from '@photofinish/shared/race/discovered';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import type { AddressPolicy } from '../address/guard.ts';

export type QueryKind = 'A' | 'AAAA' | 'HTTPS';

export interface AddressRecord {
  readonly address: string;
  readonly ttlSeconds: number;
}

/** Maximum number of records accepted per answer, from any source; the addon has the same limit. */
export const MAX_RECORDS = 16;

/** `unasked`: DNS was not asked at all, because the hosts file has the name. */
export interface FailedAnswer {
  readonly ok: false;
  readonly kind: QueryKind;
  readonly message: string;
  readonly unasked?: boolean;
}

/**
 * Positive and negative answers are both `ok`; an empty list is a negative answer (RFC 2308). CNAMEs are followed by
 * the resolver: the records belong to the name that was queried. `untried`: how many there were beyond those accepted.
 */
export type Answer =
  | ({ readonly ok: true; readonly untried?: number } & (
      | { readonly kind: 'A' | 'AAAA'; readonly addresses: readonly AddressRecord[] }
      | { readonly kind: 'HTTPS'; readonly services: readonly ServiceRecord[] }
    ))
  | FailedAnswer;

/** Asks one question. Never rejects; an aborted question resolves as failed. */
export interface DnsClient {
  ask(name: string, kind: QueryKind, signal: AbortSignal): Promise<Answer>;
}

/** One refusal for all, a forbidden address before one that is no destination; null: there is none. */
function summary(refusals: readonly AttemptError[]): AttemptError | null {
  const first = refusals.find(({ code }) => code === 'blocked') ?? refusals[0];
  if (first === undefined || refusals.length === 1) return first ?? null;
  return { ...first, message: `${first.message} (and ${refusals.length - 1} more)` };
}

/**
 * Removes forbidden addresses from an answer: A and AAAA records, and the hints of HTTPS records. `note`: why something
 * was left out; null: nothing was.
 */
export function guardAnswer(
  answer: Answer,
  policy: AddressPolicy,
  nat64Prefix: string | null,
): { readonly answer: Answer; readonly note: AttemptError | null } {
  if (!answer.ok) return { answer, note: null };
  const refusals: AttemptError[] = [];
  const passes = (address: string): boolean => {
    const refusal = policy.refusal(address, nat64Prefix);
    if (refusal !== null) refusals.push(refusal);
    return refusal === null;
  };
  if (answer.kind === 'HTTPS') {
    const services = answer.services.map((service) => ({
      ...service,
      ipv4Hints: service.ipv4Hints.filter(passes),
      ipv6Hints: service.ipv6Hints.filter(passes),
    }));
    return { answer: { ...answer, services }, note: summary(refusals) };
  }
  const addresses = answer.addresses.filter(({ address }) => passes(address));
  return { answer: { ...answer, addresses }, note: summary(refusals) };
}
