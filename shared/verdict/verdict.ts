// EXPLAIN: from evidence to the reason why an origin was, or was not, reached over HTTP/3. Pure; no I/O, no clock, no
// language. Every verdict says what happened, why, and what to do, in messages that a site operator can act on.

import type { SharedMessageKey } from '../language/catalog.ts';
import { type Message, message } from '../language/message.ts';
import type { Attempt, AttemptError, NetworkEvidence } from '../race/outcome.ts';
import { portBlock } from '../race/terms.ts';
import { boundedFindings, type Finding, type Verdict, type VerdictCode } from '../race/verdict-schema.ts';
import { type Browser, VISITS_BEFORE_CHOICE } from '../web/observation.ts';
import { PROTOCOL_NAMES } from '../web/protocol.ts';
import {
  type Advertisement,
  advertisedBy,
  endpointMessage,
  type HostAndPort,
  h3AttemptsAt,
  isReachedByRecord,
  otherPortMessage,
  recordUnknownMessage,
  refusedLookup,
} from './advertised.ts';
import { type Advertiser, causeMessage } from './causes.ts';
import { failureMessage } from './codes.ts';
import {
  type BrowserEvidence,
  carriesH3,
  type Evidence,
  type Failure,
  isAnswered,
  isFailed,
  isH3,
  isUnanswered,
  looksBlocked,
  type Reach,
  reachOf,
  reachOfEach,
  unevenH3,
  unsteadyH3,
} from './evidence.ts';
import { gainMessage } from './gain.ts';

export { type BrowserEvidence, type Evidence, evidenceOfRace } from './evidence.ts';

/** If one host fails, the cause may be that host; from two on, with none that works, it is what they share. */
const HOSTS_BEFORE_BLOCKED = 2;

/** Each names the version on which it was measured; see the results of `browsers` in docs/laboratory.md. */
const RETRIES: Readonly<Record<Browser, SharedMessageKey>> = {
  chromium: 'verdictRetriesChromium',
  firefox: 'verdictRetriesFirefox',
};

/** Facts derived from the evidence, computed once and used by every rule. */
interface Facts extends Advertisement {
  readonly evidence: Evidence;
  readonly h3: Reach;
  readonly h2: Reach;
}

function factsOf(evidence: Evidence): Facts {
  const { h3, tcp } = reachOfEach(evidence.attempts);
  return { evidence, h3, h2: tcp, ...advertisedBy(evidence) };
}

/**
 * The verdict on an origin: the first that fits, with every other that also holds among its `findings`. With the
 * browser's record, the browser's own finding comes first; without it, the order is that of causes an operator can fix;
 * faults of the advertisement that keep no client from HTTP/3 come last. If both protocols fail, the verdict is
 * `unknown` with both causes. The result of a comparison is stated once, with the verdict itself.
 */
export function verdictOf(evidence: Evidence): Verdict {
  const facts = factsOf(evidence);
  const fromRace = raceFindings(facts);
  const own = evidence.browser ? browserSide(facts, evidence.browser) : NOTHING_SHOWN;
  const visit = evidence.browser ? visitMessage(evidence.browser) : null;
  const findings =
    own.findings.length === 0 ? fromRace : [...own.findings, ...fromRace.filter((f) => f.code !== 'unknown')];
  const [first] = findings;
  if (first === undefined) throw new Error('a verdict always has a first finding');
  const { code } = first;
  const others = findings.findIndex((finding) => finding.code !== code);
  const leading = others < 0 ? findings.length : others;
  const gain = evidence.gain === null ? null : gainMessage(evidence.gain);
  const more = findingsOn(
    code,
    visit,
    ...own.remarks,
    untriedMessage(facts),
    statusMessage(facts),
    unsteadyMessage(facts),
    unevenMessage(facts),
    gain,
  );
  return { code, findings: boundedFindings(findings.toSpliced(leading, 0, ...more)) };
}

