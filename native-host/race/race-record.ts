// The record of a race: its trials, what was learnt about the origin, a summary of each series and when it has enough
// pairs, and the verdict. It contains data chosen by servers and resolvers, so it is cut to the bounds of its schema,
// and what is left out is counted, so that the rest is not mistaken for the whole.
import { altSvcOverOf, lastReceived } from '@photofinish/shared/race/alt-svc-over';
import { timedTrials } from '@photofinish/shared/race/conclusive';
import type { DiscoveredAlternative, DnsResults, ServiceRecord } from '@photofinish/shared/race/discovered';
import type {
  Attempt,
  AttemptError,
  CacheUse,
  Comparison,
  DiscoveryEvidence,
  LeftOut,
  OriginRace,
  Summary,
  Trial,
} from '@photofinish/shared/race/outcome';
import {
  compareTrials,
  MAX_PAIRS,
  MIN_PAIRS,
  roundedMs,
  statistics,
  wholePairs,
} from '@photofinish/shared/race/statistics';
import { type Mode, TRANSPORTS, type TransportName } from '@photofinish/shared/race/terms';
import { gainMsOf } from '@photofinish/shared/verdict/gain';
import { evidenceOfRace, verdictOf } from '@photofinish/shared/verdict/verdict';
import {
  cut,
  MAX_ADDRESSES,
  MAX_ALPN_CHARS,
  MAX_ALPNS,
  MAX_ALTERNATIVES,
  MAX_ATTEMPTS,
  MAX_DNS_NAME_CHARS,
  MAX_HINTS,
  MAX_KEPT_ALT_SVC_CHARS,
  MAX_LABEL_CHARS,
  MAX_LOOKUPS,
  MAX_MESSAGE_CHARS,
  MAX_SERVICES,
  printableDeep,
} from '@photofinish/shared/web/untrusted';
import type { DrivenTrial, ReceivedAltSvc } from './drive.ts';
import { MODE_RULES } from './modes.ts';
import { type Decision, pacingInMode } from './plan.ts';
import { discoveredAlternatives, type RaceMemory } from './remembered.ts';
import type { RaceOptions } from './run.ts';

export interface RaceResult {
  readonly options: RaceOptions;
  readonly memory: RaceMemory;
  /** Start of the first trial, milliseconds since the epoch. */
  readonly atMs: number;
  readonly done: readonly DrivenTrial[];
  /** What was remembered before each trial. */
  readonly decisions: readonly (Decision | null)[];
  /** Result of the look-up before the trials, null without one. */
  readonly names: DnsResults | null;
  /** Why there are no trials, or fewer than requested. */
  readonly error: AttemptError | null;
}

function textOf<Absent extends null | undefined>(received: ReceivedAltSvc | Absent): string | Absent {
  return received ? received.value.text : received;
}

/** The last Alt-Svc value over a transport; null: no response over it had one, undefined: there was no response. */
function lastOver(done: readonly DrivenTrial[], transport: TransportName): ReceivedAltSvc | null | undefined {
  return lastReceived(done.map(({ altSvcOver }) => altSvcOver[transport]));
}

/** Those given from memory, then those of the last value over each transport, the newest last. */
function alternativesOf({ options, done }: RaceResult): DiscoveredAlternative[] {
  const known = options.memory === 'none' ? null : options.known?.altSvc;
  const remembered = known ? discoveredAlternatives(known, 'memory') : [];
  const latest = done.findLast((d) => d.altSvc !== null)?.altSvc;
  // Repeated for the other protocol they would say nothing new.
  const others = TRANSPORTS.map((transport) => lastOver(done, transport)).filter(
    (each) => each?.value.text !== latest?.value.text,
  );
  const answered = [...others, latest].flatMap((each) =>
    each ? discoveredAlternatives(each.value, each.source === 'frame' ? 'frame' : 'answer') : [],
  );
  return [...remembered, ...answered];
}

