// Why an attempt failed and what a site operator can do about it: one message for every error code. Each is the end of
// a sentence, including its full stop, followed by the remedy.

import { codeKey, type SharedMessageKey } from '../language/catalog.ts';
import { type Message, message } from '../language/message.ts';
import { BAD_PORTS } from '../race/terms.ts';
import { incompleteness } from './codes.ts';
import type { Failure } from './evidence.ts';

/** TLS alerts whose cause is known (RFC 8446 section 6, RFC 6066 section 3). */
const ALERTS: Readonly<Record<string, SharedMessageKey>> = {
  certificate_required: 'causeClientCertificate',
  protocol_version: 'causeTlsVersion',
  unrecognized_name: 'causeUnrecognizedName',
};

/**
 * Codes with which a server refuses to continue, over HTTP/2 (RFC 9113 section 7) and HTTP/3 (RFC 9114 section 8.1).
 */
const REFUSALS: Readonly<Record<string, SharedMessageKey>> = {
  ENHANCE_YOUR_CALM: 'causeEnhanceYourCalm',
  H3_EXCESSIVE_LOAD: 'causeEnhanceYourCalm',
  INADEQUATE_SECURITY: 'causeInadequateSecurity',
  REFUSED_STREAM: 'causeRequestRefused',
  H3_REQUEST_REJECTED: 'causeRequestRefused',
};

/**
 * A stream of HTTP/2 reset with this: by the server, or by our own HTTP client, which refuses a malformed response (RFC
 * 9113 section 8.1.1) without saying that it did.
 */
const RESET_BY_EITHER = 'PROTOCOL_ERROR';

/** GOAWAY with these only means that the server closes. */
const ORDERLY: ReadonlySet<string> = new Set(['NO_ERROR', 'H3_NO_ERROR']);

/** The message for an error, taking into account what it says beside its code. */
function causeKey(failure: Failure, { advertiser, isTcp = false }: FailedEndpoint): SharedMessageKey {
  const { code, reason = 'other', wireCode, endedBy } = failure;
  if (isTcp && code === 'handshake-timeout') return 'causeTlsHandshakeTimeout';
  if (code === 'certificate-invalid')
    return isTcp && reason === 'other' ? 'causeCertificateRejected' : codeKey('causeCertificate', reason);
  const ofCode = codeKey('cause', code);
  if (code === 'tls-alert')
    return ALERTS[wireCode ?? ''] ?? (endedBy === 'client' ? 'causeTlsRefused' : ofCode);
  if (code === 'misdirected' && advertiser === 'nothing') return 'causeMisdirectedOwn';
  if (code === 'connection-closed' && wireCode === RESET_BY_EITHER && endedBy !== 'client')
    return 'causeResetUnclear';
  const ended = code === 'goaway' || code === 'connection-closed' || code === 'h3-error';
  const refusal = ended && endedBy !== 'client' ? REFUSALS[wireCode ?? ''] : undefined;
  // A response that began answers a request that was processed.
  if (refusal !== undefined && !(failure.began && refusal === 'causeRequestRefused')) return refusal;
  const incomplete = incompleteness(failure);
  if (incomplete !== null) return `causeResponse${incomplete}`;
  // Most certificate chains have filled whole packets before.
  if (isTcp && code === 'response-timeout') return 'causeTcpResponseTimeout';
  if (!ended) return ofCode;
  if (endedBy === 'client') return 'causeBreach';
  // Anybody on the path can end a TCP connection; the peer alone sends a code.
  if (isTcp && code === 'connection-closed' && wireCode === undefined) return 'causeTcpClosed';
  const plain = code !== 'goaway' || wireCode === undefined || ORDERLY.has(wireCode);
  return plain ? ofCode : 'causeGoawayCode';
}

/** What advertises the endpoint that failed, and thus what could be withdrawn. */
export type Advertiser = 'alt-svc' | 'https-record' | 'nothing';

const WITHDRAWALS: Record<Advertiser, SharedMessageKey> = {
  'alt-svc': 'withdrawAltSvc',
  'https-record': 'withdrawRecord',
  nothing: 'withdrawH3',
};

export interface FailedEndpoint {
  readonly host: string;
  readonly port: number;
  readonly advertiser: Advertiser;
  /** It failed over TCP and TLS; default: over QUIC, or before either. */
  readonly isTcp?: boolean;
}

/** The cause and the remedy as the end of a sentence, with its full stop. */
export function causeMessage(error: Failure, endpoint: FailedEndpoint): Message {
  const { host, port, advertiser } = endpoint;
  const reflects = error.code === 'port-blocked' && !BAD_PORTS.has(port);
  return message(reflects ? 'causePortReflects' : causeKey(error, endpoint), {
    host,
    port: String(port),
    message: error.message,
    wireCode: error.wireCode ?? '',
    withdraw: message(WITHDRAWALS[advertiser]),
  });
}