function raceFindings(facts: Facts): Finding[] {
  if (facts.evidence.tooBusy) return findingsOn('machine-too-busy', message('verdictTooBusy'));
  const dead = deadMessages(facts);
  if (dead.length > 0) return findingsOn('unknown', ...dead);
  const wrong = (leads: boolean): Finding[] =>
    facts.faults
      .filter((fault) => fault.leads === leads)
      .flatMap(({ sentences }) => findingsOn('h3-advertisement-wrong', ...sentences));
  const ownFault = ownFaultFindings(facts);
  if (ownFault.length > 0) return [...wrong(true), ...ownFault, ...wrong(false)];
  const findings = [
    ...wrong(true),
    ...unreachableFinding(facts),
    // Without an answer over TCP it is unknown what it advertises.
    ...(answeredOverTcp(facts) ? notOfferedFinding(facts) : []),
    ...elsewhereFinding(facts),
    ...reachedFindings(facts),
    ...(facts.ignoresH3Record ? findingsOn('unknown', message('verdictRecordIgnored')) : []),
  ];
  const unexplained = findings.length === 0 ? findingsOn('unknown', unexplainedMessage(facts)) : [];
  return [...findings, ...unexplained, ...wrong(false)];
}

/** Findings on one code, one sentence each; null ones are dropped. */
function findingsOn(code: VerdictCode, ...sentences: readonly (Message | null)[]): Finding[] {
  return sentences.flatMap((sentence) => (sentence === null ? [] : [{ code, ...sentence }]));
}

/** What our own limits left untried, if something failed: it might have worked there. */
function untriedMessage({ evidence: { untried = 0 }, h3, h2, alternatives }: Facts): Message | null {
  const reached = [h3, h2, ...alternatives.map(({ reach }) => reach)];
  if (untried === 0 || !reached.some(isFailed)) return null;
  return message('verdictUntriedAddresses', { count: untried });
}

/** That one success does not hide failures: the verdict says what can work, and this how often it does not. */
function unsteadyMessage({ evidence }: Facts): Message | null {
  const unsteady = unsteadyH3(evidence);
  if (unsteady === null) return null;
  const { failed, attempts, error } = unsteady;
  return message('verdictUnsteady', { failed, attempts, failure: failureMessage(error) });
}

/** The same of the addresses of a name, such as those of several servers. */
function unevenMessage({ evidence }: Facts): Message | null {
  const uneven = unevenH3(evidence);
  if (uneven === null) return null;
  const { failed, addresses, error } = uneven;
  return message('verdictUneven', { failed, addresses, failure: failureMessage(error) });
}

/** Whether hosts show that none at all is reached over UDP on a network. */
export function blocksUdp({ failedHosts, reachedHosts, answeredHosts = 0 }: NetworkEvidence): boolean {
  return failedHosts >= HOSTS_BEFORE_BLOCKED && reachedHosts + answeredHosts === 0;
}

function networkBlocksUdp({ network }: Evidence, error: AttemptError): boolean {
  return network !== undefined && looksBlocked(error) && blocksUdp(network);
}

function blockedMessage({ network }: Evidence, port: number): Message {
  return message('causeNetworkBlocksUdp', { count: network?.failedHosts ?? 0, port: String(port) });
}

/** Rules out the network as the cause if other hosts show that it carries HTTP/3. */
function networkCleared({ network }: Evidence, error: AttemptError): Message | null {
  // A missing route is neither the host's nor the path's.
  const isTheirs = isUnanswered(error) && error.code !== 'no-route';
  return carriesH3(network) && isTheirs ? message('verdictOthersReachable') : null;
}

