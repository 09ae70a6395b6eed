// What every verdict and failure code means and what to do about it: the one owner of these rows. The extension's page,
// the report, `photofinish codes` and docs/verdicts.md all show them from here.

import { type SharedWordKey, say } from '../language/words.ts';
import { ATTEMPT_ERROR_CODES, type AttemptErrorCode } from '../race/outcome.ts';
import { VERDICT_CODES, type VerdictCode } from '../race/verdict-schema.ts';
import { attemptErrorWords } from './attempt-words.ts';
import { verdictName } from './verdict-names.ts';

const VERDICTS: Record<VerdictCode, readonly [means: SharedWordKey, remedy: SharedWordKey]> = {
  'h3-used': ['verdictUsedMeans', 'verdictUsedRemedy'],
  'h3-first-visit': ['verdictFirstVisitMeans', 'verdictFirstVisitRemedy'],
  'h3-not-advertised': ['verdictNotAdvertisedMeans', 'verdictNotAdvertisedRemedy'],
  'h3-advertised-unreachable': ['verdictUnreachableMeans', 'verdictUnreachableRemedy'],
  'h3-private-root': ['verdictPrivateRootMeans', 'verdictPrivateRootRemedy'],
  'h3-browser-avoids': ['verdictAvoidsMeans', 'verdictAvoidsRemedy'],
  'h3-advertisement-wrong': ['verdictWrongMeans', 'verdictWrongRemedy'],
  'h3-not-offered': ['verdictNotOfferedMeans', 'verdictNotOfferedRemedy'],
  'h3-available': ['verdictAvailableMeans', 'verdictAvailableRemedy'],
  unknown: ['verdictUnknownMeans', 'verdictUnknownRemedy'],
  'machine-too-busy': ['verdictTooBusyMeans', 'verdictTooBusyRemedy'],
  'h3-used-before': ['verdictUsedBeforeMeans', 'verdictUsedBeforeRemedy'],
};

const FAILURES: Record<AttemptErrorCode, readonly [means: SharedWordKey, remedy: SharedWordKey]> = {
  'dns-failed': ['failureDnsFailedMeans', 'failureDnsFailedRemedy'],
  'no-address': ['failureNoAddressMeans', 'failureNoAddressRemedy'],
  'udp-refused': ['failureUdpRefusedMeans', 'failureUdpRefusedRemedy'],
  'udp-timeout': ['failureUdpTimeoutMeans', 'failureUdpTimeoutRemedy'],
  'handshake-timeout': ['failureHandshakeTimeoutMeans', 'failureHandshakeTimeoutRemedy'],
  'tcp-refused': ['failureTcpRefusedMeans', 'failureTcpRefusedRemedy'],
  'tcp-timeout': ['failureTcpTimeoutMeans', 'failureTcpTimeoutRemedy'],
  'version-mismatch': ['failureVersionMismatchMeans', 'failureVersionMismatchRemedy'],
  'alpn-mismatch': ['failureAlpnMismatchMeans', 'failureAlpnMismatchRemedy'],
  'certificate-invalid': ['failureCertificateInvalidMeans', 'failureCertificateInvalidRemedy'],
  'tls-alert': ['failureTlsAlertMeans', 'failureTlsAlertRemedy'],
  'connection-closed': ['failureConnectionClosedMeans', 'failureConnectionClosedRemedy'],
  'stateless-reset': ['failureStatelessResetMeans', 'failureStatelessResetRemedy'],
  'h3-error': ['failureH3ErrorMeans', 'failureH3ErrorRemedy'],
  goaway: ['failureGoawayMeans', 'failureGoawayRemedy'],
  misdirected: ['failureMisdirectedMeans', 'failureMisdirectedRemedy'],
  'response-timeout': ['failureResponseTimeoutMeans', 'failureResponseTimeoutRemedy'],
  blocked: ['failureBlockedMeans', 'failureBlockedRemedy'],
  cancelled: ['failureCancelledMeans', 'failureCancelledRemedy'],
  internal: ['failureInternalMeans', 'failureInternalRemedy'],
  'response-too-large': ['failureResponseTooLargeMeans', 'failureResponseTooLargeRemedy'],
  'version-fallback': ['failureVersionFallbackMeans', 'failureVersionFallbackRemedy'],
  'port-blocked': ['failurePortBlockedMeans', 'failurePortBlockedRemedy'],
};

/** Verdicts that rest on what a browser did, which the command line never sees. */
const BROWSER_VERDICTS: readonly VerdictCode[] = [
  'h3-used',
  'h3-used-before',
  'h3-first-visit',
  'h3-browser-avoids',
];

export interface CodeRow {
  readonly kind: 'verdict' | 'failure';
  readonly code: VerdictCode | AttemptErrorCode;
  /** The few words it goes by in tables and drawings. */
  readonly name: string;
  readonly means: string;
  /** Of a verdict what to do, of a failure where to look. */
  readonly remedy: string;
  /** It takes a browser's own observations to reach it. */
  readonly browserOnly: boolean;
}

/** Every verdict in the language in force, in the order of the schema. */
export function verdictRows(): CodeRow[] {
  return VERDICT_CODES.map((code) => {
    const [means, remedy] = VERDICTS[code];
    const browserOnly = BROWSER_VERDICTS.includes(code);
    return {
      kind: 'verdict',
      code,
      name: verdictName(code),
      means: say(means),
      remedy: say(remedy),
      browserOnly,
    };
  });
}

/** Every way an attempt fails in the language in force, in the order of the schema. */
export function failureRows(): CodeRow[] {
  return ATTEMPT_ERROR_CODES.map((code) => {
    const [means, remedy] = FAILURES[code];
    const name = attemptErrorWords(code);
    return { kind: 'failure', code, name, means: say(means), remedy: say(remedy), browserOnly: false };
  });
}
