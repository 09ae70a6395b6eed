// Maps errors of Node, OpenSSL and undici to the failure taxonomy, for attempts over TCP and TLS.
import type { AttemptError } from '@photofinish/shared/race/outcome';
import type { CertificateReason } from '@photofinish/shared/race/terms';
import { TOO_LARGE } from './response-reading.ts';

/**
 * HTTP/2's error codes (RFC 9113 section 7) in the order of the registry, from 0: some errors give the number, some the
 * name.
 */
const HTTP2_CODES = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
] as const;

/** The name of a code, or the code itself if it is not registered. */
function http2CodeName(code: number): string {
  return HTTP2_CODES[code] ?? `0x${code.toString(16)}`;
}

/** OpenSSL's verification results as Node names them (`X509_V_ERR_*` without the prefix); any other is `other`. */
const CERTIFICATE_REASONS: Readonly<Record<string, CertificateReason>> = {
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'not-yet-valid',
  ERR_TLS_CERT_ALTNAME_INVALID: 'wrong-name',
  ERR_TLS_CERT_ALTNAME_FORMAT: 'wrong-name',
  HOSTNAME_MISMATCH: 'wrong-name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'unknown-issuer',
  SELF_SIGNED_CERT_IN_CHAIN: 'unknown-issuer',
  UNABLE_TO_GET_ISSUER_CERT: 'unknown-issuer',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'unknown-issuer',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'unknown-issuer',
  CERT_UNTRUSTED: 'unknown-issuer',
  CERT_REVOKED: 'revoked',
  CERT_SIGNATURE_FAILURE: 'bad-signature',
  UNABLE_TO_DECRYPT_CERT_SIGNATURE: 'bad-signature',
};

/** Node appends advice about its own command-line flag, which does not apply here. */
const NODE_ADVICE = '; if the root CA';

/** The alert for no common application protocol (RFC 7301 section 3.2). */
const NO_APPLICATION_PROTOCOL = /NO_APPLICATION_PROTOCOL/;

/**
 * OpenSSL's code of an error caused by a peer's alert; the suffix is the alert's name (RFC 8446 section 6). Those of
 * RFC 6066 section 9 do not contain the word.
 */
const ALERT =
  /_ALERT_([A-Z_]+)$|^ERR_SSL_TLSV1_(UNRECOGNIZED_NAME|UNSUPPORTED_EXTENSION|CERTIFICATE_UNOBTAINABLE|BAD_CERTIFICATE_STATUS_RESPONSE|BAD_CERTIFICATE_HASH_VALUE)$/;

/** OpenSSL found no common version, and sends the server that alert. */
const NO_COMMON_VERSION: ReadonlySet<string> = new Set([
  'ERR_SSL_UNSUPPORTED_PROTOCOL',
  'ERR_SSL_WRONG_SSL_VERSION',
]);

/** The first bytes received are not a TLS record. */
const NOT_TLS = 'ERR_SSL_WRONG_VERSION_NUMBER';

/** This machine does not have the address family, or neither it nor a router has a route, or the interface is down. */
const NO_ROUTE: ReadonlySet<string> = new Set(['EAFNOSUPPORT', 'ENETUNREACH', 'ENETDOWN']);

/**
 * The host is unreachable, or the connection prohibited: ICMP says so (RFC 1122 section 3.2.2.1), or a route here.
 * ICMPv6 reports with EACCES what is administratively prohibited; on Windows this machine's own firewall does.
 */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENONET',
  ...(process.platform === 'win32' ? [] : ['EACCES']),
]);

/** What connecting reports if this machine's own firewall forbids it. */
const FORBIDDEN_HERE = process.platform === 'win32' ? 'EACCES' : 'EPERM';

const BLACKHOLE = 'a blackhole route of this machine discards what is sent there';

/** An IPv6 address (RFC 4291 section 2.5.6) without its zone belongs to no network (RFC 4007 section 6). */
const LINK_LOCAL = /^fe[89ab][^%]*$/i;
const ZONELESS = 'a link-local address does not say on which interface it is';

/**
 * Linux reports a blackhole route with EINVAL, as if the call were wrong, although the routes `unreachable` and
 * `prohibit` have errors of their own (ip-route(8)); and so it reports an address without its zone. That of any other
 * call is a fault of ours. Null: it is not one of these.
 */
function invalidPath(error: NodeJS.ErrnoException & { readonly address?: string }): AttemptError | null {
  const isInvalid = process.platform === 'linux' && error.code === 'EINVAL' && error.syscall === 'connect';
  if (!isInvalid || error.address === undefined) return null;
  return LINK_LOCAL.test(error.address)
    ? { code: 'no-route', message: ZONELESS }
    : { code: 'tcp-unreachable', message: BLACKHOLE };
}

/** The host answered with RST, or with ICMP port or protocol unreachable. */
const REFUSED: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'ENOPROTOOPT']);

/**
 * Why TCP did not connect; the message gives the system's reason, and only silence is a time-out. Any other code is of
 * this machine, which has no descriptor, memory, port or source address for a socket, or forbids the connection: no SYN
 * was sent.
 */
