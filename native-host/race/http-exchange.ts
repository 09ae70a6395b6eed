// One request on an established TLS socket. Over HTTP/2 by Node's own client: undici, which is built on the same
// client, does not expose what browsers process: ALTSVC frames, interim responses, and header sections beyond 64 KiB.
// Over HTTP/1.1 by an undici client that only gets this socket.
import type { ClientHttp2Stream } from 'node:http2';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import type { Dispatcher, Client as UndiciClientType } from 'undici';
import {
  type ExchangeOptions,
  MAX_HEADER_BYTES,
  REQUEST_PATH,
  type RunningExchange,
  readResponse,
  TOO_LARGE,
} from './response-reading.ts';
import { exchangeError, resetError } from './tcp-failure.ts';

export type Http2 = typeof import('node:http2');
export type UndiciClient = typeof UndiciClientType;

/**
 * Node resets a stream whose header section exceeds this, without saying that Node did it. It is so far above our own
 * limit that a reset below our limit must come from the server.
 */
const NODE_HEADER_LIST_BYTES = 4 * MAX_HEADER_BYTES;
/** Minimum size of a field in the header list size (RFC 9113 section 6.5.2). */
const FIELD_BYTES = 32;
/**
 * nghttp2 accepts at most eight CONTINUATION frames, and no field beyond 64 KiB. Servers that use larger frames need no
 * CONTINUATION for header sections within our limit.
 */
const MAX_FRAME_BYTES = 2 * MAX_HEADER_BYTES;
/** Bytes that the first frame may have contained (the minimum of `SETTINGS_MAX_FRAME_SIZE`). */
const FIRST_FRAME_BYTES = 16 * 1024;
/** `NGHTTP2_ERR_TOO_MANY_CONTINUATIONS`. */
const TOO_MANY_CONTINUATIONS = -905;
/** `NGHTTP2_ERR_PROTO`: also the only code for a field that was too large. */
const PROTOCOL_ERROR = -505;
const TOO_MANY_FRAMES: AttemptError = {
  code: 'response-too-large',
  message: 'the header section of the response has more than the nine frames that are read',
};
/** The code that does not count against the host: what the server did is not known. */
const TOO_LARGE_OR_BREACH: AttemptError = {
  code: 'response-too-large',
  message:
    'before the header section was complete, a field exceeded the 64 KiB that are read, or the server violated HTTP/2; which of the two is unknown here',
};

const NO_ERROR = 0;
const RESET_PROTOCOL_ERROR = 1;
const ENHANCE_YOUR_CALM = 11;
const HTTP_1_1_REQUIRED = 13;

/** Content ends before its Content-Length: nghttp2 resets the stream itself then (RFC 9113 section 8.1.1). */
const NOT_AS_LONG: AttemptError = {
  code: 'connection-closed',
  message: 'the content is not as long as its Content-Length',
  wireCode: 'PROTOCOL_ERROR',
  endedBy: 'client',
};

/** Its Content-Length is that of the content it does not have (RFC 9110 section 8.6). */
const NOT_MODIFIED = 304;

function errnoOf(error: Error): unknown {
  return 'errno' in error ? error.errno : null;
}

/**
 * A frame on stream 0 names its origin; one on another stream applies to the origin of the request (RFC 7838 section
 * 4).
 */
function isForUs(named: string, stream: number, origin: string, ownStream: number | undefined): boolean {
  if (stream !== 0) return named === '' && stream === ownStream;
  return URL.canParse(named) && new URL(named).origin === new URL(origin).origin;
}

