// The input of a verdict: attempts, what was discovered, the browser's own record, and other hosts on the network.

import { conclusiveAttempts, isAllDisturbed, isOurDoing, soundTrials } from '../race/conclusive.ts';
import type {
  Attempt,
  AttemptError,
  DiscoveryEvidence,
  NetworkEvidence,
  OriginRace,
  Trial,
} from '../race/outcome.ts';
import { comparisonOf } from '../race/statistics.ts';
import { portBlock, UDP_ANSWERED_CODES, UDP_BLOCKED_CODES, UDP_UNANSWERED_CODES } from '../race/terms.ts';
import { OFFLINE_NETWORK } from '../web/network-name.ts';
import type { Browser } from '../web/observation.ts';
import { type OriginParts, originParts } from '../web/origin.ts';
import type { KnownProtocol } from '../web/protocol.ts';
import type { Gain } from './gain.ts';

/** Why an attempt failed; `began`: although the header section of a response had been received. */
export interface Failure extends AttemptError {
  readonly began?: boolean;
}

/** The result of connecting somewhere: established, failed with an error, or never tried to completion. */
export type Reach = 'established' | 'not-tried' | Failure;

/** What the browser itself did with the origin; absent if there is only a race. */
export interface BrowserEvidence {
  /** Which browser that was: they differ in how long they avoid HTTP/3. Absent: unknown. */
  readonly browser?: Browser;
  /** The protocol of the last request that was sent over the network. */
  readonly lastProtocol: KnownProtocol;
  /**
   * The newest visits in a row, all on one network, without HTTP/3 since the origin was first seen to advertise it; null:
   * no answer to the browser was seen to advertise it, or the newest advertisement was withdrawn or has expired.
   */
  readonly visitsSinceAdvertised: number | null;
  /** Whether those visits were on the network of the race; absent: not known, or there is no race. */
  readonly visitsHere?: boolean;
  /**
   * Whether those visits, or without any the newest answer, came through a proxy; null or absent: the browser does not
   * say. Over HTTP and SOCKS proxies browsers do not use HTTP/3.
   */
  readonly proxied?: boolean | null;
  /** Whether it had reached the origin over HTTP/3 on this site before the visit of that request. */
  readonly usedH3?: boolean;
  /** Whether other requests of that visit used HTTP/3. */
  readonly visitUsesH3?: boolean;
  /** Whether the race is older than the browser's last answer, which then says more about what is reachable. */
  readonly raceIsOlder?: boolean;
  /** Whether it is so much older that what worked in it need not have worked then. */
  readonly raceIsOutdated?: boolean;
}

export interface Evidence {
  readonly origin: OriginParts;
  /** Every attempt over both transports, oldest first. */
  readonly attempts: readonly Attempt[];
  readonly discovered: DiscoveryEvidence;
  /** The result of a comparison; null: not measured. */
  readonly gain: Gain | null;
  /** Why nothing was attempted at all. */
  readonly error?: AttemptError;
  /** This machine was too late in every trial for any of them to be evidence. */
  readonly tooBusy?: boolean;
  /** This machine had no outbound route during the race. */
  readonly offline?: boolean;
  /** HTTP/3 was skipped because the host cache remembers that it failed here. */
  readonly leftOut?: boolean;
  /** HTTP/3 failed at some endpoints and was not tried at others, so that those failures are no evidence. */
  readonly undecided?: boolean;
  /** Addresses from DNS beyond the limit of what a race tries; absent: none. */
  readonly untried?: number;
  /** The command that would try the endpoints not attempted yet; null: none would. */
  readonly next?: 'race' | 'explain' | null;
  readonly network?: NetworkEvidence;
  readonly browser?: BrowserEvidence;
  /** The browser has reached the origin over HTTP/3, on any site: it trusts the root for QUIC too. */
  readonly trustsRoot?: boolean;
}

/** The evidence about a network on which no other host was tried. */
export const NO_OTHERS: NetworkEvidence = { failedHosts: 0, reachedHosts: 0, answeredHosts: 0 };

const UNANSWERED: ReadonlySet<AttemptError['code']> = new Set(UDP_UNANSWERED_CODES);
const BLOCKED: ReadonlySet<AttemptError['code']> = new Set(UDP_BLOCKED_CODES);
const ANSWERED: ReadonlySet<AttemptError['code']> = new Set(UDP_ANSWERED_CODES);

/** Whether other hosts show that a network carries HTTP/3: it may have stopped since a success before the last failure. */
export function carriesH3(network: NetworkEvidence | undefined): boolean {
  if (network === undefined || network.reachedHosts === 0) return false;
  return network.failedHosts === 0 || network.reachedLater === true;
}

