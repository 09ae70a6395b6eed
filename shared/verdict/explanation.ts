// What `photofinish explain` finds out about one origin, and the one rule that derives a verdict from it: discovery,
// races in several modes, what the host cache remembers, and how other hosts fare on the same network.
import * as v from 'valibot';
import { joinedAltSvcOver } from '../race/alt-svc-over.ts';
import { isAllDisturbed, knownRootOf, soundTrials } from '../race/conclusive.ts';
import { type DnsResults, discoveredAlternativeSchema, namesSchema } from '../race/discovered.ts';
import {
  type DiscoveryEvidence,
  networkEvidenceSchema,
  type OriginRace,
  originRaceSchema,
  sharedOutcomeSchema,
} from '../race/outcome.ts';
import { comparisonOf } from '../race/statistics.ts';
import { ATTEMPT_ERROR_CODES } from '../race/terms.ts';
import { type Verdict, verdictSchema } from '../race/verdict-schema.ts';
import { originParts, originSchema } from '../web/origin.ts';
import { knownProtocolSchema } from '../web/protocol.ts';
import { count, MAX_ADDRESSES, MAX_LOOKUPS, MAX_SERVICES } from '../web/untrusted.ts';
import { isRecordAnswered } from './advertised.ts';
import { evidentAttempts } from './evidence.ts';
import { type Evidence, evidenceOfRace, verdictOf } from './verdict.ts';

const epochMs = v.pipe(v.number(), v.finite(), v.minValue(0));

/**
 * What the host cache knew about the origin on this network before it was raced; times in milliseconds since the epoch.
 */
export const rememberedSchema = v.object({
  /** The newest entry on HTTP/3: it worked, or why it failed. */
  h3: v.nullable(
    v.object({
      failure: v.nullable(v.picklist(ATTEMPT_ERROR_CODES)),
      atMs: epochMs,
      /** Until then a success is fresh, or a failure is not retried. */
      untilMs: v.nullable(epochMs),
      /** Consecutive failures. */
      failures: count,
    }),
  ),
  tcp: v.nullable(v.object({ protocol: knownProtocolSchema, atMs: epochMs })),
  altSvc: v.nullable(v.object({ value: v.string(), atMs: epochMs, untilMs: v.nullable(epochMs) })),
  races: count,
});
export type CacheKnowledge = v.InferOutput<typeof rememberedSchema>;

export const EXPLAIN_SCHEMA = 'photofinish.explain/1';
export const explanationSchema = v.object({
  schema: v.literal(EXPLAIN_SCHEMA),
  origin: originSchema,
  network: v.string(),
  atMs: epochMs,
  /** What DNS returned; null: it was not queried. */
  names: v.nullable(namesSchema),
  /** What Alt-Svc named in these races. */
  alternatives: v.array(discoveredAlternativeSchema),
  /** Mode `race`, with nothing remembered. */
  race: originRaceSchema,
  /** Mode `v3`, with nothing remembered; null: nothing was adopted before. */
  v3: v.nullable(originRaceSchema),
  /** Mode `alt-svc`, with nothing remembered; null: every advertised endpoint had been tried by the others. */
  altSvc: v.nullable(originRaceSchema),
  /** Mode `h3`, with nothing remembered; null: by then no advertised endpoint was untried, and DNS had answered. */
  h3: v.nullable(originRaceSchema),
  /**
   * Mode `compare`; null: the two cannot be compared, because one of them does not work, or HTTP/3 only at an alternative.
   */
  compare: v.nullable(originRaceSchema),
  remembered: v.nullable(rememberedSchema),
  /** What a machine of the organisation had shared about the origin; null: nothing, or nothing is shared. */
  shared: v.nullable(sharedOutcomeSchema),
  /** Other hosts on this network: where HTTP/3 failed as on a network that blocks UDP while TCP worked, and where it worked. */
  evidence: networkEvidenceSchema,
  verdict: verdictSchema,
});
export type Explanation = v.InferOutput<typeof explanationSchema>;

