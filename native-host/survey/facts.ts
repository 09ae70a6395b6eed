// What one result of a survey shows, by the same rules as verdicts: the basis of the export and of the report. And what
// the results of a vantage point show together about its network.
import { altSvcForNewClients } from '@photofinish/shared/race/alt-svc-over';
import type { Attempt, AttemptError, NetworkEvidence, OriginRace } from '@photofinish/shared/race/outcome';
import { advertisedAlternatives, recordOffersH3 } from '@photofinish/shared/verdict/advertised';
import {
  countHosts,
  evidenceOfRace,
  isAnswered,
  isFailed,
  isH3,
  isUnanswered,
  looksBlocked,
  reachOfEach,
  showsUdpPasses,
  type Witness,
} from '@photofinish/shared/verdict/evidence';
import { h3Alternatives, parseAltSvc } from '@photofinish/shared/web/alt-svc';
import { originParts } from '@photofinish/shared/web/origin';
import { isNear } from '../address/guard.ts';

export type Facts = Readonly<ReturnType<typeof factsOf>>;

export function factsOf(race: OriginRace) {
  const evidence = evidenceOfRace(race);
  const { attempts } = evidence;
  const altSvc = altSvcForNewClients(race.discovered);
  // Servers need not send the header over HTTP/3, where it would tell nothing new.
  const isAdvertisedOverTcp = attempts.some((attempt) => !isH3(attempt) && isAnswered(attempt));
  const roundTripsMs = attempts.flatMap(({ rttMs }) => (rttMs == null ? [] : [rttMs]));
  return {
    ...reachOfEach(attempts),
    /** HTTP/3 at each endpoint that the origin advertises for it. */
    advertised: advertisedAlternatives(evidence).map(({ reach }) => reach),
    /** Whether the Alt-Svc field names HTTP/3, over TCP if a response came over it; null: there was no response. */
    altSvcH3:
      altSvc === null ? (isAdvertisedOverTcp ? false : null) : h3Alternatives(parseAltSvc(altSvc)).length > 0,
    /** Whether an HTTPS record does; null: unknown. */
    recordH3: recordOffersH3(evidence),
    /** Null: not measured. */
    gain: evidence.gain,
    /** The shortest round trip of any attempt; null: not measured. */
    rttMs: roundTripsMs.length === 0 ? null : Math.min(...roundTripsMs),
  };
}

/**
 * Why HTTP/3 failed where it is advertised and TCP works; null: it did not, or was not tried there. A peer that was heard
 * says more than silence.
 */
export function advertisedFailure({ advertised, tcp }: Facts): AttemptError | null {
  if (tcp !== 'established' || advertised.includes('established')) return null;
  const failures = advertised.filter(isFailed);
  return failures.find((failure) => !isUnanswered(failure)) ?? failures[0] ?? null;
}

type NetworkSign = 'reached' | 'answered' | 'failed';

/**
 * What a result shows about its vantage point's network; null: nothing. Silence counts only of an origin that advertises
 * HTTP/3: most others have nothing that could answer.
 */
function networkSign(facts: Facts): NetworkSign | null {
  if (facts.h3 === 'established') return 'reached';
  // Wherever a datagram came back from, the network let it pass.
  if (isFailed(facts.h3) && showsUdpPasses(facts.h3)) return 'answered';
  const failure = advertisedFailure(facts);
  return failure !== null && looksBlocked(failure) ? 'failed' : null;
}

/** The attempt that says most about a protocol in a trial: one adopted, one established, one that failed, any. */
export function decisiveAttempt(
  attempts: readonly Attempt[],
  of: (attempt: Attempt) => boolean,
): Attempt | undefined {
  const order: readonly Attempt['outcome'][] = ['adopted', 'established-late', 'failed', 'cancelled'];
  return attempts.filter(of).toSorted((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome))[0];
}

/** Hosts remembered, and counted, of each kind; more would not change any verdict. */
export const MAX_HOSTS = 1000;
/** Of each host. */
const MAX_ADDRESSES = 16;

function addressesOf({ trials }: OriginRace): string[] {
  return [...new Set(trials.flatMap(({ attempts }) => attempts.map(({ address }) => address)))];
}

interface Sighting extends Witness {
  /** When it was seen last. */
  readonly atMs: number;
  /** As `isNear` says of its addresses. */
  readonly near: boolean | null;
}

/** By host; those added or seen again last are at the end. */
type Sightings = Map<string, Sighting>;

function remember(hosts: Sightings, { host, atMs, addresses }: Omit<Sighting, 'near'>): void {
  const before = hosts.get(host);
  const all = [...new Set([...addresses, ...(before?.addresses ?? [])])].slice(0, MAX_ADDRESSES);
  hosts.delete(host);
  hosts.set(host, { host, atMs: Math.max(atMs, before?.atMs ?? 0), addresses: all, near: isNear(all) });
  const [oldest] = hosts.keys();
  if (hosts.size > MAX_HOSTS && oldest !== undefined) hosts.delete(oldest);
}

/** When the newest of the hosts was seen; negative: none was. */
function newest(seen: readonly Sighting[]): number {
  return Math.max(-1, ...seen.map(({ atMs }) => atMs));
}

/**
 * How the hosts of a survey fare over HTTP/3 from one vantage point, for verdicts, the report and the export: a network
 * that blocks UDP shows in many hosts at once. Origins on one host, or at one address, are one, because what keeps all of
 * them from UDP may be that host. The evidence of the host cache, about the machine's own visits, has no part in it.
 */
export class VantageEvidence {
  readonly #hosts: Readonly<Record<NetworkSign, Sightings>> = {
    reached: new Map(),
    answered: new Map(),
    failed: new Map(),
  };

  add(race: OriginRace, facts = factsOf(race)): void {
    const sign = networkSign(facts);
    if (sign === null) return;
    const { host } = originParts(race.origin);
    remember(this.#hosts[sign], { host, atMs: race.atMs, addresses: addressesOf(race) });
  }

  #seen(counts: (seen: Sighting) => boolean): Readonly<Record<NetworkSign, readonly Sighting[]>> {
    const { failed, reached, answered } = this.#hosts;
    const those = (hosts: Sightings) => [...hosts.values()].filter(counts);
    return { failed: those(failed), reached: those(reached), answered: those(answered) };
  }

  /** All hosts together, apart from those on the local network if there are others: they show nothing about paths beyond. */
  all(): NetworkEvidence {
    const far = this.#seen(({ near }) => near !== true);
    const hasFar = Object.values(far).some((seen) => seen.length > 0);
    const { failed, reached, answered } = hasFar ? far : this.#seen(() => true);
    const failedHosts = countHosts(failed, []);
    return { failedHosts, reachedHosts: reached.length, answeredHosts: answered.length };
  }

  /** The hosts other than that of a race, on its side of the local network's border. */
  except(race: OriginRace): NetworkEvidence {
    const { host } = originParts(race.origin);
    const own = addressesOf(race);
    const isHere = isNear(own);
    const { failed, reached, answered } = this.#seen(
      (seen) => seen.host !== host && (isHere === null || (seen.near ?? isHere) === isHere),
    );
    return {
      failedHosts: countHosts(failed, own),
      reachedHosts: reached.length,
      answeredHosts: answered.length,
      reachedLater: newest(reached) > newest(failed),
    };
  }

  /** On another network nothing of it holds. */
  forget(): void {
    for (const hosts of Object.values(this.#hosts)) hosts.clear();
  }
}
