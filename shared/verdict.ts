// EXPLAIN: from evidence to the reason why an origin was, or was not, reached over HTTP/3. Pure; no I/O, no clock.
// Every verdict says what is, why, and what to do, in words a site operator can act on.
import { type AltSvc, h3Alternatives, ownH3Alternative, parseAltSvc } from './alt-svc.ts';
import { type OriginParts, originParts } from './origin.ts';
import type { AttemptError, Discovered, OriginRace } from './outcome.ts';
import type { KnownProtocol } from './protocol.ts';
import type { Verdict, VerdictCode } from './verdict-schema.ts';

/** What one transport gave: established, failed with an error, or never tried to its end. */
export type Reach = 'established' | 'not-tried' | AttemptError;

/** What the browser itself did with the origin, newest protocol first; absent when only a race spoke. */
export interface BrowserEvidence {
  /** The protocol of the last request that went over the network. */
  readonly lastProtocol: KnownProtocol;
  /** Network answers with a known protocol that came after the origin was first seen to advertise HTTP/3. */
  readonly visitsSinceAdvertised: number;
}

export interface Evidence {
  readonly origin: OriginParts;
  readonly h3: Reach;
  readonly h2: Reach;
  readonly discovered: Discovered;
  readonly gainMs: number | null;
  /** HTTP/3 was left out because the host cache remembers that it failed here. */
  readonly leftOut?: boolean;
  readonly browser?: BrowserEvidence;
}

type Finding = Verdict['findings'][number];

/** A browser may miss HTTP/3 once or twice while it learns; staying on HTTP/2 after that is a choice. */
const VISITS_BEFORE_AVOIDS = 3;

const CAUSES: Partial<Record<AttemptError['code'], string>> = {
  'udp-refused': 'UDP there is refused. Open UDP {port} on the server or withdraw the Alt-Svc header.',
  'udp-timeout':
    'nothing comes back over UDP. A firewall on the way drops it, or no QUIC server listens. Open UDP {port} or withdraw the Alt-Svc header.',
  'handshake-timeout':
    'the QUIC handshake starts and never finishes. Look for a path that drops large UDP datagrams.',
  'version-mismatch': 'the server speaks no QUIC version that browsers speak. Enable QUIC version 1.',
  'alpn-mismatch': 'the QUIC server there does not accept the ALPN "h3". Enable HTTP/3 in its configuration.',
  'certificate-invalid': 'its certificate is not valid there. Serve the same certificate on QUIC as on TCP.',
  'h3-error': 'the handshake works and HTTP/3 then breaks. Look at the server log for HTTP/3 errors.',
  'stateless-reset':
    'the server forgets the connection (stateless reset). Route one connection to one backend.',
};

function failed(reach: Reach): reach is AttemptError {
  return typeof reach === 'object';
}

function milliseconds(ms: number): string {
  return `${Number(ms.toPrecision(3))} ms`;
}

function gain(evidence: Evidence): string {
  if (evidence.gainMs === null) return '';
  return evidence.gainMs >= 0
    ? ` HTTP/2 takes ${milliseconds(evidence.gainMs)} longer to connect here.`
    : ` HTTP/3 takes ${milliseconds(-evidence.gainMs)} longer to connect here.`;
}

function unreachableText(evidence: Evidence, port: number, error: AttemptError): string {
  const cause =
    CAUSES[error.code]?.replace('{port}', String(port)) ?? `the attempt failed: ${error.message}.`;
  return `Advertises HTTP/3 on port ${port}, but ${cause}${gain(evidence)}`;
}

/** A race connects to the origin's own host alone. */
function elsewhereText(evidence: Evidence, altSvc: AltSvc, error: AttemptError): string {
  const [first] = h3Alternatives(altSvc);
  const place = `${first?.host}:${first?.port}`;
  return `Advertises HTTP/3 on another host only, ${place}, which was not tried; on its own port ${evidence.origin.port} QUIC fails (${error.code}). Race ${place} itself.`;
}

function advertisementFindings(evidence: Evidence, altSvc: AltSvc | null): Finding[] {
  if (altSvc === null || altSvc.clear) return [];
  if (altSvc.alternatives.length === 0 && altSvc.skipped > 0) {
    const text =
      'Its Alt-Svc header cannot be parsed, so browsers ignore it. Send for example: Alt-Svc: h3=":443"; ma=86400';
    return [{ code: 'h3-advertisement-wrong', text }];
  }
  const own = ownH3Alternative(altSvc, evidence.origin.host);
  if (own === null) return [];
  if (failed(evidence.h3) && own.port !== evidence.origin.port && evidence.h3.code === 'udp-refused') {
    const text = `Advertises HTTP/3 on port ${own.port}, where nothing listens, while the site itself is on port ${evidence.origin.port}. Correct the port in the Alt-Svc header.`;
    return [{ code: 'h3-advertisement-wrong', text }];
  }
  return [];
}

