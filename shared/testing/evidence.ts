// Evidence as produced by races, for the tests of everything that evaluates it.
import type { DnsResults, ServiceRecord } from '../race/discovered.ts';
import type { Attempt, AttemptError, DiscoveryEvidence } from '../race/outcome.ts';
import type { Evidence } from '../verdict/evidence.ts';
import type { Origin } from '../web/origin.ts';
import { originParts } from '../web/origin.ts';
import { attempt, serviceRecord } from './race-samples.ts';

const origin = originParts('https://a.test' as Origin);
export const refused: AttemptError = { code: 'udp-refused', message: 'refused' };
export const silent: AttemptError = { code: 'udp-timeout', message: 'no answer' };
export const dead: AttemptError = { code: 'tcp-refused', message: 'connection refused' };
export const quiet = { altSvc: null, knownRoot: true };
export const own: DiscoveryEvidence = { altSvc: 'h3=":443"', knownRoot: true };

/** An attempt over HTTP/3: established, or failed with the error. */
export function h3(error: AttemptError | null = null, over: Partial<Attempt> = {}): Attempt {
  return error === null
    ? attempt({ protocol: 'h3', outcome: 'adopted', establishedMs: 2, ...over })
    : attempt({ protocol: 'h3', outcome: 'failed', error, ...over });
}

export function h2(error: AttemptError | null = null, over: Partial<Attempt> = {}): Attempt {
  return { ...h3(error, over), protocol: 'h2' };
}

export const base: Evidence = { origin, attempts: [h3(), h2()], discovered: own, gain: null };

export function names(services: Partial<ServiceRecord>[], over: Partial<DnsResults> = {}): DnsResults {
  const records = services.map((s) => serviceRecord('a.test', { alpn: ['h3', 'h2'], ...s }));
  return { addresses: [], lookups: [], services: records, ...over };
}

/** DNS has not answered whether there is an HTTPS record. */
export const unheard = names([], {
  lookups: [{ name: 'a.test', kind: 'HTTPS', tookMs: 5000, outcome: 'failed', records: 0 }],
});

/** DNS was not asked, because the address was given. */
export const unasked = names([], {
  addresses: [{ host: 'a.test', address: '192.0.2.1', source: 'pin', ttlSeconds: null }],
});

/** `b.test` was queried for both types of address without a result. */
export const unresolved: DnsResults['lookups'] = (['A', 'AAAA'] as const).map((kind) => ({
  ...{ name: 'b.test', kind, tookMs: 3, outcome: 'empty', records: 0 },
}));

export const misdirected: AttemptError = { code: 'misdirected', message: 'responded with 421' };
export const wrongName: AttemptError = { code: 'certificate-invalid', message: 'name', reason: 'wrong-name' };
export const at444 = { altSvc: 'h3=":444"', knownRoot: true };
export const atB = { altSvc: 'h3="b.test:444"', knownRoot: true };
export const onB = { host: 'b.test', port: 444, source: 'alt-svc' } as const;