export type Races = Pick<Explanation, 'race' | 'v3' | 'altSvc' | 'h3' | 'compare'>;

/** The races that were run, in order. */
export function finished({ race, v3, altSvc, h3, compare }: Races): OriginRace[] {
  return [race, v3, altSvc, h3, compare].filter((each) => each !== null);
}

/** How much is known of a name: 0: it was not queried, 1: it was not answered in time, 2: it was. */
function knowledgeOf({ lookups }: DnsResults, name: string): number {
  const queries = lookups.filter((lookup) => lookup.name === name);
  return queries.length === 0 ? 0 : queries.every(({ unanswered }) => unanswered === true) ? 1 : 2;
}

/** Adds what another race learnt of names of which less is known: not each of them follows the alternatives. */
function withNamesOf(known: DnsResults, other: DnsResults): DnsResults {
  const isBetterKnown = (name: string): boolean => knowledgeOf(other, name) > knowledgeOf(known, name);
  const untried = Math.max(known.untried ?? 0, other.untried ?? 0);
  return {
    addresses: [
      ...known.addresses,
      ...other.addresses.filter(({ host }) => known.addresses.every((each) => each.host !== host)),
    ].slice(0, MAX_ADDRESSES),
    services: [...known.services, ...other.services.filter(({ owner }) => isBetterKnown(owner))].slice(
      0,
      MAX_SERVICES,
    ),
    lookups: [
      ...known.lookups.filter(({ name }) => !isBetterKnown(name)),
      ...other.lookups.filter(({ name }) => isBetterKnown(name)),
    ].slice(0, MAX_LOOKUPS),
    ...(untried > 0 && { untried }),
  };
}

/**
 * What the races found out besides reachability: from the first that knows, the plain race before the others. For
 * names, the first race that also has an answer about the HTTPS record, and the others for names that it did not query;
 * for the root, the first that saw QUIC's chain; for Alt-Svc by protocol, and the alternatives, the last that received a
 * value over TCP.
 */
export function discoveredIn(races: Races): DiscoveryEvidence {
  const all = finished(races).map((each) => each.discovered);
  const lookups = all.flatMap((each) => each.names ?? []);
  const origin = originParts(races.race.origin);
  const first = lookups.find((each) => isRecordAnswered(each, origin)) ?? lookups[0];
  const names = first && lookups.reduce(withNamesOf, first);
  const naming = all.filter((each) => each.alternatives !== undefined);
  const overTcp = naming.findLast(({ altSvcOver }) => altSvcOver?.tcp != null);
  const alternatives = (overTcp ?? naming[0])?.alternatives;
  return {
    altSvc: all.find((each) => each.altSvc !== null)?.altSvc ?? null,
    ...joinedAltSvcOver(all),
    knownRoot: knownRootOf(finished(races)),
    ...(names && { names }),
    ...(alternatives && { alternatives }),
  };
}

/**
 * The evidence of all races together, with the gain from the comparison and what other hosts show about the network.
 */
export function evidenceOfRaces(races: Races, network: Explanation['evidence']): Evidence {
  const trials = finished(races).flatMap((race) => race.trials);
  // The second follows the alternatives where the first had no need to.
  const untried = Math.max(
    ...[races.race, races.altSvc].map((race) => (race && evidenceOfRace(race).untried) ?? 0),
  );
  return {
    ...evidenceOfRace(races.race),
    ...(untried > 0 && { untried }),
    attempts: evidentAttempts(trials),
    undecided: soundTrials(trials).some((trial) => trial.h3Undecided),
    tooBusy: isAllDisturbed(trials) || (trials.length === 0 && races.race.error?.disturbed === true),
    discovered: discoveredIn(races),
    gain: races.compare === null ? null : comparisonOf(races.compare),
    next: null,
    network,
  };
}

/** The verdict from all of that. */
export function verdictOfRaces(races: Races, evidence: Explanation['evidence']): Verdict {
  return verdictOf(evidenceOfRaces(races, evidence));
}