/** A host that is evidence about a network, and its known addresses. */
export interface Witness {
  readonly host: string;
  readonly addresses: readonly string[];
}

/**
 * Names with an address in common, be it by way of a third one, are one host: what keeps all of them from UDP may be that
 * host. One whose address is not known may be any of them. `own`: addresses of the host that is judged.
 */
export function countHosts(witnesses: readonly Witness[], own: readonly string[]): number {
  const located = witnesses.filter(({ addresses }) => addresses.length > 0);
  const parents = new Map<string, string>();
  const rootOf = (name: string): string => {
    let root = name;
    for (let up = parents.get(root); up !== undefined; up = parents.get(root)) {
      // Shortens the path: with many names at one address, walking it each time is quadratic.
      parents.set(root, parents.get(up) ?? up);
      root = up;
    }
    return root;
  };
  for (const [first, ...rest] of [own, ...located.map(({ host, addresses }) => [host, ...addresses])])
    for (const name of rest) {
      const [from, to] = [rootOf(name), rootOf(first ?? name)];
      if (from !== to) parents.set(from, to);
    }
  const roots = new Set(located.map(({ host }) => rootOf(host)));
  for (const address of own) roots.delete(rootOf(address));
  return roots.size;
}

export function isFailed(reach: Reach): reach is Failure {
  return typeof reach === 'object';
}

/**
 * Whether nothing was ever received from the peer over UDP, so that the network may be to blame as well as the host.
 */
export function isUnanswered({ code }: Pick<AttemptError, 'code'>): boolean {
  return UNANSWERED.has(code);
}

/** Whether a failure of HTTP/3, where TCP reaches the host, is evidence that the network blocks UDP. */
export function looksBlocked({ code }: Pick<AttemptError, 'code'>): boolean {
  return BLOCKED.has(code);
}

/** Whether a failure of HTTP/3 is evidence that the network carries UDP. */
export function showsUdpPasses({ code }: Pick<AttemptError, 'code'>): boolean {
  return ANSWERED.has(code);
}

/** Whether the attempt uses HTTP/3; everything else is TCP and TLS. */
export function isH3(attempt: Attempt): boolean {
  return attempt.protocol === 'h3';
}

/** Whether it received a response, or the beginning of one. */
export function isAnswered({ outcome, firstByteMs }: Attempt): boolean {
  return outcome === 'adopted' || firstByteMs != null;
}

/**
 * The attempts that worked. A handshake without a response is a failure: HTTP/3 can break after it, and handshakes of
 * attempts on which no request was sent do not refute that.
 */
function workingOf(attempts: readonly Attempt[]): readonly Attempt[] {
  const established = attempts.filter((a) => !isOurDoing(a) && a.establishedMs !== null);
  const broken = established.some((a) => a.outcome === 'failed');
  return established.filter((a) => a.outcome !== 'failed' && (isAnswered(a) || !broken));
}

/** Why an attempt failed; none if no error is known. */
export function failuresOf({ error, firstByteMs }: Attempt): Failure[] {
  if (error === undefined) return [];
  return [{ ...error, ...(firstByteMs != null && { began: true }) }];
}

/** The failures that are no doing of ours. */
function errorsOf(attempts: readonly Attempt[]): Failure[] {
  return attempts.filter((a) => !isOurDoing(a) && a.outcome === 'failed').flatMap(failuresOf);
}

/** Among failures, one in which the peer answered says more than one in which it did not, and a begun response most. */
function tellingError(errors: readonly Failure[]): Failure | undefined {
  const unanswered = UDP_UNANSWERED_CODES.map((code) => errors.findLast((error) => error.code === code));
  const answered = errors.findLast((error) => !isUnanswered(error));
  const begun = errors.findLast(({ began }) => began);
  return begun ?? answered ?? unanswered.findLast((error) => error !== undefined);
}

/** The combined result of several attempts. */
export function reachOf(attempts: readonly Attempt[]): Reach {
  return workingOf(attempts).length > 0 ? 'established' : (tellingError(errorsOf(attempts)) ?? 'not-tried');
}

/** How often HTTP/3 failed at an address at which it also worked. */
interface Unsteadiness {
  readonly failed: number;
  /** Of how many: those that proved something. */
  readonly attempts: number;
  readonly error: Failure;
}

function unsteadinessAt(attempts: readonly Attempt[]): Unsteadiness | null {
  const working = workingOf(attempts).length;
  // That this machine had no route at times is nothing about the address.
  const errors = errorsOf(attempts).filter(({ code }) => code !== 'no-route');
  const error = tellingError(errors);
  if (working === 0 || error === undefined) return null;
  return { failed: errors.length, attempts: working + errors.length, error };
}

