// What both contenders send and accept: the same request under the same limits, or their times could not be compared.
import program from '../package.json' with { type: 'json' };

export const USER_AGENT = `photofinish/${program.version}`;
export const REQUEST_PATH = '/';
/** Of a body no more is read: enough to see that it flows. */
export const MAX_BODY_BYTES = 64 * 1024;
/** Chromium's limit of a response's header section (`kMaxHeaderBufSize`, `kSpdyMaxHeaderListSize`). */
export const MAX_HEADER_BYTES = 256 * 1024;