function raceFindings(evidence: Evidence): Finding[] {
  const altSvc = evidence.discovered.altSvc === null ? null : parseAltSvc(evidence.discovered.altSvc);
  const advertised = altSvc !== null && h3Alternatives(altSvc).length > 0;
  const findings = advertisementFindings(evidence, altSvc);
  const add = (code: VerdictCode, text: string): void => {
    findings.push({ code, text });
  };
  if (failed(evidence.h3) && failed(evidence.h2)) {
    add(
      'unknown',
      `Neither HTTP/3 (${evidence.h3.code}) nor HTTP/2 (${evidence.h2.code}) could be established: ${evidence.h2.message}.`,
    );
    return findings;
  }
  const own = altSvc === null ? null : ownH3Alternative(altSvc, evidence.origin.host);
  if (failed(evidence.h3) && own !== null)
    add('h3-advertised-unreachable', unreachableText(evidence, own.port, evidence.h3));
  else if (failed(evidence.h3) && altSvc !== null && advertised)
    add('unknown', elsewhereText(evidence, altSvc, evidence.h3));
  if (failed(evidence.h3) && !advertised)
    add(
      'h3-not-offered',
      `Does not offer HTTP/3: nothing advertises it and QUIC on port ${evidence.origin.port} fails (${evidence.h3.code}). Enable HTTP/3 on the server and send an Alt-Svc header.`,
    );
  if (evidence.h3 === 'established') {
    if (!advertised && evidence.h2 !== 'not-tried' && !failed(evidence.h2))
      add(
        'h3-not-advertised',
        `Speaks HTTP/3, but does not advertise it, so browsers stay on HTTP/2. Send: Alt-Svc: h3=":${evidence.origin.port}"; ma=86400.${gain(evidence)}`,
      );
    if (evidence.discovered.knownRoot === false)
      add(
        'h3-private-root',
        `Speaks HTTP/3, but its certificate ends in a private root, and browsers refuse QUIC under private roots.${gain(evidence)}`,
      );
    add('h3-available', `Speaks HTTP/3 on this network.${gain(evidence)}`);
  }
  if (findings.length === 0 && evidence.leftOut)
    add(
      'unknown',
      'Only HTTP/2 was tried, because the host cache remembers that HTTP/3 failed on this network. Compare the two to try it again.',
    );
  if (findings.length === 0)
    add('unknown', 'Not enough was seen to say why. Race the origin to compare HTTP/3 with HTTP/2.');
  return findings;
}

function browserFinding(evidence: Evidence, browser: BrowserEvidence, fromRace: Finding[]): Finding | null {
  if (browser.lastProtocol === 'h3')
    return { code: 'h3-used', text: `Reached over HTTP/3.${gain(evidence)}` };
  const reachable = fromRace.some((f) => f.code === 'h3-available');
  const obstacle = fromRace.some((f) => f.code === 'h3-private-root');
  const altSvc = evidence.discovered.altSvc;
  const advertised = altSvc !== null && h3Alternatives(parseAltSvc(altSvc)).length > 0;
  if (!advertised || failed(evidence.h3)) return null;
  if (browser.visitsSinceAdvertised < VISITS_BEFORE_AVOIDS)
    return {
      code: 'h3-first-visit',
      text: `Advertises HTTP/3; the browser did not know yet. The next connection can use it.${gain(evidence)}`,
    };
  if (reachable && !obstacle)
    return {
      code: 'h3-browser-avoids',
      text: `HTTP/3 is advertised and reachable, yet the browser stays on HTTP/2. Look for QUIC disabled by policy or flag, or a broken-service entry.${gain(evidence)}`,
    };
  return null;
}

/**
 * The verdict on an origin: the first that fits, with every other that also holds as `findings`.
 * With the browser's side the browser's own finding comes first; without, the order is that of causes an operator
 * can mend. Both protocols dead gives `unknown` with both causes.
 */
export function verdictOf(evidence: Evidence): Verdict {
  const fromRace = raceFindings(evidence);
  const own = evidence.browser ? browserFinding(evidence, evidence.browser, fromRace) : null;
  const [first, ...rest] = own === null ? fromRace : [own, ...fromRace.filter((f) => f.code !== 'unknown')];
  if (first === undefined) throw new Error('a verdict always has a first finding');
  return { ...first, findings: rest };
}

function reachOf(race: OriginRace, h3: boolean): Reach {
  const attempts = race.trials.flatMap((t) => t.attempts).filter((a) => (a.protocol === 'h3') === h3);
  // A handshake that led to no answer is a failure: HTTP/3 can break after it.
  if (attempts.some((a) => a.establishedMs !== null && a.outcome !== 'failed')) return 'established';
  const error = attempts.findLast((a) => a.outcome === 'failed')?.error;
  return error ?? 'not-tried';
}

/** The evidence that a finished race holds; `browser` adds what the browser itself did. */
export function evidenceOfRace(race: Omit<OriginRace, 'verdict'>, browser?: BrowserEvidence): Evidence {
  const full = race as OriginRace;
  return {
    origin: originParts(race.origin),
    h3: reachOf(full, true),
    h2: reachOf(full, false),
    discovered: race.discovered,
    gainMs: race.summary.gainMs,
    leftOut: race.trials.some((trial) => trial.cacheHit) && reachOf(full, true) === 'not-tried',
    ...(browser && { browser }),
  };
}
