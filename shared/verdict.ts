// EXPLAIN: from evidence to the reason why an origin was, or was not, reached over HTTP/3. Pure; no I/O, no clock.
// Every verdict says what is, why, and what to do, in words a site operator can act on.
import {
  advertisedPlaces,
  advertisementFaults,
  advertWords,
  type Fault,
  type PlaceReached,
  placeWords,
} from './advertised.ts';
import { parseAltSvc } from './alt-svc.ts';
import { ATTEMPT_ERROR_WORDS } from './attempt-words.ts';
import { causeWords } from './causes.ts';
import {
  type BrowserEvidence,
  type Evidence,
  isFailed,
  isH3,
  isUnanswered,
  type Reach,
  reachOf,
} from './evidence.ts';
import type { Attempt, AttemptError } from './outcome.ts';
import type { Verdict } from './verdict-schema.ts';

export { type BrowserEvidence, type Evidence, evidenceOfRace } from './evidence.ts';

type Finding = Verdict['findings'][number];

/** A browser may miss HTTP/3 once or twice while it learns; staying on HTTP/2 after that is a choice. */
const VISITS_BEFORE_AVOIDS = 3;
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

function milliseconds(ms: number): string {
  return `${Number(ms.toPrecision(3))} ms`;
}

/** What HTTP/3 gains here, or would; told once, with the verdict itself. */
function gain({ gainMs }: Evidence): string {
  if (gainMs === null) return '';
  return gainMs >= 0
    ? ` HTTP/2 takes ${milliseconds(gainMs)} longer to connect here.`
    : ` HTTP/3 takes ${milliseconds(-gainMs)} longer to connect here.`;
}

/** Whether no host at all is reached over UDP here, by the evidence of others. */
function networkBlocksUdp({ network }: Evidence, error: AttemptError): boolean {
  if (network === undefined || !isUnanswered(error)) return false;
  return network.failedHosts >= HOSTS_BEFORE_BLOCKED && network.reachedHosts === 0;
}

function blockedWords({ network }: Evidence, port: number): string {
  return `your network blocks UDP: ${network?.failedHosts} other hosts fail over HTTP/3 here in the same way and none is reached. Let UDP ${port} out through the firewall, or try another network`;
}

/** Clears the network where other hosts show that it carries HTTP/3. */
function networkCleared({ network }: Evidence, error: AttemptError): string {
  return network !== undefined && network.reachedHosts > 0 && isUnanswered(error)
    ? ' Other hosts are reachable over HTTP/3 here, so it is this host.'
    : '';
}

function unreachableFinding({ evidence, places }: Facts): Finding[] {
  if (places.some(({ reach }) => reach === 'established')) return [];
  const [first, ...rest] = places.flatMap((p) => (isFailed(p.reach) ? [{ ...p, error: p.reach }] : []));
  if (first === undefined) return [];
  const ownHost = evidence.origin.host;
  const { host, port, error, source } = first;
  const record = source === 'https-record' ? ' in its HTTPS record' : '';
  const subject = `Advertises HTTP/3 ${placeWords(first, ownHost)}${record}, but`;
  const cause = networkBlocksUdp(evidence, error)
    ? `${blockedWords(evidence, port)}.`
    : `${causeWords(error, { host, port, advert: advertWords(first) })}${networkCleared(evidence, error)}`;
  const others = rest.map((p) => `${placeWords(p, ownHost)} (${ATTEMPT_ERROR_WORDS[p.error.code]})`);
  const also = others.length === 0 ? '' : ` It fails as well ${others.join(', ')}.`;
  return [{ code: 'h3-advertised-unreachable', text: `${subject} ${cause}${also}` }];
}

function notOfferedFinding({ evidence, h3, places, withdrawn }: Facts): Finding[] {
  if (!isFailed(h3) || places.length > 0) return [];
  const { host, port } = evidence.origin;
  const told = withdrawn ? 'Alt-Svc withdraws it (clear)' : 'nothing advertises it';
  if (networkBlocksUdp(evidence, h3)) {
    const text = `Does not offer HTTP/3 here: ${told}. Whether QUIC answers on port ${port} cannot be told: ${blockedWords(evidence, port)}.`;
    return [{ code: 'h3-not-offered', text }];
  }
  const text = isUnanswered(h3)
    ? `Does not offer HTTP/3: ${told} and QUIC on port ${port} fails (${h3.code}). Enable HTTP/3 on the server and send an Alt-Svc header.`
    : `Does not offer HTTP/3: ${told}, and on port ${port} ${causeWords(h3, { host, port, advert: 'HTTP/3' })} Then send an Alt-Svc header.`;
  return [{ code: 'h3-not-offered', text }];
}

/** Advertised only where no attempt went: what is known, if anything, is of another place. */
function elsewhereFinding({ evidence, h3, h2, places }: Facts): Finding[] {
  const [place] = places;
  if (place === undefined || places.some(({ reach }) => reach !== 'not-tried')) return [];
  const { origin, leftOut } = evidence;
  const subject = `Advertises HTTP/3 ${placeWords(place, origin.host)}, which was not tried`;
  const remedy = 'Race it again in mode race, which follows the advertisement.';
  if (isFailed(h3)) {
    const text = `${subject}; on its own port ${origin.port} QUIC fails (${h3.code}). ${remedy}`;
    return [{ code: 'unknown', text }];
  }
  if (h3 === 'established' || h2 !== 'established' || leftOut) return [];
  return [{ code: 'unknown', text: `${subject}. ${remedy}` }];
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
  const said = `HTTP/3 fails over ${broken} (${ATTEMPT_ERROR_WORDS[error.code]}) and works over ${working}.`;
  return isFailed(over(broken, tcp))
    ? `${said} TCP fails over ${broken} too: ${broken} as a whole is broken on the way.`
    : `${said} Let QUIC listen on the ${broken} address too and open UDP there, or take the address out of DNS.`;
}