function unreachableFinding({ evidence, h3, alternatives }: Facts): Finding[] {
  if (alternatives.some(({ reach }) => reach === 'established')) return [];
  const [first, ...rest] = alternatives.flatMap((p) => (isFailed(p.reach) ? [{ ...p, error: p.reach }] : []));
  if (first === undefined) return [];
  const ownHost = evidence.origin.host;
  const { host, port, error, source } = first;
  // Not if a datagram came back from elsewhere in these attempts.
  const blocked = isFailed(h3) && isUnanswered(h3) && networkBlocksUdp(evidence, error);
  const cause = blocked
    ? blockedMessage(evidence, port)
    : causeMessage(error, { host, port, advertiser: source });
  const key = source === 'https-record' ? 'verdictUnreachableRecord' : 'verdictUnreachable';
  const others = rest.map((p) =>
    message('placeFailed', { place: endpointMessage(p, ownHost), failure: failureMessage(p.error) }),
  );
  return findingsOn(
    'h3-advertised-unreachable',
    message(key, { place: endpointMessage(first, ownHost), cause }),
    otherPortMessage(evidence, first),
    networkCleared(evidence, error),
    others.length === 0 ? null : message('verdictAlsoFails', { places: others }),
  );
}

/** Why the origin's own endpoint, where nothing is advertised, failed; default: over QUIC. */
function ownCause(
  { origin: { host, port } }: Pick<Evidence, 'origin'>,
  error: Failure,
  isTcp = false,
): Message {
  return causeMessage(error, { host, port, advertiser: 'nothing', isTcp });
}

/** Why nothing can be known of a server that is not reached over UDP; null: what failed may well be the server. */
function hiddenCause(evidence: Evidence, error: AttemptError): Message | null {
  if (networkBlocksUdp(evidence, error)) return blockedMessage(evidence, evidence.origin.port);
  return error.code === 'udp-unreachable' || error.code === 'no-route' ? ownCause(evidence, error) : null;
}

/** HTTP/3 was established, so that it is offered, although not advertised as far as is known. */
function incompleteFinding({ evidence, withdrawn, overH3Only, unread }: Facts, error: Failure): Finding[] {
  const port = String(evidence.origin.port);
  const cause = ownCause(evidence, error);
  const unseen = overH3Only ? 'verdictIncompleteOverH3Only' : 'verdictIncompleteUnadvertised';
  const absent = message(withdrawn ? 'verdictIncompleteWithdrawn' : unseen, { port, old: oldName(evidence) });
  const advertised = unread ? message('verdictAltSvcUnread') : (recordUnknownMessage(evidence) ?? absent);
  return findingsOn('unknown', message('verdictH3Incomplete', { port, cause }), advertised);
}

function notOfferedMessage({ evidence, withdrawn }: Facts, error: AttemptError): Message {
  const there = { port: String(evidence.origin.port), failure: failureMessage(error) };
  const hidden = hiddenCause(evidence, error);
  if (hidden !== null)
    return message(withdrawn ? 'verdictNotOfferedWithdrawnBlocked' : 'verdictNotOfferedBlocked', {
      ...there,
      cause: hidden,
    });
  if (isUnanswered(error))
    return message(withdrawn ? 'verdictNotOfferedWithdrawn' : 'verdictNotOffered', there);
  return message(withdrawn ? 'verdictNotOfferedWithdrawnCause' : 'verdictNotOfferedCause', {
    ...there,
    cause: ownCause(evidence, error),
  });
}

function answeredOverTcp({ evidence }: Facts): boolean {
  return evidence.attempts.some((a) => !isH3(a) && isAnswered(a));
}

/** Whether a handshake was completed. */
function isConnected(
  attempts: readonly Attempt[],
  over: (attempt: Attempt) => boolean = () => true,
): boolean {
  return attempts.some((attempt) => over(attempt) && attempt.establishedMs !== null);
}

function notOfferedFinding(facts: Facts): Finding[] {
  const { evidence, h3 } = facts;
  if (!isFailed(h3) || facts.alternatives.length > 0 || facts.ignoresH3Record || facts.expired) return [];
  // A server that does not serve this host offers nothing for it.
  const isOffered = h3.code !== 'misdirected' && isConnected(evidence.attempts, isH3);
  if (isOffered) return incompleteFinding(facts, h3);
  const { port } = evidence.origin;
  const there = { port: String(port), failure: failureMessage(h3) };
  if (facts.unread)
    return findingsOn('unknown', message('verdictUnreadFails', there), message('verdictAltSvcUnread'));
  const recordUnknown = recordUnknownMessage(evidence);
  if (recordUnknown !== null) {
    const hidden = hiddenCause(evidence, h3);
    const sentence =
      hidden === null
        ? message('verdictUnadvertisedFails', there)
        : message('verdictUnadvertisedBlocked', { port: String(port), cause: hidden });
    return findingsOn('unknown', sentence, recordUnknown);
  }
  // Where UDP does not get through, an origin without HTTP/3 and one that does not advertise it look the same.
  const code = hiddenCause(evidence, h3) === null ? 'h3-not-offered' : 'unknown';
  return findingsOn(code, notOfferedMessage(facts, h3));
}

