// The record of a race: its trials, what was learnt about the origin, the summary, and the verdict.
import { altSvcOverOf, lastHeard } from '@photofinish/shared/race/alt-svc-over';
import type { DiscoveredAlternative, DnsResults } from '@photofinish/shared/race/discovered';
import type { AttemptError, DiscoveryEvidence, OriginRace } from '@photofinish/shared/race/outcome';
import { roundedMs } from '@photofinish/shared/race/statistics';
import { TRANSPORTS, type TransportName } from '@photofinish/shared/race/terms';
import { evidenceOfRace, verdictOf } from '@photofinish/shared/verdict/verdict';
import { printableDeep } from '@photofinish/shared/web/printable';
import { boundedRace } from './bounded-record.ts';
import type { DrivenTrial, ReceivedAltSvc } from './drive.ts';
import { type Decision, pacingInMode } from './plan.ts';
import { discoveredAlternatives, type RaceMemory } from './remembered.ts';
import type { RaceOptions } from './run.ts';
import { cacheUseOf, summaryOf } from './series.ts';

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

function textOf<Absent extends null | undefined>(heard: ReceivedAltSvc | Absent): string | Absent {
  return heard ? heard.value.text : heard;
}

/** The last Alt-Svc value over a transport; null: no response over it had one, undefined: there was no response. */
function lastOver(done: readonly DrivenTrial[], transport: TransportName): ReceivedAltSvc | null | undefined {
  return lastHeard(done.map(({ altSvcOver }) => altSvcOver[transport]));
}

/** Those given from memory, then those of the last value over each transport, the newest last. */
function alternativesOf({ options, done }: RaceResult): DiscoveredAlternative[] {
  const known = options.memory === 'none' ? null : options.known?.altSvc;
  const remembered = known ? discoveredAlternatives(known, 'memory') : [];
  const heard = done.findLast((d) => d.altSvc !== null)?.altSvc;
  // Repeated for the other protocol they would say nothing new.
  const others = TRANSPORTS.map((transport) => lastOver(done, transport)).filter(
    (each) => each?.value.text !== heard?.value.text,
  );
  const answered = [...others, heard].flatMap((each) =>
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
  const heard = done.findLast((d) => d.altSvc !== null)?.altSvc;
  const [tcp, h3] = [lastOver(done, 'h2'), lastOver(done, 'h3')];
  return {
    altSvc: (heard?.value ?? remembered)?.text ?? null,
    ...altSvcOverOf(textOf(tcp), textOf(h3)),
    ...(tcp?.source === 'frame' && { altSvcSource: tcp.source }),
    knownRoot: h3Root ?? h2Root ?? null,
    ...(names !== null && { names }),
    ...(alternatives.length > 0 && { alternatives }),
  };
}

/** The record within its bounds, still without a verdict. */
export function recordOf(raced: RaceResult): Omit<OriginRace, 'verdict'> {
  const { options, memory, done, error } = raced;
  const trials = done.map((d) => d.trial);
  const { groupDelayMs } = pacingInMode(options.mode, memory.hints, options.pacing);
  const cache = options.memory === 'full' ? cacheUseOf(options.mode, trials, raced.decisions) : null;
  // Data from servers and DNS enters here: reasons, headers and names.
  const record: Omit<OriginRace, 'verdict'> = printableDeep({
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
export function withVerdict(race: Omit<OriginRace, 'verdict'>): OriginRace {
  return { ...race, verdict: verdictOf(evidenceOfRace(race)) };
}