/** Sends the request at once and reads the response within its limits. */
export function http2Exchange({ connect }: Http2, options: ExchangeOptions): RunningExchange {
  const { socket, authority } = options;
  const origin = `https://${authority}`;
  const readBefore = socket.bytesRead;
  let headed = false;
  let missingBytes = 0;
  let stream: ClientHttp2Stream | null = null;
  const session = connect(origin, {
    createConnection: () => socket,
    maxHeaderListPairs: NODE_HEADER_LIST_BYTES / FIELD_BYTES,
    settings: {
      enablePush: false,
      maxHeaderListSize: NODE_HEADER_LIST_BYTES,
      maxFrameSize: MAX_FRAME_BYTES,
    },
  });
  const reading = readResponse(options, () => {
    // For a stream that is still open, a session makes an error, whose stack costs more than its own end.
    stream?.destroy();
    session.destroy();
    socket.destroy();
  });

  /** Which of our limits ended the stream, null if none did. */
  function limitOf(error: Error): AttemptError | null {
    const readBytes = socket.bytesRead - readBefore;
    if (headed) return null;
    if (errnoOf(error) === TOO_MANY_CONTINUATIONS) return TOO_MANY_FRAMES;
    if (errnoOf(error) === PROTOCOL_ERROR && readBytes >= FIRST_FRAME_BYTES) return TOO_LARGE_OR_BREACH;
    return stream?.rstCode === ENHANCE_YOUR_CALM && readBytes > MAX_HEADER_BYTES ? TOO_LARGE : null;
  }

  function failed(error: Error): void {
    const isNotAsLong = headed && missingBytes > 0 && stream?.rstCode === RESET_PROTOCOL_ERROR;
    const failure = limitOf(error) ?? (isNotAsLong ? NOT_AS_LONG : exchangeError(error));
    if (stream?.rstCode === HTTP_1_1_REQUIRED) reading.requireHttp11(failure);
    else reading.end(failure);
  }

  function goneAway(code: number, lastStream: number | undefined): void {
    const error: AttemptError = exchangeError(new Error(`HTTP/2: "GOAWAY" frame received with code ${code}`));
    if (code === HTTP_1_1_REQUIRED) reading.requireHttp11(error);
    // After a graceful GOAWAY, requests up to the last stream are still answered (RFC 9113 section 6.8).
    else if (code !== NO_ERROR || (lastStream ?? 0) < (stream?.id ?? 1)) reading.end(error);
  }

  session.on('error', failed);
  session.on('goaway', goneAway);
  session.on('altsvc', (value, named, on) => {
    if (isForUs(named, on, origin, stream?.id)) reading.frame(value);
  });
  stream = session.request({ ':method': 'GET', ':path': REQUEST_PATH, 'user-agent': options.userAgent });
  stream.on('headers', (fields) => reading.head(Number(fields[':status']), fields));
  stream.on('response', (fields) => {
    headed = true;
    if (fields[':status'] !== NOT_MODIFIED) missingBytes = Number(fields['content-length'] ?? 0);
    reading.head(Number(fields[':status']), fields);
  });
  stream.on('data', (chunk: Buffer) => {
    missingBytes -= chunk.length;
    reading.body(chunk.length);
  });
  stream.on('end', () => {
    // A reset ends the stream too, and one with NO_ERROR looks like END_STREAM, whose content nghttp2 has checked.
    if (headed && stream?.rstCode === NO_ERROR && missingBytes <= 0) reading.complete();
  });
  stream.on('error', failed);
  stream.on('close', () => {
    // Node makes no error of a reset with CANCEL or NO_ERROR; an ended connection destroys the session first.
    if (stream === null || session.destroyed)
      reading.end(exchangeError(new Error('the peer closed the connection')));
    else reading.end(resetError(stream.rstCode));
  });
  return reading;
}

/** Sends the request over HTTP/1.1 at once and reads the response within its limits. */
export function http1Exchange(Client: UndiciClient, options: ExchangeOptions): RunningExchange {
  const { socket } = options;
  let handedOver = false;
  let controller: Dispatcher.DispatchController | null = null;
  let lastDisconnect: Error | null = null;
  const reading = readResponse(options, () => {
    controller?.abort(new Error('the exchange is over'));
    socket.destroy();
    void client.destroy();
  });

  const client = new Client(`https://${options.authority}`, {
    maxHeaderSize: MAX_HEADER_BYTES,
    // We use one exact timer of our own instead of undici's.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (_target, callback) => {
      // undici reconnects for a request left unanswered by a close; an attempt has only one connection.
      const again = handedOver;
      handedOver = true;
      queueMicrotask(() =>
        again
          ? reading.end(exchangeError(lastDisconnect ?? new Error('the peer closed the connection')))
          : callback(null, socket),
      );
    },
  });
  client.on('disconnect', (_origin, _targets, error) => {
    lastDisconnect = error;
  });
  client.dispatch(
    { path: REQUEST_PATH, method: 'GET', headers: { 'user-agent': options.userAgent } },
    {
      onRequestStart(started) {
        controller = started;
      },
      onResponseStart: (_controller, status, headers) => reading.head(status, headers),
      onResponseData: (_controller, chunk) => reading.body(chunk.length),
      onResponseEnd: reading.complete,
      onResponseError: (_controller, error) => reading.end(exchangeError(error)),
    },
  );
  return reading;
}