/** Never what has already been done: that advice would be circular. */
const ADVICE = { race: 'verdictRaceThere', explain: 'verdictExplainThere' } as const;

/** Whether HTTP/3 was attempted and cancelled: that it was not tried would contradict the record of the race. */
function wasCancelled(attempts: readonly Attempt[]): boolean {
  return attempts.some((attempt) => isH3(attempt) && attempt.outcome === 'cancelled');
}

/** An advertised endpoint that was not tried to completion. */
interface UntriedAdvertisement {
  readonly place: Message;
  readonly cancelled: boolean;
  /** It failed by a fault or a limit of ours, or our address policy forbids it: why; null: none of these. */
  readonly ours: string | null;
  readonly advice: Message | null;
}

/** Advertisement only at endpoints not tried to completion: what is known, if anything, is about another endpoint. */
function untriedAdvertisement({ evidence, alternatives }: Facts): UntriedAdvertisement | null {
  const [first] = alternatives;
  if (first === undefined || alternatives.some(({ reach }) => reach !== 'not-tried')) return null;
  const { origin, next = 'race' } = evidence;
  const refusal = first.host === origin.host ? null : refusedLookup(evidence, first.host);
  const tried = h3AttemptsAt(evidence, first);
  const ours = refusal ?? ownFaultOf(tried)?.message ?? null;
  // Another race would be refused as well.
  const advice = next === null || refusal !== null ? null : message(ADVICE[next], { origin: origin.origin });
  return { place: endpointMessage(first, origin.host), cancelled: wasCancelled(tried), ours, advice };
}

function elsewhereMessage({ place, cancelled, ours }: UntriedAdvertisement): Message {
  if (ours !== null) return message('verdictElsewhereOurs', { place, message: ours });
  return message(cancelled ? 'verdictElsewhereCancelled' : 'verdictElsewhere', { place });
}

function elsewhereFinding(facts: Facts): Finding[] {
  const { evidence, h3, h2 } = facts;
  const there = untriedAdvertisement(facts);
  if (there === null) return [];
  const { place, cancelled, advice } = there;
  if (isFailed(h3) && there.ours === null) {
    const own = { place, port: String(evidence.origin.port), failure: failureMessage(h3) };
    const key = cancelled ? 'verdictElsewhereCancelledFails' : 'verdictElsewhereFails';
    return findingsOn('unknown', message(key, own), advice);
  }
  if (h3 === 'established' || h2 !== 'established' || evidence.leftOut || evidence.undecided) return [];
  return findingsOn('unknown', elsewhereMessage(there), advice);
}

const FAMILIES = ['IPv6', 'IPv4'] as const;
type Family = (typeof FAMILIES)[number];

function over(family: Family, attempts: readonly Attempt[]): Reach {
  return reachOf(attempts.filter((a) => (a.address.includes(':') ? 'IPv6' : 'IPv4') === family));
}

/** What TCP shows of the family over which UDP is silent: its path works, or nothing gets through; otherwise nothing. */
function familyKey(tcp: Reach): SharedMessageKey {
  if (tcp === 'established') return 'verdictFamilyQuic';
  return isFailed(tcp) && tcp.code === 'tcp-timeout' ? 'verdictFamilyBroken' : 'verdictFamilyUnclear';
}

