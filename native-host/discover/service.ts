// Interprets an HTTPS answer (RFC 9460): an alias, a service that does not exist, or services in the order in which to
// try them. Parameters of different records are never mixed.
import type { ServiceRecord } from '@photofinish/shared/race/discovered';
import type { TransportName } from '@photofinish/shared/race/terms';
import { FNV_BASIS, fnv1a } from '@photofinish/shared/web/fnv';

/** A ServiceMode record and the transports implied by its own ALPN set. */
export interface Service {
  readonly record: ServiceRecord;
  readonly transports: readonly TransportName[];
}

export type ServiceAnswer =
  | { readonly type: 'alias'; readonly target: string }
  | { readonly type: 'unavailable' }
  | { readonly type: 'services'; readonly services: readonly Service[] };

/**
 * Reads the records of one answer, each answer once. Incompatible records are left out first (sections 2.2 and 8). An
 * AliasMode record makes all ServiceMode records beside it void (section 2.4.1), and one whose target is the root says
 * that there is no such service (section 2.5.1). Records whose protocols we do not support are kept without
 * transports, because of what they exclude. `random` shuffles equal priorities, in the same way for the lifetime of the
 * reader.
 */
export function createServiceReader(
  random: () => number,
): (records: readonly ServiceRecord[]) => ServiceAnswer {
  const seed = Math.floor(random() * 2 ** 32);
  const answers = new WeakMap<readonly ServiceRecord[], ServiceAnswer>();
  return (records) => {
    const known = answers.get(records) ?? read(records, seed);
    answers.set(records, known);
    return known;
  };
}

function read(records: readonly ServiceRecord[], seed: number): ServiceAnswer {
  const ordered = inOrder(
    records.filter((record) => !record.incompatible),
    seed,
  );
  const alias = ordered.find((record) => record.priority === 0);
  if (alias !== undefined)
    return alias.target === ROOT ? { type: 'unavailable' } : { type: 'alias', target: alias.target };
  return {
    type: 'services',
    services: ordered.map((record) => ({ record, transports: transportsOf(record) })),
  };
}

/**
 * By priority (section 2.4.1); equal priorities in an order determined by the seed alone, so that sorting again changes
 * nothing.
 */
function inOrder(records: readonly ServiceRecord[], seed: number): ServiceRecord[] {
  return records
    .map((record) => ({ record, key: shuffled(seed, identityOf(record)) }))
    .sort((a, b) => a.record.priority - b.record.priority || a.key - b.key)
    .map(({ record }) => record);
}

/** Identifies a record, also when its answer is renewed. */
export function identityOf(record: ServiceRecord): string {
  return JSON.stringify({ ...record, ttlSeconds: undefined });
}

/** A pseudo-random number for a text: FNV-1a starting from the seed, then the finalisation of MurmurHash3. */
function shuffled(seed: number, text: string): number {
  let hash = fnv1a(text, FNV_BASIS ^ seed);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The name of DNS's root. */
const ROOT = '.';

/**
 * The transports of a record that we support (section 7.1.2). The default set of https is `http/1.1`, unless the record
 * removes it (section 9); HTTP/2 and HTTP/1.1 share one TCP attempt, in which ALPN selects one.
 */
function transportsOf({ alpn, noDefaultAlpn }: ServiceRecord): TransportName[] {
  const transports: TransportName[] = [];
  if (alpn.includes('h3')) transports.push('h3');
  if (!noDefaultAlpn || alpn.includes('h2') || alpn.includes('http/1.1')) transports.push('h2');
  return transports;
}

/**
 * The host that a record in the answer for `name` points to. If CNAMEs led from the name to the record's owner, they do so
 * for its addresses too, which are queried by that name.
 */
export function targetOf({ owner, target }: ServiceRecord, name: string): string {
  return target === owner ? name : target;
}