/** Results of the last look-up, then questions of the last alternatives followed. */
function namesOf({ done, names }: RaceResult): DnsResults | null {
  const own = done.findLast((d) => d.names !== null)?.names ?? names;
  const followed = done.findLast((d) => d.followed.length > 0)?.followed ?? [];
  if (own === null) return null;
  const known = (address: DnsResults['addresses'][number]): boolean =>
    own.addresses.some((a) => a.host === address.host && a.address === address.address);
  const untried = [own, ...followed].reduce((sum, each) => sum + (each.untried ?? 0), 0);
  return {
    addresses: [...own.addresses, ...followed.flatMap((each) => each.addresses).filter((a) => !known(a))],
    services: [...own.services, ...followed.flatMap((each) => each.services)],
    lookups: [...own.lookups, ...followed.flatMap((each) => each.lookups)],
    ...(untried > 0 && { untried }),
  };
}

function discoveredBy(raced: RaceResult): DiscoveryEvidence {
  const { options, done } = raced;
  const remembered = options.memory === 'none' ? undefined : options.known?.altSvc;
  const h3Root = done.findLast((d) => d.knownRoot.h3 !== null)?.knownRoot.h3;
  const h2Root = done.findLast((d) => d.knownRoot.h2 !== null)?.knownRoot.h2;
  const names = namesOf(raced);
  const alternatives = alternativesOf(raced);
  const latest = done.findLast((d) => d.altSvc !== null)?.altSvc;
  const [tcp, h3] = [lastOver(done, 'h2'), lastOver(done, 'h3')];
  return {
    altSvc: (latest?.value ?? remembered)?.text ?? null,
    ...altSvcOverOf(textOf(tcp), textOf(h3)),
    ...(tcp?.source === 'frame' && { altSvcSource: tcp.source }),
    knownRoot: h3Root ?? h2Root ?? null,
    ...(names !== null && { names }),
    ...(alternatives.length > 0 && { alternatives }),
  };
}

type UnjudgedRace = Omit<OriginRace, 'verdict'>;

/** The record within its bounds, still without a verdict. */
export function recordOf(raced: RaceResult): UnjudgedRace {
  const { options, memory, done, error } = raced;
  const trials = done.map((d) => d.trial);
  const { groupDelayMs } = pacingInMode(options.mode, memory.hints, options.pacing);
  const cache = options.memory === 'full' ? cacheUseOf(options.mode, trials, raced.decisions) : null;
  // Data from servers and DNS enters here: reasons, headers and names.
  const record: UnjudgedRace = printableDeep({
    origin: options.origin.origin,
    network: options.network,
    mode: options.mode,
    memory: options.memory,
    startDelayMs: roundedMs(groupDelayMs),
    atMs: raced.atMs,
    trials,
    summary: { ...summaryOf(options.mode, trials, options.pairs), ...(cache !== null && { cache }) },
    discovered: discoveredBy(raced),
    ...(memory.hints.shared !== null && { sharedOutcome: memory.hints.shared }),
    ...(error !== null && { error }),
  });
  return boundedRace(record);
}

/** The finished record. */
export function withVerdict(race: UnjudgedRace): OriginRace {
  return { ...race, verdict: verdictOf(evidenceOfRace(race)) };
}

/**
 * Whether the trials of a series decide it: they show a clear difference, or the last three pairs were incomplete, so
 * that the failure is reported instead of compared. A series out of time (`late`) ends after the first three pairs at
 * the earliest. Never true between the two trials of a pair.
 */
export function isSettled(trials: readonly Trial[], mostPairs: number, late: boolean): boolean {
  const pairs = trials.length / 2;
  if (!Number.isInteger(pairs) || pairs < MIN_PAIRS) return false;
  if (late || wholePairs(trials.slice(-2 * MIN_PAIRS)).length === 0) return true;
  return (compareTrials(trials, mostPairs)?.quicker ?? null) !== null;
}