/** One address family works and the other does not at an endpoint: a browser on the broken one waits, or stays on TCP. */
function familyMessageAt(
  { evidence }: Facts,
  endpoint: HostAndPort & { readonly source: Advertiser },
): Message | null {
  const h3 = h3AttemptsAt(evidence, endpoint);
  const tcp = evidence.attempts.filter((a) => !isH3(a) && (a.host ?? evidence.origin.host) === endpoint.host);
  const broken = FAMILIES.find((family) => isFailed(over(family, h3)));
  if (broken === undefined) return null;
  const working: Family = broken === 'IPv6' ? 'IPv4' : 'IPv6';
  const error = over(broken, h3);
  if (!isFailed(error) || over(working, h3) !== 'established') return null;
  // That this machine cannot use a family is nothing to fix at the host.
  if (error.code === 'no-route') return null;
  // A peer that was heard listens there.
  if (!isUnanswered(error)) {
    const { host, port, source } = endpoint;
    return message('verdictFamilyCause', {
      broken,
      working,
      cause: causeMessage(error, { host, port, advertiser: source }),
    });
  }
  return message(familyKey(over(broken, tcp)), { broken, working, failure: failureMessage(error) });
}

/** The same wherever HTTP/3 is advertised, or at the origin's own endpoint if it is advertised nowhere. */
function familyMessage(facts: Facts): Message | null {
  const { host, port } = facts.evidence.origin;
  const own = { host, port, source: 'nothing' } as const;
  for (const alternative of facts.alternatives.length > 0 ? facts.alternatives : [own]) {
    const sentence = familyMessageAt(facts, alternative);
    if (sentence !== null) return sentence;
  }
  return null;
}

function browserUsedH3({ browser }: Evidence): boolean {
  if (browser === undefined) return false;
  return browser.usedH3 === true || browser.visitUsesH3 === true || browser.lastProtocol === 'h3';
}

/** A browser that has reached the origin over HTTP/3 trusts the root for QUIC too. */
function trustsRoot(evidence: Evidence): boolean {
  return evidence.trustsRoot === true || browserUsedH3(evidence);
}

/** Of too many requests, ours among them (RFC 6585 section 4): it says nothing about the protocol. */
const TOO_MANY_REQUESTS = 429;

/** That no status over HTTP/3, which works, was also received over TCP; null: one was, or it is unknown. */
function statusMessage({ evidence, h3: reach }: Facts): Message | null {
  if (reach !== 'established') return null;
  const over = (isOver: (attempt: Attempt) => boolean): Set<number> =>
    new Set(evidence.attempts.filter(isOver).flatMap(({ status }) => status ?? []));
  const h3 = [...over(isH3)];
  const tcp = over((attempt) => !isH3(attempt));
  if (tcp.has(TOO_MANY_REQUESTS) || h3.includes(TOO_MANY_REQUESTS)) return null;
  if (h3.length === 0 || tcp.size === 0 || h3.some((status) => tcp.has(status))) return null;
  const listed = (each: Iterable<number>): string => [...each].toSorted((a, b) => a - b).join(', ');
  return message('verdictStatusDiffers', { h3: listed(h3), tcp: listed(tcp), old: oldName(evidence) });
}

/** What a failure over TCP means where HTTP/3 works. */
function tcpFailedMessage(evidence: Evidence, error: Failure): Message {
  const old = oldName(evidence);
  // Clients that know nothing of HTTP/3 do get a response, and read its header.
  if (error.began) return message('verdictTcpIncomplete', { old, cause: ownCause(evidence, error, true) });
  const key = isReachedByRecord(evidence) ? 'verdictH3AloneRecord' : 'verdictH3Alone';
  return message(key, { failure: failureMessage(error), old });
}

