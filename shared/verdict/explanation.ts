// What `photofinish explain` finds out about one origin, and the one rule that makes a verdict of it: discovery,
// races in several modes, what the host cache remembers, and how other hosts fare on the same network.
import * as v from 'valibot';
import { isAllDisturbed, soundTrials } from '../race/conclusive.ts';
import { discoveredAlternativeSchema, type Names, namesSchema } from '../race/discovered.ts';
import { ATTEMPT_ERROR_CODES, type Discovered, type OriginRace, originRaceSchema } from '../race/outcome.ts';
import { comparisonOf } from '../race/race-pairs.ts';
import { type Verdict, verdictSchema } from '../race/verdict-schema.ts';
import { originSchema } from '../web/origin.ts';
import { knownProtocolSchema } from '../web/protocol.ts';
import { isRecordUnanswered } from './advertised.ts';
import { type Evidence, evidenceOfRace, verdictOf } from './verdict.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const epochMs = v.pipe(v.number(), v.finite(), v.minValue(0));

/** What the host cache knew of the origin on this network before it was raced; times in milliseconds since the epoch. */
export const rememberedSchema = v.object({
  /** The newest word on HTTP/3: it worked, or why it failed. */
  h3: v.nullable(
    v.object({
      failure: v.nullable(v.picklist(ATTEMPT_ERROR_CODES)),
      atMs: epochMs,
      /** A success is fresh, a failure is left alone, until then. */
      untilMs: v.nullable(epochMs),
      /** Failures in a row. */
      failures: count,
    }),
  ),
  tcp: v.nullable(v.object({ protocol: knownProtocolSchema, atMs: epochMs })),
  altSvc: v.nullable(v.object({ value: v.string(), atMs: epochMs, untilMs: v.nullable(epochMs) })),
  races: count,
});
export type Remembered = v.InferOutput<typeof rememberedSchema>;

export const EXPLAIN_SCHEMA = 'photofinish.explain/1';
export const explanationSchema = v.object({
  schema: v.literal(EXPLAIN_SCHEMA),
  origin: originSchema,
  network: v.string(),
  atMs: epochMs,
  /** What DNS said; null: it was not asked. */
  names: v.nullable(namesSchema),
  /** What Alt-Svc said in these races. */
  alternatives: v.array(discoveredAlternativeSchema),
  /** Mode `race`, and nothing remembered. */
  race: originRaceSchema,
  /** Mode `v3`, and nothing remembered; null: nothing was adopted before. */
  v3: v.nullable(originRaceSchema),
  /** Mode `alt-svc`, and nothing remembered; null: no place is advertised that the others had not tried. */
  altSvc: v.nullable(originRaceSchema),
  /** Mode `h3`, and nothing remembered; null: by then no advertised place was untried, and DNS had answered. */
  h3: v.nullable(originRaceSchema),
  /** Mode `compare`; null: the two cannot be compared, because one of them does not work. */
  compare: v.nullable(originRaceSchema),
  remembered: v.nullable(rememberedSchema),
  /** Other hosts on this network: where HTTP/3 failed by silence or refusal while TCP worked, and where it worked. */
  evidence: v.object({ failedHosts: count, reachedHosts: count }),
  verdict: verdictSchema,
});
export type Explanation = v.InferOutput<typeof explanationSchema>;

export type Races = Pick<Explanation, 'race' | 'v3' | 'altSvc' | 'h3' | 'compare'>;

function finished({ race, v3, altSvc, h3, compare }: Races): OriginRace[] {
  return [race, v3, altSvc, h3, compare].filter((each) => each !== null);
}

function hasHeardOfRecord(names: Names): boolean {
  return names.lookups.some(({ kind }) => kind === 'HTTPS') && !isRecordUnanswered(names);
}

/**
 * What the races found out beside reachability: the first that knows, the plain race before the others. Of names, the
 * first race that has heard of the HTTPS record too.
 */
export function discoveredIn(races: Races): Discovered {
  const all = finished(races).map((each) => each.discovered);
  const told = all.flatMap((each) => each.names ?? []);
  const names = told.find(hasHeardOfRecord) ?? told[0];
  const alternatives = all.find((each) => each.alternatives !== undefined)?.alternatives;
  const advertising = all.find((each) => each.altSvc !== null);
  return {
    altSvc: advertising?.altSvc ?? null,
    ...(advertising?.altSvcSource && { altSvcSource: advertising.altSvcSource }),
    knownRoot: all.find((each) => each.knownRoot !== null)?.knownRoot ?? null,
    ...(names && { names }),
    ...(alternatives && { alternatives }),
  };
}

/** The evidence of all races together, with the gain of the comparison and what other hosts say of the network. */
export function evidenceOfRaces(races: Races, network: Explanation['evidence']): Evidence {
  const trials = finished(races).flatMap((race) => race.trials);
  return {
    ...evidenceOfRace(races.race),
    attempts: soundTrials(trials).flatMap((trial) => trial.attempts),
    tooBusy: isAllDisturbed(trials),
    discovered: discoveredIn(races),
    gain: races.compare === null ? null : comparisonOf(races.compare),
    next: null,
    network,
  };
}

/** The verdict by all of that. */
export function verdictOfRaces(races: Races, evidence: Explanation['evidence']): Verdict {
  return verdictOf(evidenceOfRaces(races, evidence));
}
