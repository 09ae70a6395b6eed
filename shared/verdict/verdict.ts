// EXPLAIN: from evidence to the reason why an origin was, or was not, reached over HTTP/3. Pure; no I/O, no clock.
// Every verdict says what is, why, and what to do, in words a site operator can act on.

import { type SharedWordKey, say } from '../language/words.ts';
import type { Attempt, AttemptError } from '../race/outcome.ts';
import type { Verdict } from '../race/verdict-schema.ts';
import { parseAltSvc } from '../web/alt-svc.ts';
import { VISITS_BEFORE_CHOICE } from '../web/observation.ts';
import { PROTOCOL_NAMES } from '../web/protocol.ts';
import {
  advertisedPlaces,
  advertisementFaults,
  type Fault,
  isRecordUnanswered,
  type PlaceReached,
  placeWords,
} from './advertised.ts';
import { failureWords } from './attempt-words.ts';
import { causeWords } from './causes.ts';
import {
  type BrowserEvidence,
  type Evidence,
  isAnswered,
  isFailed,
  isH3,
  isUnanswered,
  type Reach,
  reachOf,
} from './evidence.ts';
import { gainSentence } from './gain.ts';

export { type BrowserEvidence, type Evidence, evidenceOfRace } from './evidence.ts';

type Finding = Verdict['findings'][number];

/** One host that fails may be that host; from two on, with none that works, it is what they share. */
const HOSTS_BEFORE_BLOCKED = 2;

/** What the evidence comes to, worked out once and read by every rule. */
interface Facts {
  readonly evidence: Evidence;
  readonly h3: Reach;
  readonly h2: Reach;
  readonly places: readonly PlaceReached[];
  readonly faults: readonly Fault[];
  /** The header takes back every advertisement (RFC 7838 section 3). */
  readonly withdrawn: boolean;
}

function factsOf(evidence: Evidence): Facts {
  const { altSvc } = evidence.discovered;
  return {
    evidence,
    h3: reachOf(evidence.attempts.filter(isH3)),
    h2: reachOf(evidence.attempts.filter((a) => !isH3(a))),
    places: advertisedPlaces(evidence),
    faults: advertisementFaults(evidence),
    withdrawn: altSvc !== null && parseAltSvc(altSvc).clear,
  };
}

/** Sentences one after the other, those that do not apply left out. */
function sentences(...said: readonly (string | null)[]): string {
  return said.filter((sentence) => sentence !== null).join(' ');
}

/** What a comparison shows here; told once, with the verdict itself. */
function gainWords({ gain }: Evidence): string | null {
  if (gain === null) return null;
  return gainSentence(gain)
    .map(({ text }) => text)
    .join('');
}

/** What our own limits kept from being tried, where something failed: it might have worked there. */
function untriedWords({ evidence: { untried = 0 }, h3, h2 }: Facts): string | null {
  if (untried === 0 || !(isFailed(h3) || isFailed(h2))) return null;
  return say('verdictUntriedAddresses', { count: untried });
}

/** Whether no host at all is reached over UDP here, by the evidence of others. */
function networkBlocksUdp({ network }: Evidence, error: AttemptError): boolean {
  if (network === undefined || !isUnanswered(error)) return false;
  return network.failedHosts >= HOSTS_BEFORE_BLOCKED && network.reachedHosts === 0;
}

function blockedWords({ network }: Evidence, port: number): string {
  return say('causeNetworkBlocksUdp', { count: network?.failedHosts ?? 0, port: String(port) });
}

/** Clears the network where other hosts show that it carries HTTP/3. */
function networkCleared({ network }: Evidence, error: AttemptError): string | null {
  return network !== undefined && network.reachedHosts > 0 && isUnanswered(error)
    ? say('verdictOthersReachable')
    : null;
}