function compared(trials: readonly Trial[], mostPairs: number): Pick<Summary, 'gainMs' | 'comparison'> {
  const comparison = compareTrials(trials, mostPairs);
  if (comparison === null) return { gainMs: null };
  const most: Comparison['most'] = Math.max(mostPairs, comparison.pairs);
  return { gainMs: gainMsOf(comparison), comparison: { ...comparison, most } };
}

/**
 * Counts and statistics of a series; h3 + h2 + http/1.1 + failed = trials. `mostPairs` is the maximum number of pairs
 * of a series. A series has no time statistics here: a median across two protocols is the time of neither.
 */
export function summaryOf(mode: Mode, trials: readonly Trial[], mostPairs: number = MAX_PAIRS): Summary {
  const adopted = (protocol: Trial['adopted']): number => trials.filter((t) => t.adopted === protocol).length;
  const times = timedTrials(trials).flatMap((t) => (t.establishedMs === null ? [] : [t.establishedMs]));
  const series = MODE_RULES[mode].kind === 'series';
  return {
    trials: trials.length,
    adoption: { h3: adopted('h3'), h2: adopted('h2'), 'http/1.1': adopted('http/1.1') },
    failed: adopted(null),
    ...(series ? compared(trials, mostPairs) : { gainMs: null }),
    establishedMs: series ? null : statistics(times),
  };
}

/**
 * How often the host cache was queried, had an answer, and was right (P1 distinguishes hit ratio and accuracy);
 * `decisions` is what was remembered before each trial. Null for a mode that does not use decisions.
 */
function cacheUseOf(
  mode: Mode,
  trials: readonly Trial[],
  decisions: readonly (Decision | null)[],
): CacheUse | null {
  const rules = MODE_RULES[mode];
  if (rules.kind === 'series' || !rules.usesDecision) return null;
  const found = trials.flatMap(({ adopted }, index) => {
    const decision = decisions[index] ?? null;
    return decision === null ? [] : [{ decision, adopted }];
  });
  const scored = found.filter(({ adopted }) => adopted !== null);
  const right = scored.filter(({ decision, adopted }) => adopted === decision);
  return { lookups: trials.length, hits: found.length, scored: scored.length, right: right.length };
}

/** At most `most` items in their original order, preferring those that matter. */
function firstThatMatter<T>(
  items: readonly T[],
  most: number,
  matters: (item: T, index: number) => boolean,
): T[] {
  if (items.length <= most) return [...items];
  const chosen = items.map((item, index) => ({ item, index, first: matters(item, index) }));
  return chosen
    .toSorted((a, b) => Number(b.first) - Number(a.first) || a.index - b.index)
    .slice(0, most)
    .toSorted((a, b) => a.index - b.index)
    .map(({ item }) => item);
}

/** Protocols that we speak, on which a verdict may depend. */
const SPOKEN = ['h3', 'h2', 'http/1.1'];

function boundedService(record: ServiceRecord): ServiceRecord {
  return {
    ...record,
    owner: cut(record.owner, MAX_DNS_NAME_CHARS),
    ...(record.canonical !== undefined && { canonical: cut(record.canonical, MAX_DNS_NAME_CHARS) }),
    target: cut(record.target, MAX_DNS_NAME_CHARS),
    alpn: firstThatMatter(
      record.alpn,
      MAX_ALPNS,
      (alpn, at) => SPOKEN.includes(alpn) && record.alpn.indexOf(alpn) === at,
    ).map((alpn) => cut(alpn, MAX_ALPN_CHARS)),
    ipv4Hints: record.ipv4Hints.slice(0, MAX_HINTS),
    ipv6Hints: record.ipv6Hints.slice(0, MAX_HINTS),
  };
}