function reachedFindings(facts: Facts): Finding[] {
  const { evidence, h3, h2, alternatives, withdrawn } = facts;
  if (h3 !== 'established') return [];
  const findings: Finding[] = [];
  const family = familyMessage(facts);
  const isUnread = alternatives.length === 0 && facts.unread;
  const isSilent = alternatives.length === 0 && !isUnread && !facts.expired;
  const isUnadvertised = isSilent && !facts.ignoresH3Record && answeredOverTcp(facts);
  const recordUnknown = recordUnknownMessage(evidence);
  if (isUnadvertised && recordUnknown === null) {
    const absent = facts.overH3Only ? 'verdictAdvertisedOverH3Only' : 'verdictNotAdvertised';
    const key = withdrawn ? 'verdictWithdrawn' : absent;
    findings.push(
      ...findingsOn(
        'h3-not-advertised',
        message(key, { port: String(evidence.origin.port), old: oldName(evidence) }),
        family === null ? null : message('verdictBefore', { family }),
      ),
    );
  }
  if (evidence.discovered.knownRoot === false && !trustsRoot(evidence))
    findings.push(...findingsOn('h3-private-root', message('verdictPrivateRoot')));
  const alone = isFailed(h2) ? tcpFailedMessage(evidence, h2) : null;
  const unsure =
    isUnadvertised && recordUnknown !== null
      ? [
          message(facts.overH3Only ? 'verdictPerhapsOverH3Only' : 'verdictPerhapsNotAdvertised', {
            port: String(evidence.origin.port),
            old: oldName(evidence),
          }),
          recordUnknown,
          family,
        ]
      : [isUnread ? message('verdictAltSvcUnread') : null];
  // What works is then the origin's own endpoint, which is not advertised to browsers.
  const there = untriedAdvertisement(facts);
  const untried = there === null ? [] : [elsewhereMessage(there), there.advice];
  findings.push(...findingsOn('h3-available', message('verdictAvailable'), alone, ...unsure, ...untried));
  if (alternatives.length > 0) findings.push(...findingsOn('h3-advertised-unreachable', family));
  return findings;
}

/** The host's protocol over TCP, from the last completed handshake; HTTP/2 if there was none. */
function oldName({ attempts }: Evidence): string {
  const spoken = attempts.findLast((a) => !isH3(a) && a.establishedMs !== null)?.protocol;
  return PROTOCOL_NAMES[spoken ?? 'h2'];
}

/** What failed over both, depending on how far each got: a completed handshake is not a missing connection. */
function deadKey({ attempts }: Evidence, h3: Failure, h2: Failure): SharedMessageKey {
  if (h3.code === 'response-timeout' && h2.code === 'response-timeout')
    return h3.began && h2.began ? 'verdictSlowBegun' : 'verdictSlow';
  if (h3.began || h2.began) return 'verdictIncomplete';
  return isConnected(attempts) ? 'verdictUnanswered' : 'verdictDead';
}

/** Neither was answered, so nothing can be said about HTTP/3; returns the sentences that say so, or none. */
function deadMessages({ evidence, h3, h2 }: Facts): Message[] {
  const failed = evidence.error !== undefined || (isFailed(h3) && isFailed(h2));
  if (evidence.offline && failed) return [message('verdictOffline')];
  if (evidence.error !== undefined)
    return [message('verdictUntried', { cause: ownCause(evidence, evidence.error) })];
  if (!isFailed(h3) || !isFailed(h2)) return [];
  const unreachable = message(deadKey(evidence, h3, h2), {
    h3: failureMessage(h3),
    h2: failureMessage(h2),
    old: oldName(evidence),
    cause: ownCause(evidence, h2, true),
  });
  const ignored = h3.ignoredAltSvc !== undefined || h2.ignoredAltSvc !== undefined;
  return ignored ? [unreachable, message('verdictIgnoredAltSvc')] : [unreachable];
}

/** The last failure among attempts that was a fault or a limit of ours, lateness only if no other; null: none was. */
function ownFaultOf(attempts: readonly Attempt[]): AttemptError | null {
  const errors = attempts.flatMap(({ error }) => error ?? []);
  const ours = errors.filter(({ code }) => code === 'internal' || code === 'response-too-large');
  return ours.findLast(({ disturbed }) => disturbed !== true) ?? ours.at(-1) ?? null;
}

