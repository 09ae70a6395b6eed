// Cuts a race's record to the bounds of its schema. The record contains data chosen by servers and resolvers, and is
// passed on to the port, the ledger and reports. What is left out is counted, so that the rest is not mistaken for the
// whole.

import { altSvcOverOf } from '@photofinish/shared/race/alt-svc-over';
import type { DnsResults, ServiceRecord } from '@photofinish/shared/race/discovered';
import type { Attempt, AttemptError, LeftOut, OriginRace, Trial } from '@photofinish/shared/race/outcome';
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
} from '@photofinish/shared/web/bounds';

type UnjudgedRace = Omit<OriginRace, 'verdict'>;

/** At most `most` items in their original order, preferring those that matter. */
function kept<T>(items: readonly T[], most: number, matters: (item: T, index: number) => boolean): T[] {
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
    alpn: kept(
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
    addresses: kept(addresses, MAX_ADDRESSES, isFirst).map((address) => ({
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
    attempts: kept(trial.attempts, MAX_ATTEMPTS, worked).map((attempt) => ({
      ...attempt,
      ...(attempt.host !== undefined && { host: cut(attempt.host, MAX_DNS_NAME_CHARS) }),
      ...(attempt.error !== undefined && { error: boundedError(attempt.error) }),
    })),
  };
}

const attemptsOf = (trials: readonly Trial[]): number =>
  trials.reduce((sum, { attempts }) => sum + attempts.length, 0);

function leftOutOf(whole: UnjudgedRace, rest: UnjudgedRace): LeftOut | null {
  const of = ({ discovered: { names }, trials }: UnjudgedRace): LeftOut => ({
    addresses: names?.addresses.length ?? 0,
    services: names?.services.length ?? 0,
    lookups: names?.lookups.length ?? 0,
    attempts: attemptsOf(trials),
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
