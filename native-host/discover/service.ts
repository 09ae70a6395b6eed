// What an HTTPS answer means (RFC 9460): an alias, a service that does not exist, or services in the order in which
// they are to be tried. One record's parameters are never mixed with another's.
import type { ServiceRecord } from '@photofinish/shared/race/discovered';
import type { TransportName } from '@photofinish/shared/race/outcome';
import { DEFAULT_HTTPS_PORT } from '@photofinish/shared/web/origin';

/** The name that HTTPS records of an authority are published under (RFC 9460 section 9.1). */
export function httpsQueryName(host: string, port: number): string {
  return port === DEFAULT_HTTPS_PORT ? host : `_${port}._https.${host}`;
}

/** A ServiceMode record and the transports that its own ALPN set implies. */
export interface Service {
  readonly record: ServiceRecord;
  readonly transports: readonly TransportName[];
}

export type ServiceAnswer =
  | { readonly type: 'alias'; readonly target: string }
  | { readonly type: 'unavailable' }
  | { readonly type: 'services'; readonly services: readonly Service[] };

/**
 * The transports of a record that we can speak (section 7.1.2). The default set of https is `http/1.1`, unless the
 * record takes it away (section 9); HTTP/2 and HTTP/1.1 share one TCP attempt, whose handshake chooses.
 */
function transportsOf({ alpn, noDefaultAlpn }: ServiceRecord): TransportName[] {
  const transports: TransportName[] = [];
  if (alpn.includes('h3')) transports.push('h3');
  if (!noDefaultAlpn || alpn.includes('h2') || alpn.includes('http/1.1')) transports.push('h2');
  return transports;
}

/** A pseudo-random number for a text: FNV-1a begun from the seed, then the finishing steps of MurmurHash3. */
function shuffled(seed: number, text: string): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** By priority (section 2.4.1); equals by a shuffle that the seed alone decides, so that sorting again changes nothing. */
function inOrder(records: readonly ServiceRecord[], seed: number): ServiceRecord[] {
  return records
    .map((record) => {
      const { ttlSeconds: _, ...identity } = record;
      return { record, key: shuffled(seed, JSON.stringify(identity)) };
    })
    .sort((a, b) => a.record.priority - b.record.priority || a.key - b.key)
    .map(({ record }) => record);
}

function read(records: readonly ServiceRecord[], seed: number): ServiceAnswer {
  const ordered = inOrder(
    records.filter((record) => !record.incompatible),
    seed,
  );
  const alias = ordered.find((record) => record.priority === 0);
  if (alias !== undefined)
    return alias.target === alias.owner ? { type: 'unavailable' } : { type: 'alias', target: alias.target };
  return {
    type: 'services',
    services: ordered.map((record) => ({ record, transports: transportsOf(record) })),
  };
}

/**
 * Reads the records of one answer, each answer once. Incompatible records are left out first (sections 2.2 and 8). An
 * AliasMode record makes every ServiceMode record beside it void (section 2.4.1), and one whose target is its own owner
 * says that there is no such service (section 2.5.1). Records whose protocols we do not speak are kept, with no transports,
 * for what they refuse. `random` shuffles equal priorities, the same way for as long as the reader lives.
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