/** HTTP/3 was tried, or everything was, and all that was learnt about it is a fault or a limit of ours. */
function ownFaultFindings({ evidence, h3, h2 }: Facts): Finding[] {
  if (h3 !== 'not-tried') return [];
  const fault = ownFaultOf(evidence.attempts.filter((a) => isH3(a) || h2 === 'not-tried'));
  if (fault === null) return [];
  if (fault.disturbed) return findingsOn('unknown', message('verdictH3TooBusy'));
  const key = fault.code === 'internal' ? 'verdictInternal' : 'verdictTooLarge';
  return findingsOn('unknown', message(key, { message: fault.message }));
}

/** HTTP/3 without a result, by how little was tried of it. */
type H3NoResult = 'untried' | 'cancelled' | 'undecided';

function unprovenBy({ attempts, undecided }: Evidence): H3NoResult {
  if (undecided) return 'undecided';
  return wasCancelled(attempts) ? 'cancelled' : 'untried';
}

/** Said of HTTP/3 without a result, where TCP was established. */
const H3_UNPROVEN: Readonly<Record<H3NoResult, SharedMessageKey>> = {
  untried: 'verdictH3Untried',
  cancelled: 'verdictH3Cancelled',
  undecided: 'verdictH3Undecided',
};

/** The same where TCP failed. */
const H2_FAILED_UNPROVEN: Readonly<Record<H3NoResult, SharedMessageKey>> = {
  untried: 'verdictH2Failed',
  cancelled: 'verdictH2FailedCancelled',
  undecided: 'verdictH2FailedUndecided',
};

/** Said of a failure of HTTP/3 without a result over TCP: another race would find the same cause again. */
function h3FailedMessage(evidence: Evidence, error: Failure): Message {
  const cause = hiddenCause(evidence, error) ?? ownCause(evidence, error);
  const key = evidence.attempts.every(isH3) ? 'verdictH3Failed' : 'verdictH3FailedOnly';
  return message(key, { failure: failureMessage(error), old: oldName(evidence), cause });
}

/** Why no race tries HTTP/3 at the origin's own port, so that advice to race it would be circular; null: races may. */
function portBlockedMessage({ origin }: Evidence): Message | null {
  if (portBlock(origin.port, 'h3') === null) return null;
  const cause = ownCause({ origin }, { code: 'port-blocked', message: 'no port for HTTP/3' });
  return message('verdictUnadvertisedBlocked', { port: String(origin.port), cause });
}

function unexplainedMessage({ evidence, h3, h2 }: Facts): Message {
  const old = oldName(evidence);
  if (evidence.leftOut) return message('verdictLeftOut', { old });
  if (isFailed(h2))
    return message(H2_FAILED_UNPROVEN[unprovenBy(evidence)], {
      failure: failureMessage(h2),
      old,
      cause: ownCause(evidence, h2, true),
    });
  if (h3 === 'not-tried' && h2 === 'established')
    return portBlockedMessage(evidence) ?? message(H3_UNPROVEN[unprovenBy(evidence)], { old });
  return isFailed(h3) ? h3FailedMessage(evidence, h3) : message('verdictUnexplained');
}

/** The result of a later race, if it reached nothing at all. */
function laterMessages(facts: Facts, { raceIsOlder = false }: BrowserEvidence): Message[] {
  const [dead, ...rest] = raceIsOlder ? [] : deadMessages(facts);
  return dead === undefined ? [] : [message('verdictLaterRace', { verdict: dead }), ...rest];
}

/**
 * When the browser tries HTTP/3 again after a failure, as `npm run lab -- browsers` has measured it; null if it is
 * unknown which browser it is.
 */
function retryMessage({ browser }: BrowserEvidence): Message | null {
  return browser === undefined ? null : message(RETRIES[browser]);
}

/**
 * Visits without HTTP/3 from which it does not follow that the browser avoids it, although HTTP/3 is advertised and works
 * where the race ran.
 */
function leftOpenMessages(browser: BrowserEvidence): (Message | null)[] {
  const { lastProtocol, visitsHere, proxied } = browser;
  const old = PROTOCOL_NAMES[lastProtocol];
  if (visitsHere !== true) return [message('verdictStaysElsewhere', { old })];
  if (browser.raceIsOutdated) return [message('verdictStaysSince', { old })];
  if (proxied !== false) return [message('verdictStaysPerhapsProxied', { old }), retryMessage(browser)];
  return [];
}

