// What both contenders send and accept: the same request under the same limits, or their times could not be compared.
import program from '../package.json' with { type: 'json' };

export const USER_AGENT = `photofinish/${program.version}`;
export const REQUEST_PATH = '/';
/** Of a body no more is read: enough to see that it flows. */
export const MAX_BODY_BYTES = 64 * 1024;
/**
 * Of a TCP connection no more is read, TLS and whatever else comes included: three times what an answer may hold, beside
 * chains of certificates. QUIC's bound is the addon's own.
 */
export const MAX_READ_BYTES = 1024 * 1024;
/** Interim responses of one request (RFC 9110 section 15.2); more of them than hints and a reminder nobody needs. */
export const MAX_INTERIM_RESPONSES = 64;
/** Chromium's limit of a response's header section (`kMaxHeaderBufSize`, `kSpdyMaxHeaderListSize`). */
export const MAX_HEADER_BYTES = 256 * 1024;
