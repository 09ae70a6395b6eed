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

/** How many records an answer had beyond those accepted; absent: none. */
interface RecordBound {
  readonly untried?: number;
}

/** `unasked`: DNS was not asked at all, because the hosts file has the name. */
export interface FailedAnswer {
  readonly ok: false;
  readonly kind: QueryKind;
  readonly message: string;
  readonly unasked?: boolean;
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
    } & RecordBound)
  | ({ readonly ok: true; readonly kind: 'HTTPS'; readonly services: readonly ServiceRecord[] } & RecordBound)
  | FailedAnswer;

/** Asks one question. Never rejects; an aborted question resolves as failed. */
export interface DnsClient {
  ask(name: string, kind: QueryKind, signal: AbortSignal): Promise<Answer>;
}

export interface GuardedAnswer {
  /** The answer without forbidden addresses. */
  readonly answer: Answer;
  /** Why something was left out; null: nothing was. */
  readonly note: AttemptError | null;
}

interface AddressFilter {
  pass(address: string): boolean;
  note(): AttemptError | null;
}

function addressFilter(policy: AddressPolicy, nat64Prefix: string | null): AddressFilter {
  const notes: AttemptError[] = [];
  return {
    pass(address) {
      const refusal = policy.refusal(address, nat64Prefix);
      if (refusal !== null) notes.push(refusal);
      return refusal === null;
    },
    note() {
      const first = notes.find(({ code }) => code === 'blocked') ?? notes[0];
      if (first === undefined || notes.length === 1) return first ?? null;
      return { ...first, message: `${first.message} (and ${notes.length - 1} more)` };
    },
  };
}

function guardService(service: ServiceRecord, { pass }: AddressFilter): ServiceRecord {
  const ipv4Hints = service.ipv4Hints.filter(pass);
  const ipv6Hints = service.ipv6Hints.filter(pass);
  return { ...service, ipv4Hints, ipv6Hints };
}

/** Removes forbidden addresses from an answer: A and AAAA records, and the hints of HTTPS records. */
export function guardAnswer(
  answer: Answer,
  policy: AddressPolicy,
  nat64Prefix: string | null,
): GuardedAnswer {
  if (!answer.ok) return { answer, note: null };
  const filter = addressFilter(policy, nat64Prefix);
  if (answer.kind === 'HTTPS') {
    const services = answer.services.map((service) => guardService(service, filter));
    return { answer: { ...answer, services }, note: filter.note() };
  }
  const addresses = answer.addresses.filter(({ address }) => filter.pass(address));
  return { answer: { ...answer, addresses }, note: filter.note() };
}
