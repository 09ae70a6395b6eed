// Races as a helper would report them, with their evidence, their verdicts and the HTTPS records of resolvers, for the
// tests of everything that evaluates, reads or draws one.
import type { DnsResults, ServiceRecord } from '../race/discovered.ts';
import type { Attempt, AttemptError, DiscoveryEvidence, OriginRace, Trial } from '../race/outcome.ts';
import { compareTrials, MAX_PAIRS, statistics } from '../race/statistics.ts';
import { type Verdict, type VerdictCode, verdictAsWritten } from '../race/verdict-schema.ts';
import type { Report, ReportOrigin } from '../report/report.ts';
import type { Evidence } from '../verdict/evidence.ts';
import { gainMsOf } from '../verdict/gain.ts';
import { otherFindings, verdictText } from '../verdict/verdict-text.ts';
import { type Origin, originParts } from '../web/origin.ts';

export const SAMPLE_ORIGIN = 'https://example.org' as Origin;

/** A documentation address (RFC 5737). */
export const SAMPLE_ADDRESS = '192.0.2.1';

export function attempt(over: Partial<Attempt> & Pick<Attempt, 'protocol' | 'outcome'>): Attempt {
  return { address: SAMPLE_ADDRESS, port: 443, startedMs: 0, establishedMs: null, ...over };
}

export function trial(attempts: Attempt[], adopted: Trial['adopted'] = 'h3'): Trial {
  const winner = attempts.find((a) => a.protocol === adopted);
  return {
    adopted,
    establishedMs: winner?.establishedMs ?? null,
    firstByteMs: winner?.firstByteMs ?? null,
    lateH3: false,
    cacheHit: false,
    attempts,
  };
}

export function originRace(trials: Trial[], over: Partial<OriginRace> = {}): OriginRace {
  const adopted = (protocol: string) => trials.filter((t) => t.adopted === protocol).length;
  return {
    origin: SAMPLE_ORIGIN,
    network: 'net',
    mode: 'race',
    memory: 'none',
    startDelayMs: 10,
    atMs: 1_000,
    trials,
    summary: {
      trials: trials.length,
      adoption: { h3: adopted('h3'), h2: adopted('h2'), 'http/1.1': adopted('http/1.1') },
      failed: trials.filter((t) => t.adopted === null).length,
      gainMs: null,
      establishedMs: statistics(trials.flatMap((t) => (t.establishedMs === null ? [] : [t.establishedMs]))),
    },
    discovered: { altSvc: 'h3=":443"', knownRoot: true },
    verdict: verdictSaying('h3-available', 'Supports HTTP/3 on this network.'),
    ...over,
  };
}

/** A `compare` run: two trials per pair, each of one protocol alone, in alternating order. */
export function comparison(h3Ms: number[], h2Ms: number[]): OriginRace {
  const trials = h3Ms.flatMap((h3, i) => {
    const h2 = h2Ms[i] ?? 0;
    const fast = attempt({ protocol: 'h3', outcome: 'adopted', establishedMs: h3, firstByteMs: h3 * 2 });
    const old = { transportMs: h2 / 2, establishedMs: h2, firstByteMs: h2 * 2 };
    const pair = [trial([fast]), trial([attempt({ protocol: 'h2', outcome: 'adopted', ...old })], 'h2')];
    return i % 2 === 0 ? pair : pair.toReversed();
  });
  const race = originRace(trials, { mode: 'compare' });
  const shown = compareTrials(trials);
  const compared = shown === null ? {} : { comparison: { ...shown, most: MAX_PAIRS } };
  const gainMs = shown === null ? null : gainMsOf(shown);
  return { ...race, summary: { ...race.summary, ...compared, gainMs, establishedMs: null } };
}

/** A clear result: ten pairs whose times vary by this many milliseconds around their medians. */
export function clearComparison(h3Ms: number, h2Ms: number, strayMs = 1): OriginRace {
  const strays = [0, 1, -1, 0, 1, -1, 0, 1, -1, 0].map((share) => share * strayMs);
  return comparison(
    strays.map((ms) => h3Ms + ms),
    strays.toReversed().map((ms) => h2Ms + ms),
  );
}

export function reportOrigin(over: Partial<ReportOrigin> = {}): ReportOrigin {
  return {
    origin: SAMPLE_ORIGIN,
    protocols: { h3: 3, h2: 1, 'http/1.1': 0, unknown: 2 },
    bytes: 12_345,
    hidden: 2,
    verdict: verdictSaying('h3-used', 'Reached over HTTP/3.'),
    // Comparing costs more than all the rest, and large reports are made of origins without races.
    races: over.races ?? [clearComparison(11, 21)],
    ...over,
  };
}

export function report(origins: ReportOrigin[] = [reportOrigin()], over: Partial<Report> = {}): Report {
  return {
    schema: 'photofinish.report/2',
    createdAt: '2026-01-02T03:04:05.000Z',
    period: { from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T03:04:05.000Z' },
    browser: { name: 'chromium', version: '156.0' },
    network: 'net',
    sites: [
      {
        site: 'example.org',
        origins,
        adoption: {
          byRequest: { h3: 3, known: 4, hidden: 2 },
          byOrigin: { h3: 1, known: 1, hidden: 0 },
          byNavigation: { h3: 1, known: 2, hidden: 0 },
        },
        hidden: 2,
        hitRatio: { hits: 1, of: 2 },
        accuracy: { hits: 0, of: 0 },
      },
    ],
    ...over,
  };
}

/** A verdict with exactly these texts, with others that also hold. */
export function verdictSaying(
  code: VerdictCode,
  text: string,
  ...others: readonly (readonly [code: VerdictCode, text: string])[]
): Verdict {
  const findings = others.map(([other, said]) => ({ code: other, text: said }));
  return verdictAsWritten({ code, text, findings });
}

/** The text of a verdict, then those of all its other findings. */
export function allTexts(verdict: Verdict): string[] {
  return [verdictText(verdict), ...otherFindings(verdict).map(({ text }) => text)];
}

/** By default in ServiceMode, for the name itself and without parameters. */
export function serviceRecord(name: string, over: Partial<ServiceRecord> = {}): ServiceRecord {
  return {
    owner: name,
    priority: 1,
    target: name,
    alpn: [],
    noDefaultAlpn: false,
    port: null,
    ipv4Hints: [],
    ipv6Hints: [],
    ech: false,
    incompatible: false,
    ttlSeconds: 300,
    ...over,
  };
}

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