/** The attempts over HTTP/3 by endpoint, and by whatever else `part` tells apart. */
function h3By({ attempts, origin }: Evidence, part: (attempt: Attempt) => string): Attempt[][] {
  const endpointOf = ({ host = origin.host, port }: Attempt): string => `${host} ${port}`;
  return [...Map.groupBy(attempts.filter(isH3), (each) => `${endpointOf(each)} ${part(each)}`).values()];
}

/**
 * The address at which HTTP/3 both worked and failed, of several the one with the most failures; null: there is none.
 * Where it works at one address and fails at another, each of them is steady.
 */
export function unsteadyH3(evidence: Evidence): Unsteadiness | null {
  const unsteady = h3By(evidence, ({ address }) => address).flatMap((there) => unsteadinessAt(there) ?? []);
  return unsteady.toSorted((a, b) => b.failed - a.failed)[0] ?? null;
}

/** The addresses of one family and endpoint at some of which HTTP/3 works, and at others only fails; null: none are. */
export function unevenH3(
  evidence: Evidence,
): (Omit<Unsteadiness, 'attempts'> & { readonly addresses: number }) | null {
  const families = h3By(evidence, ({ address }) => (address.includes(':') ? 'IPv6' : 'IPv4'));
  for (const attempts of families) {
    const reaches = [...Map.groupBy(attempts, ({ address }) => address).values()].map(reachOf);
    // That this machine had no route at times is nothing about the address.
    const errors = reaches.filter(isFailed).filter(({ code }) => code !== 'no-route');
    const [error] = errors;
    const working = reaches.filter((reach) => reach === 'established').length;
    if (error !== undefined && working > 0)
      return { failed: errors.length, addresses: working + errors.length, error };
  }
  return null;
}

/** The combined result over each transport. */
export function reachOfEach(attempts: readonly Attempt[]): { readonly h3: Reach; readonly tcp: Reach } {
  return { h3: reachOf(attempts.filter(isH3)), tcp: reachOf(attempts.filter((a) => !isH3(a))) };
}

/**
 * Whether trials without HTTP/3 followed what memory holds against it. With memory `full` that is a decision, hence a
 * hit. With `hints` no trial records it: mode `race` tries HTTP/3 first, wherever QUIC may be sent.
 */
function followsMemory(
  { memory, mode, origin }: Omit<OriginRace, 'verdict'>,
  trials: readonly Trial[],
): boolean {
  if (trials.some((trial) => trial.cacheHit)) return true;
  const assumed = memory === 'hints' && mode === 'race' && trials.some(({ attempts }) => attempts.length > 0);
  return assumed && portBlock(originParts(origin).port, 'h3') === null;
}

const BUSY: AttemptError = {
  code: 'internal',
  message: 'this machine was too busy, or was suspended',
  disturbed: true,
};

/**
 * The attempts of some trials that prove something, then those of trials falsified by this machine: that they were made
 * is a fact, and their results are none.
 */
export function evidentAttempts(trials: readonly Trial[]): Attempt[] {
  const sound = soundTrials(trials);
  if (sound.length === 0) return [];
  const falsified = trials.filter((trial) => !sound.includes(trial)).flatMap(({ attempts }) => attempts);
  return [
    ...sound.flatMap(conclusiveAttempts),
    ...falsified.map(({ protocol, host, address, port, startedMs }): Attempt => {
      return {
        protocol,
        host,
        address,
        port,
        startedMs,
        establishedMs: null,
        outcome: 'failed',
        error: BUSY,
      };
    }),
  ];
}

/** The evidence from a finished race; `browser` adds what the browser itself did. */
export function evidenceOfRace(race: Omit<OriginRace, 'verdict'>, browser?: BrowserEvidence): Evidence {
  const trials = soundTrials(race.trials);
  const attempts = trials.flatMap((trial) => trial.attempts);
  const untried = (race.discovered.names?.untried ?? 0) + Math.max(0, ...trials.map((t) => t.untried ?? 0));
  const leftOut = race.memory !== 'none' && !attempts.some(isH3) && followsMemory(race, trials);
  return {
    origin: originParts(race.origin),
    attempts: evidentAttempts(race.trials),
    discovered: race.discovered,
    gain: comparisonOf(race),
    leftOut,
    ...(trials.some((trial) => trial.h3Undecided) && { undecided: true }),
    ...((isAllDisturbed(race.trials) || race.error?.disturbed) && { tooBusy: true }),
    ...(untried > 0 && { untried }),
    next: race.mode === 'race' ? 'explain' : 'race',
    ...(race.network === OFFLINE_NETWORK && { offline: true }),
    ...(race.error !== undefined && race.error.code !== 'cancelled' && { error: race.error }),
    ...(race.otherHosts && { network: race.otherHosts }),
    ...(browser && { browser }),
  };
}