function unconnectedCode(code: string): AttemptError['code'] {
  if (NO_ROUTE.has(code)) return 'no-route';
  if (UNREACHABLE.has(code)) return 'tcp-unreachable';
  if (REFUSED.has(code)) return 'tcp-refused';
  return code === 'ETIMEDOUT' ? 'tcp-timeout' : 'internal';
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** OpenSSL's reason, without the address and source line around it. */
function tlsMessage(error: Error): string {
  return 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
}

/** Why Node refused a certificate; null: the error is of something else. */
export function certificateReason(error: unknown): CertificateReason | null {
  return error instanceof Error ? (CERTIFICATE_REASONS[codeOf(error)] ?? null) : null;
}

/** The common form of a certificate error. */
export function certificateError(reason: CertificateReason, message: string): AttemptError {
  return { code: 'certificate-invalid', message: `${reason}: ${message}`, reason };
}

function tlsError(error: Error): AttemptError | null {
  const code = codeOf(error);
  const message = tlsMessage(error);
  if (NO_APPLICATION_PROTOCOL.test(code))
    return { code: 'alpn-mismatch', message: 'the server accepts neither h2 nor http/1.1' };
  if (code === NOT_TLS) return { code: 'tls-alert', message: `what answers does not speak TLS: ${message}` };
  const [, named, extension] = ALERT.exec(code) ?? [];
  const alert = (named ?? extension)?.toLowerCase();
  if (alert !== undefined)
    return { code: 'tls-alert', message: `the server sent the TLS alert ${alert}`, wireCode: alert };
  if (NO_COMMON_VERSION.has(code))
    return { code: 'tls-alert', message, wireCode: 'protocol_version', endedBy: 'client' };
  // Everything else OpenSSL has found itself.
  if (code.startsWith('ERR_SSL_')) return { code: 'tls-alert', message, endedBy: 'client' };
  return null;
}

/** Why TCP or TLS failed; `connected`: TCP was connected; `judged`: Node refused the certificate with this error. */
export function connectError(
  error: Error,
  { connected, judged }: { readonly connected: boolean; readonly judged: boolean },
): AttemptError {
  const code = codeOf(error);
  if (judged) {
    const [message = ''] = error.message.split(NODE_ADVICE);
    return certificateError(certificateReason(error) ?? 'other', message);
  }
  if (connected) return tlsError(error) ?? { code: 'connection-closed', message: error.message };
  const invalid = invalidPath(error);
  if (invalid !== null) return invalid;
  const failed = unconnectedCode(code);
  if (failed !== 'internal') return { code: failed, message: error.message };
  const own =
    code === FORBIDDEN_HERE ? 'this machine refuses to send over TCP' : 'no TCP socket can be opened';
  return { code: failed, message: `${own}: ${error.message}` };
}

/** GOAWAY as reported by undici and Node; the second form is used when the code ends our request as well. */
const GOAWAY = /"GOAWAY" frame received with code (\d+)|^Session closed with error code (\d+)/;

/** RST_STREAM: by the peer, or by Node if the answer is malformed; the message does not say which. */
const STREAM_CLOSED = /^Stream closed with error code (?:NGHTTP2_)?(\w+)/;

/** A violation by the peer on which nghttp2 ends the connection, telling the server so (RFC 9113 section 5.4.1). */
const BREACH = 'ERR_HTTP2_ERROR';

function resetWith(wireCode: string): AttemptError {
  // REFUSED_STREAM: not processed either (RFC 9113 section 8.7), like H3_REQUEST_REJECTED over QUIC.
  const code = wireCode === 'REFUSED_STREAM' ? 'goaway' : 'connection-closed';
  return { code, message: `the request's stream was reset (${wireCode})`, wireCode };
}

/** The request's stream was reset with this code, for which Node made no error. */
export function resetError(code: number): AttemptError {
  return resetWith(http2CodeName(code));
}

function http2Error(error: Error): AttemptError | null {
  const [, sent, ended] = GOAWAY.exec(error.message) ?? [];
  const number = sent ?? ended;
  if (number !== undefined) {
    const wireCode = http2CodeName(Number(number));
    return { code: 'goaway', message: `the server sent GOAWAY (${wireCode})`, wireCode };
  }
  const [, wireCode] = STREAM_CLOSED.exec(error.message) ?? [];
  if (wireCode !== undefined) return resetWith(wireCode);
  if (codeOf(error) !== BREACH) return null;
  const message = `the server violates HTTP/2: ${error.message}`;
  return { code: 'connection-closed', message, wireCode: 'PROTOCOL_ERROR', endedBy: 'client' };
}

/** undici's parser ends the connection. Not for an early end, nor for what its own callbacks do. */
const HTTP1_BREACH = /^Response does not match the HTTP\/1\.1 protocol \((?!Invalid EOF|.*callback)/;

/** What undici reports of a 100 (Continue), and of whatever else it does not expect before the response. */
const UNEXPECTED = 'bad response';

/**
 * A client discards a 100 (Continue) that it did not ask for (RFC 9110 section 15.2.1), but undici ends the connection:
 * that is no fault of the server.
 */
const UNEXPECTED_IS_OURS: AttemptError = {
  code: 'internal',
  message:
    'the HTTP/1.1 client used here rejects interim responses that it did not ask for, such as 100 (Continue)',
};

/** Why an established connection gave no answer. */
export function exchangeError(error: Error): AttemptError {
  const code = codeOf(error);
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return TOO_LARGE;
  if (code === 'UND_ERR_SOCKET' && error.message === UNEXPECTED) return UNEXPECTED_IS_OURS;
  if (HTTP1_BREACH.test(error.message)) {
    const message = `the server violates HTTP/1.1: ${error.message}`;
    return { code: 'connection-closed', message, endedBy: 'client' };
  }
  return http2Error(error) ?? tlsError(error) ?? { code: 'connection-closed', message: error.message };
}