/** Prefers the first address of each name, and service records by priority (RFC 9460 section 2.4.1). */
function boundedNames({ addresses, services, lookups, ...counted }: DnsResults): DnsResults {
  const hosts = new Set<string>();
  const isFirst = ({ host }: DnsResults['addresses'][number]): boolean => {
    const first = !hosts.has(host);
    hosts.add(host);
    return first;
  };
  const best = new Set(services.toSorted((a, b) => a.priority - b.priority).slice(0, MAX_SERVICES));
  return {
    ...counted,
    addresses: firstThatMatter(addresses, MAX_ADDRESSES, isFirst).map((address) => ({
      ...address,
      host: cut(address.host, MAX_DNS_NAME_CHARS),
    })),
    services: services.filter((record) => best.has(record)).map(boundedService),
    lookups: lookups.slice(0, MAX_LOOKUPS).map((lookup) => ({
      ...lookup,
      name: cut(lookup.name, MAX_DNS_NAME_CHARS),
      ...(lookup.message !== undefined && { message: cut(lookup.message, MAX_MESSAGE_CHARS) }),
    })),
  };
}

function boundedError(error: AttemptError): AttemptError {
  const { wireCode, ignoredAltSvc } = error;
  return {
    ...error,
    message: cut(error.message, MAX_MESSAGE_CHARS),
    ...(wireCode !== undefined && { wireCode: cut(wireCode, MAX_LABEL_CHARS) }),
    ...(ignoredAltSvc !== undefined && { ignoredAltSvc: cut(ignoredAltSvc, MAX_MESSAGE_CHARS) }),
  };
}

function boundedTrial(trial: Trial): Trial {
  const worked = ({ outcome }: Attempt): boolean => outcome === 'adopted' || outcome === 'established-late';
  return {
    ...trial,
    attempts: firstThatMatter(trial.attempts, MAX_ATTEMPTS, worked).map((attempt) => ({
      ...attempt,
      ...(attempt.host !== undefined && { host: cut(attempt.host, MAX_DNS_NAME_CHARS) }),
      ...(attempt.error !== undefined && { error: boundedError(attempt.error) }),
    })),
  };
}

function leftOutOf(whole: UnjudgedRace, rest: UnjudgedRace): LeftOut | null {
  const of = ({ discovered: { names }, trials }: UnjudgedRace): LeftOut => ({
    addresses: names?.addresses.length ?? 0,
    services: names?.services.length ?? 0,
    lookups: names?.lookups.length ?? 0,
    attempts: trials.reduce((sum, { attempts }) => sum + attempts.length, 0),
  });
  const [all, some] = [of(whole), of(rest)];
  const leftOut = {
    addresses: all.addresses - some.addresses,
    services: all.services - some.services,
    lookups: all.lookups - some.lookups,
    attempts: all.attempts - some.attempts,
  };
  return Object.values(leftOut).some((n) => n > 0) ? leftOut : null;
}

function cutAltSvc<Absent extends null | undefined>(value: string | Absent): string | Absent {
  return typeof value === 'string' ? cut(value, MAX_KEPT_ALT_SVC_CHARS) : value;
}

/** The record within the bounds of `originRaceSchema`, with counts of what was left out. */
export function boundedRace(race: UnjudgedRace): UnjudgedRace {
  const { names, altSvc, altSvcOver, alternatives } = race.discovered;
  const bounded: UnjudgedRace = {
    ...race,
    trials: race.trials.map(boundedTrial),
    discovered: {
      ...race.discovered,
      altSvc: cutAltSvc(altSvc),
      ...altSvcOverOf(cutAltSvc(altSvcOver?.tcp), cutAltSvc(altSvcOver?.h3)),
      ...(names !== undefined && { names: boundedNames(names) }),
      ...(alternatives !== undefined && { alternatives: alternatives.slice(0, MAX_ALTERNATIVES) }),
    },
    ...(race.error !== undefined && { error: boundedError(race.error) }),
  };
  const leftOut = leftOutOf(race, bounded);
  return leftOut === null ? bounded : { ...bounded, leftOut };
}
