// What both transports send and accept: the same request and limits, so that their times are comparable.
import program from '../package.json' with { type: 'json' };

export const USER_AGENT = `photofinish/${program.version}`;
export const REQUEST_PATH = '/';
/** Body bytes read at most: enough to see that data flows. */
export const MAX_BODY_BYTES = 64 * 1024;
/**
 * Bytes read at most from a TCP connection, including TLS and everything else: three times the maximum size of an
 * answer, plus certificate chains. The addon has its own limit for QUIC.
 */
export const MAX_READ_BYTES = 1024 * 1024;
/** Interim responses per request (RFC 9110 section 15.2); no server needs more than early hints and a 100. */
export const MAX_INTERIM_RESPONSES = 64;
/** Chromium's limit for a response's header section (`kMaxHeaderBufSize`, `kSpdyMaxHeaderListSize`). */
export const MAX_HEADER_BYTES = 256 * 1024;
