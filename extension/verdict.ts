// The verdict on an origin as this browser used it on this site: from the newest race and the browser's own record
// by the shared rules, and in words of its own where only the browser has spoken.
import { h3Alternatives, parseAltSvc } from '@photofinish/shared/alt-svc';
import { type Origin, originParts } from '@photofinish/shared/origin';
import type { OriginRace } from '@photofinish/shared/outcome';
import {
  type Delivery,
  type KnownProtocol,
  PROTOCOL_NAMES,
  type UnknownReason,
} from '@photofinish/shared/protocol';
import { type BrowserEvidence, type Evidence, evidenceOfRace, verdictOf } from '@photofinish/shared/verdict';
import type { Verdict } from '@photofinish/shared/verdict-schema';
import type { OriginRecord } from './ledger/schema.ts';

export interface Known {
  readonly origin: Origin;
  readonly protocol: KnownProtocol | null;
  readonly reason: UnknownReason | null;
  /** Where its answers came from when none came over the network; null when one did. */
  readonly elsewhere: Exclude<Delivery, 'network'> | null;
  readonly record: OriginRecord | undefined;
  readonly race: OriginRace | undefined;
}

const WHY_UNKNOWN: Record<UnknownReason, string> = {
  'no-timing-allow-origin':
    'It sends no Timing-Allow-Origin header, so the browser hides its protocol from other sites.',
  'service-worker': 'A service worker of the site answered, so the network was not asked.',
  missed: 'The browser did not tell which protocol carried it.',
  revalidated:
    'The server confirmed the stored copy (304 Not Modified). Of such an answer the browser repeats the old protocol and keeps this one’s to itself.',
};

const ELSEWHERE: Record<Exclude<Delivery, 'network'>, string> = {
  'http-cache': "Answered from the browser's cache, so the network was not asked.",
  'service-worker': 'Answered by a service worker, so the network was not asked by the page.',
  prefetch: 'Fetched ahead of time by an earlier page.',
};

function evidenceOf({ origin, record, race }: Known, browser: BrowserEvidence | undefined): Evidence {
  const raced = race && race.error === undefined ? evidenceOfRace(race, browser) : null;
  const altSvc = raced?.discovered.altSvc ?? record?.altSvc ?? null;
  if (raced !== null) return { ...raced, discovered: { ...raced.discovered, altSvc } };
  return {
    origin: originParts(origin),
    attempts: [],
    discovered: { altSvc, knownRoot: null },
    gainMs: null,
    ...(browser && { browser }),
  };
}

/** What can be said without a race when the browser's own record explains nothing. */
function browserOnly(lastProtocol: KnownProtocol | null, record: OriginRecord | undefined): Verdict {
  const advertises = record?.altSvc != null && h3Alternatives(parseAltSvc(record.altSvc)).length > 0;
  const was = lastProtocol === null ? '' : `Reached over ${PROTOCOL_NAMES[lastProtocol]}. `;
  const advertised = advertises ? 'It advertises HTTP/3.' : 'No advertisement of HTTP/3 was seen.';
  return {
    code: 'unknown',
    text: `${was}${advertised} Race it to see what it speaks here.`,
    findings: [],
  };
}

/** The verdict of an origin on a page; never empty, and `unknown` always says why. */
export function verdictOfOrigin(known: Known): Verdict {
  const earlier = known.record?.protocol ?? null;
  const lastProtocol = known.protocol ?? earlier;
  const browser =
    lastProtocol === null
      ? undefined
      : { lastProtocol, visitsSinceAdvertised: known.record?.visitsSinceAdvertised ?? 0 };
  const shared = verdictOf(evidenceOf(known, browser));
  const raced = known.race !== undefined && known.race.error === undefined;
  const verdict = shared.code === 'unknown' && !raced ? browserOnly(lastProtocol, known.record) : shared;
  if (known.protocol !== null) return verdict;
  // The verdict then speaks of earlier visits or of the race; this visit told no protocol, and why comes first.
  const why = known.elsewhere === null ? WHY_UNKNOWN[known.reason ?? 'missed'] : ELSEWHERE[known.elsewhere];
  return { ...verdict, text: `${why} ${earlier === null ? '' : 'Before: '}${verdict.text}` };
}

/** The verdict on an origin from all that is kept of it, apart from any page that shows it. */
export function verdictOfRecord(record: OriginRecord, race: OriginRace | undefined): Verdict {
  const { origin, protocol, reason } = record;
  return verdictOfOrigin({ origin, protocol, reason, elsewhere: null, record, race });
}