function unreachableFinding({ evidence, places }: Facts): Finding[] {
  if (places.some(({ reach }) => reach === 'established')) return [];
  const [first, ...rest] = places.flatMap((p) => (isFailed(p.reach) ? [{ ...p, error: p.reach }] : []));
  if (first === undefined) return [];
  const ownHost = evidence.origin.host;
  const { host, port, error, source } = first;
  const blocked = networkBlocksUdp(evidence, error);
  const cause = blocked
    ? blockedWords(evidence, port)
    : causeWords(error, { host, port, advertiser: source });
  const key = source === 'https-record' ? 'verdictUnreachableRecord' : 'verdictUnreachable';
  const others = rest.map((p) =>
    say('placeFailed', { place: placeWords(p, ownHost), failure: failureWords(p.error) }),
  );
  const text = sentences(
    say(key, { place: placeWords(first, ownHost), cause }),
    blocked ? null : networkCleared(evidence, error),
    others.length === 0 ? null : say('verdictAlsoFails', { places: others.join(', ') }),
  );
  return [{ code: 'h3-advertised-unreachable', text }];
}

function notOfferedWords({ evidence, withdrawn }: Facts, error: AttemptError): string {
  const { host, port } = evidence.origin;
  const there = { port: String(port), failure: failureWords(error) };
  if (networkBlocksUdp(evidence, error))
    return say(withdrawn ? 'verdictNotOfferedWithdrawnBlocked' : 'verdictNotOfferedBlocked', {
      ...there,
      cause: blockedWords(evidence, port),
    });
  if (isUnanswered(error)) return say(withdrawn ? 'verdictNotOfferedWithdrawn' : 'verdictNotOffered', there);
  const cause = causeWords(error, { host, port, advertiser: 'nothing' });
  return say(withdrawn ? 'verdictNotOfferedWithdrawnCause' : 'verdictNotOfferedCause', { ...there, cause });
}

function answeredOverTcp({ evidence }: Facts): boolean {
  return evidence.attempts.some((a) => !isH3(a) && isAnswered(a));
}

/** Says so where nobody knows what an HTTPS record may advertise. */
function unansweredWords({ discovered }: Evidence): string | null {
  return isRecordUnanswered(discovered.names) ? say('verdictRecordUnanswered') : null;
}

function notOfferedFinding(facts: Facts): Finding[] {
  if (!isFailed(facts.h3) || facts.places.length > 0) return [];
  const text = sentences(notOfferedWords(facts, facts.h3), unansweredWords(facts.evidence));
  return [{ code: 'h3-not-offered', text }];
}

/** Never what has been done: the advice would lead in a circle. */
const ADVICE = { race: 'verdictRaceThere', explain: 'verdictExplainThere' } as const;

/** Advertised only where no attempt went: what is known, if anything, is of another place. */
function elsewhereFinding({ evidence, h3, h2, places }: Facts): Finding[] {
  const [first] = places;
  if (first === undefined || places.some(({ reach }) => reach !== 'not-tried')) return [];
  const { origin, leftOut } = evidence;
  const place = placeWords(first, origin.host);
  const { next = 'race' } = evidence;
  const advice = next === null ? null : say(ADVICE[next], { origin: origin.origin });
  if (isFailed(h3)) {
    const there = { place, port: String(origin.port), failure: failureWords(h3) };
    return [{ code: 'unknown', text: sentences(say('verdictElsewhereFails', there), advice) }];
  }
  if (h3 === 'established' || h2 !== 'established' || leftOut) return [];
  return [{ code: 'unknown', text: sentences(say('verdictElsewhere', { place }), advice) }];
}

const FAMILIES = ['IPv6', 'IPv4'] as const;
type Family = (typeof FAMILIES)[number];

function over(family: Family, attempts: readonly Attempt[]): Reach {
  return reachOf(attempts.filter((a) => (a.address.includes(':') ? 'IPv6' : 'IPv4') === family));
}

/** One family works and the other does not: a browser on the other one waits, or never sees HTTP/3. */
function familyWords({ evidence }: Facts): string | null {
  const h3 = evidence.attempts.filter(isH3);
  const tcp = evidence.attempts.filter((a) => !isH3(a));
  const broken = FAMILIES.find((family) => isFailed(over(family, h3)));
  if (broken === undefined) return null;
  const working: Family = broken === 'IPv6' ? 'IPv4' : 'IPv6';
  const error = over(broken, h3);
  if (!isFailed(error) || over(working, h3) !== 'established') return null;
  return say(isFailed(over(broken, tcp)) ? 'verdictFamilyBroken' : 'verdictFamilyQuic', {
    broken,
    working,
    failure: failureWords(error),
  });
}

