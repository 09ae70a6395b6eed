// The verdict on an origin as this browser used it on this site: from the newest race and the browser's own record
// by the shared rules, and in words of its own where only the browser has spoken.
import { h3Alternatives, parseAltSvc } from '@photofinish/shared/alt-svc';
import { type Origin, originParts } from '@photofinish/shared/origin';
import type { OriginRace } from '@photofinish/shared/outcome';
import { type KnownProtocol, PROTOCOL_NAMES, type UnknownReason } from '@photofinish/shared/protocol';
import { type BrowserEvidence, type Evidence, evidenceOfRace, verdictOf } from '@photofinish/shared/verdict';
import type { Verdict } from '@photofinish/shared/verdict-schema';
import type { OriginRecord } from '../ledger/schema.ts';

export interface Known {
  readonly origin: Origin;
  readonly protocol: KnownProtocol | null;
  readonly reason: UnknownReason | null;
  readonly record: OriginRecord | undefined;
  readonly race: OriginRace | undefined;
}

const WHY_UNKNOWN: Record<UnknownReason, string> = {
  'no-timing-allow-origin':
    'It sends no Timing-Allow-Origin header, so the browser hides its protocol from other sites.',
  'service-worker': 'A service worker of the site answered, so the network was not asked.',
  missed: 'The browser did not tell which protocol carried it.',
};

function evidenceOf({ origin, record, race }: Known, browser: BrowserEvidence | undefined): Evidence {
  const raced = race && race.error === undefined ? evidenceOfRace(race, browser) : null;
  const altSvc = raced?.discovered.altSvc ?? record?.altSvc ?? null;
  if (raced !== null) return { ...raced, discovered: { ...raced.discovered, altSvc } };
  return {
    origin: originParts(origin),
    h3: 'not-tried',
    h2: 'not-tried',
    discovered: { altSvc, knownRoot: null },
    gainMs: null,
    ...(browser && { browser }),
  };
}

function browserOnly({ protocol, reason, record }: Known): Verdict {
  const advertised =
    record?.altSvc != null && h3Alternatives(parseAltSvc(record.altSvc)).length > 0
      ? 'It advertises HTTP/3.'
      : 'No advertisement of HTTP/3 was seen.';
  const was =
    protocol === null ? WHY_UNKNOWN[reason ?? 'missed'] : `Reached over ${PROTOCOL_NAMES[protocol]}.`;
  const text = `${was} ${advertised} Race it to see what it speaks here.`;
  return { code: 'unknown', text, findings: [] };
}

/** The verdict of an origin on a page; never empty, and `unknown` always says why. */
export function verdictOfOrigin(known: Known): Verdict {
  const lastProtocol = known.protocol ?? known.record?.protocol ?? null;
  const browser =
    lastProtocol === null
      ? undefined
      : { lastProtocol, visitsSinceAdvertised: known.record?.visitsSinceAdvertised ?? 0 };
  const verdict = verdictOf(evidenceOf(known, browser));
  return verdict.code === 'unknown' && (known.race === undefined || known.race.error !== undefined)
    ? browserOnly(known)
    : verdict;
}
