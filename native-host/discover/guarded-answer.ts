// The guard between DNS and everything else: answers are checked before the resolution's state machine sees them, so
// that no name leads into the user's own network, whoever answers for it and however late.
import type { ServiceRecord } from '@photofinish/shared/race/discovered';
import type { AddressPolicy } from '../address/guard.ts';
import type { Answer } from './answer.ts';

export interface GuardedAnswer {
  /** The answer without forbidden addresses. */
  readonly answer: Answer;
  /** Why something was left out, in the guard's words; null: nothing was. */
  readonly note: string | null;
}

interface Sieve {
  pass(address: string): boolean;
  note(): string | null;
}

function sieve(policy: AddressPolicy, nat64Prefix: string | null): Sieve {
  const notes: string[] = [];
  return {
    pass(address) {
      const checked = policy.check([address], nat64Prefix);
      if (!checked.ok) notes.push(checked.message);
      return checked.ok;
    },
    note: () => (notes.length > 1 ? `${notes[0]} (and ${notes.length - 1} more)` : (notes[0] ?? null)),
  };
}

function guardService(service: ServiceRecord, { pass }: Sieve): ServiceRecord {
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
  const gate = sieve(policy, nat64Prefix);
  if (answer.kind === 'HTTPS') {
    const services = answer.services.map((service) => guardService(service, gate));
    return { answer: { ...answer, services }, note: gate.note() };
  }
  const addresses = answer.addresses.filter(({ address }) => gate.pass(address));
  return { answer: { ...answer, addresses }, note: gate.note() };
}