function browserUsedH3({ browser }: Evidence): boolean {
  return browser !== undefined && (browser.usedH3 === true || browser.lastProtocol === 'h3');
}

/** A browser that has come here over HTTP/3 trusts the root for QUIC as well. */
function trustsRoot(evidence: Evidence): boolean {
  return evidence.trustsRoot === true || browserUsedH3(evidence);
}

function reachedFindings(facts: Facts): Finding[] {
  const { evidence, h3, h2, places, withdrawn } = facts;
  if (h3 !== 'established') return [];
  const findings: Finding[] = [];
  const family = familyWords(facts);
  if (places.length === 0 && h2 === 'established') {
    const key = withdrawn ? 'verdictWithdrawn' : 'verdictNotAdvertised';
    const text = sentences(
      say(key, { port: String(evidence.origin.port), old: oldName(evidence) }),
      unansweredWords(evidence),
      family === null ? null : say('verdictBefore', { family }),
    );
    findings.push({ code: 'h3-not-advertised', text });
  }
  if (evidence.discovered.knownRoot === false && !trustsRoot(evidence))
    findings.push({ code: 'h3-private-root', text: say('verdictPrivateRoot') });
  const failed = isFailed(h2) ? { failure: failureWords(h2), old: oldName(evidence) } : null;
  const alone = failed === null ? null : say('verdictH3Alone', failed);
  findings.push({ code: 'h3-available', text: sentences(say('verdictAvailable'), alone) });
  if (family !== null && places.length > 0)
    findings.push({ code: 'h3-advertised-unreachable', text: family });
  return findings;
}

/** What the host speaks over TCP, by the last handshake that was done; HTTP/2 where none was. */
function oldName({ attempts }: Evidence): string {
  const spoken = attempts.findLast((a) => !isH3(a) && a.establishedMs !== null)?.protocol;
  return PROTOCOL_NAMES[spoken ?? 'h2'];
}

/** What nothing came over, by how far both came: a handshake that was done is no lack of connection. */
function deadKey({ attempts }: Evidence, h3: AttemptError, h2: AttemptError): SharedWordKey {
  const connected = (over: (attempt: Attempt) => boolean): boolean =>
    attempts.some((attempt) => over(attempt) && attempt.establishedMs !== null);
  const both = connected(isH3) && connected((attempt) => !isH3(attempt));
  if (both && h3.code === 'response-timeout' && h2.code === 'response-timeout') return 'verdictSlow';
  return connected(() => true) ? 'verdictUnanswered' : 'verdictDead';
}

/** No answer came over either, so nothing can be said of HTTP/3. */
function deadFinding({ evidence, h3, h2 }: Facts): Finding | null {
  const { host, port } = evidence.origin;
  const place = { host, port, advertiser: 'nothing' } as const;
  const failed = evidence.error !== undefined || (isFailed(h3) && isFailed(h2));
  if (evidence.offline && failed) return { code: 'unknown', text: say('verdictOffline') };
  if (evidence.error !== undefined)
    return { code: 'unknown', text: say('verdictUntried', { cause: causeWords(evidence.error, place) }) };
  if (!isFailed(h3) || !isFailed(h2)) return null;
  const said = say(deadKey(evidence, h3, h2), {
    h3: failureWords(h3),
    h2: failureWords(h2),
    old: oldName(evidence),
    cause: causeWords(h2, place),
  });
  const ignored = h3.ignoredAltSvc !== undefined || h2.ignoredAltSvc !== undefined;
  return { code: 'unknown', text: sentences(said, ignored ? say('verdictIgnoredAltSvc') : null) };
}

/** HTTP/3 was tried, or everything was, and all that was learnt of it is a fault or a limit of ours. */
function ownFaultFinding({ evidence, h3, h2 }: Facts): Finding | null {
  if (h3 !== 'not-tried') return null;
  const ours = evidence.attempts.filter((a) => isH3(a) || h2 === 'not-tried').map(({ error }) => error);
  const fault = ours.findLast((error) => error?.code === 'internal' || error?.code === 'response-too-large');
  if (fault === undefined) return null;
  const key = fault.code === 'internal' ? 'verdictInternal' : 'verdictTooLarge';
  return { code: 'unknown', text: say(key, { message: fault.message }) };
}

