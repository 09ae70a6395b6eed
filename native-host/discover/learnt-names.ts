// What one discovery learnt from DNS, in order of arrival: recorded with the race and shown to users.
import {
  type AddressSource,
  comparableName,
  type DiscoveredAddress,
  type DnsResults,
  type Lookup,
  type ServiceRecord,
} from '@photofinish/shared/race/discovered';
import { familyOf } from '../address/address-bytes.ts';
import { nat64Of } from '../address/nat64.ts';
import type { Answer, QueryKind } from './answer.ts';
import { targetOf } from './service.ts';

export interface OpenQuery {
  readonly name: string;
  readonly kind: QueryKind;
  readonly askedMs: number;
}

export interface LearntNames {
  /** An address that a race may use. */
  address(found: DiscoveredAddress): void;
  /** A question was asked; it counts as unanswered until `answered`. */
  asked(question: OpenQuery): void;
  /** Its answer after the guard; `note`: what the guard left out. */
  answered(question: OpenQuery, answer: Answer, note: string | null, nowMs: number): void;
  /** Number of addresses and names that a race does not try although answers named them. */
  untried(count: number): void;
  /** An endpoint's address; if it was in no answer, it was synthesised from an IPv4 address with this NAT64 prefix. */
  used(host: string, address: string, nat64Prefix: string | null): void;
  names(nowMs: number): DnsResults;
}

const SOURCES: Record<Exclude<QueryKind, 'HTTPS'>, AddressSource> = { A: 'a', AAAA: 'aaaa' };

/**
 * A record as one of the name queried. If CNAMEs led to another name, the endpoint is still that of the name queried (RFC
 * 9460 section 2.5.2), by which it is attempted.
 */
function asQueried(record: ServiceRecord, name: string): ServiceRecord {
  const { owner } = record;
  return {
    ...record,
    owner: name,
    target: targetOf(record, name),
    ...(comparableName(owner) !== comparableName(name) && { canonical: owner }),
  };
}

/** Identifies a record, so that it counts once when an answer is renewed. */
function identityOf(service: ServiceRecord): string {
  const { ttlSeconds: _, ...identity } = service;
  return JSON.stringify(identity);
}

function outcomeOf(answer: Answer, records: number): Lookup['outcome'] {
  if (!answer.ok) return 'failed';
  return records > 0 ? 'answered' : 'empty';
}

function recordsOf(answer: Answer): number {
  if (!answer.ok) return 0;
  return answer.kind === 'HTTPS' ? answer.services.length : answer.addresses.length;
}

export function createLearntNames(): LearntNames {
  const addresses = new Map<string, DiscoveredAddress>();
  const services = new Map<string, ServiceRecord>();
  const lookups: Lookup[] = [];
  const unanswered = new Set<OpenQuery>();
  /** Records beyond those accepted, by question, because a renewed answer has the same ones. */
  const beyond = new Map<string, number>();
  let untried = 0;

  function find(host: string, address: string): DiscoveredAddress | null {
    for (const found of addresses.values())
      if (found.host === host && found.address === address) return found;
    return null;
  }

  function add(found: DiscoveredAddress): void {
    const key = `${found.host} ${found.address} ${found.source}`;
    if (!addresses.has(key)) addresses.set(key, found);
  }

  function hints({ target, ipv4Hints, ipv6Hints, ttlSeconds }: ServiceRecord): void {
    for (const hint of [...ipv6Hints, ...ipv4Hints])
      add({ host: target, address: hint, source: 'hint', ttlSeconds });
  }

  return {
    address: add,
    asked: (question) => void unanswered.add(question),
    answered(question, answer, note, nowMs) {
      unanswered.delete(question);
      const { name, kind, askedMs } = question;
      const records = recordsOf(answer);
      const message = answer.ok ? note : answer.message;
      const outcome = outcomeOf(answer, records);
      lookups.push({
        name,
        kind,
        tookMs: nowMs - askedMs,
        outcome,
        records,
        ...(message !== null && { message }),
        ...(!answer.ok && answer.unasked && { unasked: true }),
      });
      if (!answer.ok) return;
      if (answer.untried !== undefined) beyond.set(`${kind} ${name}`, answer.untried);
      if (answer.kind !== 'HTTPS') {
        const source = SOURCES[answer.kind];
        for (const { address, ttlSeconds } of answer.addresses)
          add({ host: name, address, source, ttlSeconds });
        return;
      }
      for (const record of answer.services) {
        const service = asQueried(record, name);
        const identity = identityOf(service);
        if (services.has(identity)) continue;
        services.set(identity, service);
        hints(service);
      }
    },
    untried(count) {
      untried = count;
    },
    used(host, address, nat64Prefix) {
      if (nat64Prefix === null || find(host, address) !== null) return;
      const ipv4 = familyOf(address) === 'ipv6' ? nat64Of(nat64Prefix).desynthesize(address) : null;
      const base = ipv4 === null ? null : find(host, ipv4);
      if (base !== null) add({ host, address, source: 'nat64', ttlSeconds: base.ttlSeconds });
    },
    names(nowMs) {
      const open = [...unanswered].map(({ name, kind, askedMs }): Lookup => {
        const message = 'there was no answer when the race needed none any more';
        const tookMs = nowMs - askedMs;
        return { name, kind, tookMs, outcome: 'failed', records: 0, message, unanswered: true };
      });
      const left = beyond.values().reduce((sum, records) => sum + records, untried);
      return {
        addresses: [...addresses.values()],
        services: [...services.values()],
        lookups: [...lookups, ...open],
        ...(left > 0 && { untried: left }),
      };
    },
  };
}