/** Why a browser that has used HTTP/3 did not now, as far as it is known. */
function usedBeforeMessage({ proxied = null }: BrowserEvidence): Message {
  if (proxied === null) return message('verdictUsedBeforePerhapsProxied');
  return message(proxied ? 'verdictUsedBeforeProxied' : 'verdictUsedBefore');
}

/** That the protocol of the visit is not the only one of it. */
export function visitMessage({ lastProtocol, visitUsesH3 }: BrowserEvidence): Message | null {
  return visitUsesH3 && lastProtocol !== 'h3' ? message('verdictVisitUsesH3') : null;
}

/** What the browser's own record shows; `remarks` are said with the verdict, whatever that is. */
interface BrowserSide {
  readonly findings: readonly Finding[];
  readonly remarks: readonly (Message | null)[];
}

const NOTHING_SHOWN: BrowserSide = { findings: [], remarks: [] };

function sideOn(code: VerdictCode, ...sentences: readonly (Message | null)[]): BrowserSide {
  return { findings: findingsOn(code, ...sentences), remarks: [] };
}

function browserSide(facts: Facts, browser: BrowserEvidence): BrowserSide {
  const { evidence, h3, alternatives, faults } = facts;
  if (browser.lastProtocol === 'h3')
    return sideOn('h3-used', message('verdictUsed'), ...laterMessages(facts, browser));
  const later = laterMessages(facts, browser);
  if (later.length > 0) {
    const protocol = PROTOCOL_NAMES[browser.lastProtocol];
    return sideOn('unknown', message('pageReached', { protocol }), ...later);
  }
  // That nothing is known to be advertised shows nothing by itself: the browser may know what nobody else saw.
  const dead =
    alternatives.length > 0
      ? alternatives.every(({ reach }) => isFailed(reach))
      : evidence.attempts.length > 0 || evidence.discovered.altSvc !== null;
  if (dead || isFailed(h3) || faults.some(({ leads }) => leads)) return NOTHING_SHOWN;
  const visits = browser.visitsSinceAdvertised;
  const staying = visits !== null && visits >= VISITS_BEFORE_CHOICE;
  if (browser.usedH3)
    return sideOn(
      'h3-used-before',
      usedBeforeMessage(browser),
      ...(staying && browser.proxied !== true
        ? [message('verdictUsedBeforeStaying'), retryMessage(browser)]
        : []),
    );
  // Whether the browser knew of HTTP/3 before or learnt of it during the visit: it uses it from this one on.
  if (browser.visitUsesH3)
    return sideOn(
      'h3-first-visit',
      message('pageReached', { protocol: PROTOCOL_NAMES[browser.lastProtocol] }),
    );
  // The browser may have known the advertisement long before, or never have seen it.
  if (visits === null) return NOTHING_SHOWN;
  // Another connection would change nothing.
  const refusesQuic = evidence.discovered.knownRoot === false && !trustsRoot(evidence);
  if (h3 === 'established' && refusesQuic) return NOTHING_SHOWN;
  if (browser.proxied === true)
    return {
      findings: [],
      remarks: [message('verdictProxied', { old: PROTOCOL_NAMES[browser.lastProtocol] })],
    };
  if (!staying)
    return sideOn('h3-first-visit', message(visits === 0 ? 'verdictFirstVisit' : 'verdictNotYetUsed'));
  // HTTP/3 at an endpoint that is advertised nowhere is of no use to a browser (RFC 7838 section 2.4).
  if (!alternatives.some(({ reach }) => reach === 'established')) return NOTHING_SHOWN;
  const open = leftOpenMessages(browser);
  if (open.length > 0) return { findings: [], remarks: open };
  return sideOn(
    'h3-browser-avoids',
    message('verdictAvoids', { old: PROTOCOL_NAMES[browser.lastProtocol] }),
    retryMessage(browser),
  );
}