function unexplainedWords({ evidence, h3, h2 }: Facts): string {
  const old = oldName(evidence);
  if (evidence.leftOut) return say('verdictLeftOut', { old });
  const { host, port } = evidence.origin;
  if (h3 === 'not-tried' && isFailed(h2))
    return say('verdictH2Failed', {
      failure: failureWords(h2),
      old,
      cause: causeWords(h2, { host, port, advertiser: 'nothing' }),
    });
  if (h3 === 'not-tried' && h2 === 'established') return say('verdictH3Untried', { old });
  return isFailed(h3)
    ? say('verdictUnexplainedFails', { port: String(port), failure: failureWords(h3) })
    : say('verdictUnexplained');
}

function unexplained(facts: Facts): Finding {
  return { code: 'unknown', text: unexplainedWords(facts) };
}

function raceFindings(facts: Facts): Finding[] {
  if (facts.evidence.tooBusy) return [{ code: 'machine-too-busy', text: say('verdictTooBusy') }];
  const dead = deadFinding(facts);
  if (dead !== null) return [dead];
  const wrong = (leads: boolean): Finding[] =>
    facts.faults
      .filter((fault) => fault.leads === leads)
      .map(({ text }) => ({ code: 'h3-advertisement-wrong', text }));
  const ownFault = ownFaultFinding(facts);
  if (ownFault !== null) return [...wrong(true), ownFault, ...wrong(false)];
  const findings = [
    ...wrong(true),
    ...unreachableFinding(facts),
    // Without an answer over TCP nobody knows what it advertises.
    ...(answeredOverTcp(facts) ? notOfferedFinding(facts) : []),
    ...elsewhereFinding(facts),
    ...reachedFindings(facts),
  ];
  return [...(findings.length === 0 ? [unexplained(facts)] : findings), ...wrong(false)];
}

/** What a race since then has met, where that was nothing at all. */
function nowWords(facts: Facts, { raceIsOlder = false }: BrowserEvidence): string | null {
  const dead = raceIsOlder ? null : deadFinding(facts);
  return dead === null ? null : say('verdictJustNow', { verdict: dead.text });
}

function browserFinding(facts: Facts, browser: BrowserEvidence): Finding | null {
  const { evidence, h3, places, faults } = facts;
  if (browser.lastProtocol === 'h3')
    return { code: 'h3-used', text: sentences(say('verdictUsed'), nowWords(facts, browser)) };
  const dead = places.every(({ reach }) => isFailed(reach));
  if (dead || isFailed(h3) || faults.some(({ leads }) => leads)) return null;
  if (browserUsedH3(evidence)) {
    const staying =
      browser.visitsSinceAdvertised >= VISITS_BEFORE_CHOICE ? say('verdictUsedBeforeStaying') : null;
    return { code: 'h3-used-before', text: sentences(say('verdictUsedBefore'), staying) };
  }
  if (browser.visitsSinceAdvertised < VISITS_BEFORE_CHOICE)
    return { code: 'h3-first-visit', text: say('verdictFirstVisit') };
  if (h3 === 'established' && (evidence.discovered.knownRoot !== false || trustsRoot(evidence)))
    return {
      code: 'h3-browser-avoids',
      text: say('verdictAvoids', { old: PROTOCOL_NAMES[browser.lastProtocol] }),
    };
  return null;
}

/**
 * The verdict on an origin: the first that fits, with every other that also holds as `findings`.
 * With the browser's side the browser's own finding comes first; without, the order is that of causes an operator
 * can mend; faults of the advertisement that keep nobody from HTTP/3 come last. Both protocols dead gives `unknown`
 * with both causes.
 */
export function verdictOf(evidence: Evidence): Verdict {
  const facts = factsOf(evidence);
  const fromRace = raceFindings(facts);
  const own = evidence.browser ? browserFinding(facts, evidence.browser) : null;
  const [first, ...rest] = own === null ? fromRace : [own, ...fromRace.filter((f) => f.code !== 'unknown')];
  if (first === undefined) throw new Error('a verdict always has a first finding');
  return {
    code: first.code,
    text: sentences(first.text, untriedWords(facts), gainWords(evidence)),
    findings: rest,
  };
}
