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
import { identityOf, targetOf } from './service.ts';

export interface OpenQuery {
  readonly name: string;
  readonly kind: QueryKind;
  readonly askedMs: number;
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

function outcomeOf(answer: Answer, records: number): Lookup['outcome'] {
  if (!answer.ok) return 'failed';
  return records > 0 ? 'answered' : 'empty';
}

function recordsOf(answer: Answer): number {
  if (!answer.ok) return 0;
  return answer.kind === 'HTTPS' ? answer.services.length : answer.addresses.length;
}

/** The names and addresses of one discovery, none learnt yet. */
export class LearntNames {
  readonly #addresses = new Map<string, DiscoveredAddress>();
  readonly #services = new Map<string, ServiceRecord>();
  readonly #lookups: Lookup[] = [];
  readonly #unanswered = new Set<OpenQuery>();
  /** Records beyond those accepted, by question, because a renewed answer has the same ones. */
  readonly #beyond = new Map<string, number>();
  #untried = 0;

  /** An address that a race may use. */
  address(found: DiscoveredAddress): void {
    const key = `${found.host} ${found.address} ${found.source}`;
    if (!this.#addresses.has(key)) this.#addresses.set(key, found);
  }

  /** A question was asked; it counts as unanswered until `answered`. */
  asked(question: OpenQuery): void {
    this.#unanswered.add(question);
  }

  /** Its answer after the guard; `note`: what the guard left out. */
  answered(question: OpenQuery, answer: Answer, note: string | null, nowMs: number): void {
    this.#unanswered.delete(question);
    const { name, kind, askedMs } = question;
    const records = recordsOf(answer);
    const message = answer.ok ? note : answer.message;
    this.#lookups.push({
      name,
      kind,
      tookMs: nowMs - askedMs,
      outcome: outcomeOf(answer, records),
      records,
      ...(message !== null && { message }),
      ...(!answer.ok && answer.unasked && { unasked: true }),
    });
    if (!answer.ok) return;
    if (answer.untried !== undefined) this.#beyond.set(`${kind} ${name}`, answer.untried);
    if (answer.kind === 'HTTPS') for (const record of answer.services) this.#service(asQueried(record, name));
    else
      for (const { address, ttlSeconds } of answer.addresses)
        this.address({ host: name, address, source: SOURCES[answer.kind], ttlSeconds });
  }

  /** Number of addresses and names that a race does not try although answers named them. */
  untried(count: number): void {
    this.#untried = count;
  }

  /** An endpoint's address; if it was in no answer, it was synthesised from an IPv4 address with this NAT64 prefix. */
  used(host: string, address: string, nat64Prefix: string | null): void {
    if (nat64Prefix === null || this.#find(host, address) !== undefined) return;
    const ipv4 = familyOf(address) === 'ipv6' ? nat64Of(nat64Prefix).desynthesize(address) : null;
    const base = ipv4 === null ? undefined : this.#find(host, ipv4);
    if (base !== undefined) this.address({ host, address, source: 'nat64', ttlSeconds: base.ttlSeconds });
  }

  names(nowMs: number): DnsResults {
    const open = [...this.#unanswered].map(({ name, kind, askedMs }): Lookup => {
      const message = 'no answer had arrived when the race ended';
      const tookMs = nowMs - askedMs;
      return { name, kind, tookMs, outcome: 'failed', records: 0, message, unanswered: true };
    });
    const left = this.#beyond.values().reduce((sum, records) => sum + records, this.#untried);
    return {
      addresses: [...this.#addresses.values()],
      services: [...this.#services.values()],
      lookups: [...this.#lookups, ...open],
      ...(left > 0 && { untried: left }),
    };
  }

  #find(host: string, address: string): DiscoveredAddress | undefined {
    return this.#addresses.values().find((found) => found.host === host && found.address === address);
  }

  #service(service: ServiceRecord): void {
    const identity = identityOf(service);
    if (this.#services.has(identity)) return;
    this.#services.set(identity, service);
    const { target, ipv4Hints, ipv6Hints, ttlSeconds } = service;
    for (const address of [...ipv6Hints, ...ipv4Hints])
      this.address({ host: target, address, source: 'hint', ttlSeconds });
  }
}