function reachedFindings(facts: Facts): Finding[] {
  const { evidence, h3, h2, places, withdrawn } = facts;
  if (h3 !== 'established') return [];
  const findings: Finding[] = [];
  const family = familyWords(facts);
  if (places.length === 0 && h2 === 'established') {
    const does = withdrawn ? 'withdraws its advertisement (Alt-Svc: clear)' : 'does not advertise it';
    const first = family === null ? '' : ` Before you do: ${family}`;
    const text = `Speaks HTTP/3, but ${does}, so browsers stay on HTTP/2. Send: Alt-Svc: h3=":${evidence.origin.port}"; ma=86400.${first}`;
    findings.push({ code: 'h3-not-advertised', text });
  }
  if (evidence.discovered.knownRoot === false)
    findings.push({
      code: 'h3-private-root',
      text: `Speaks HTTP/3, but its certificate ends in a private root, and browsers refuse QUIC under private roots. Use a certificate of a public issuer for browsers.`,
    });
  const alone = isFailed(h2)
    ? ` HTTP/2 fails (${ATTEMPT_ERROR_WORDS[h2.code]}), so only clients that know of HTTP/3 beforehand get in.`
    : '';
  findings.push({ code: 'h3-available', text: `Speaks HTTP/3 on this network.${alone}` });
  if (family !== null && places.length > 0)
    findings.push({ code: 'h3-advertised-unreachable', text: family });
  return findings;
}

/** Nothing at all could be reached, so nothing can be said of HTTP/3. */
function deadFinding({ evidence, h3, h2 }: Facts): Finding | null {
  const { host, port } = evidence.origin;
  const place = { host, port, advert: 'HTTP/3' };
  if (evidence.error !== undefined) {
    const cause = causeWords(evidence.error, place);
    return { code: 'unknown', text: `Could not be tried: ${cause}` };
  }
  if (!isFailed(h3) || !isFailed(h2)) return null;
  const text = `Neither HTTP/3 (${h3.code}) nor HTTP/2 (${h2.code}) could be established: ${causeWords(h2, place)}`;
  return { code: 'unknown', text };
}

function unexplained({ evidence, h3, h2 }: Facts): Finding {
  if (evidence.leftOut)
    return {
      code: 'unknown',
      text: 'Only HTTP/2 was tried, because the host cache remembers that HTTP/3 failed on this network. Compare the two to try it again.',
    };
  const { host, port } = evidence.origin;
  if (h3 === 'not-tried' && isFailed(h2)) {
    const cause = causeWords(h2, { host, port, advert: 'HTTP/3' });
    return {
      code: 'unknown',
      text: `HTTP/2 could not be established (${h2.code}), and HTTP/3 was not tried: ${cause}`,
    };
  }
  if (h3 === 'not-tried' && h2 === 'established')
    return {
      code: 'unknown',
      text: 'HTTP/3 was not tried. Race the origin to compare HTTP/3 with HTTP/2.',
    };
  const tried = isFailed(h3) ? `QUIC on port ${port} fails (${h3.code}), and n` : 'N';
  return {
    code: 'unknown',
    text: `${tried}ot enough was seen to say why. Race the origin to compare HTTP/3 with HTTP/2.`,
  };
}

function raceFindings(facts: Facts): Finding[] {
  const dead = deadFinding(facts);
  if (dead !== null) return [dead];
  const wrong = (leads: boolean): Finding[] =>
    facts.faults
      .filter((fault) => fault.leads === leads)
      .map(({ text }) => ({ code: 'h3-advertisement-wrong', text }));
  const findings = [
    ...wrong(true),
    ...unreachableFinding(facts),
    // Without an answer over TCP nobody knows what it advertises.
    ...(facts.h2 === 'established' ? notOfferedFinding(facts) : []),
    ...elsewhereFinding(facts),
    ...reachedFindings(facts),
  ];
  return [...(findings.length === 0 ? [unexplained(facts)] : findings), ...wrong(false)];
}

function browserFinding(facts: Facts, browser: BrowserEvidence): Finding | null {
  const { evidence, h3, places, faults } = facts;
  if (browser.lastProtocol === 'h3') return { code: 'h3-used', text: 'Reached over HTTP/3.' };
  const dead = places.every(({ reach }) => isFailed(reach));
  if (dead || isFailed(h3) || faults.some(({ leads }) => leads)) return null;
  if (browser.visitsSinceAdvertised < VISITS_BEFORE_AVOIDS)
    return {
      code: 'h3-first-visit',
      text: 'Advertises HTTP/3; the browser did not know yet. The next connection can use it.',
    };
  if (h3 === 'established' && evidence.discovered.knownRoot !== false)
    return {
      code: 'h3-browser-avoids',
      text: 'HTTP/3 is advertised and reachable, yet the browser stays on HTTP/2. Look for QUIC disabled by policy or flag, or a broken-service entry.',
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
  return { code: first.code, text: first.text + gain(evidence), findings: rest };
}
