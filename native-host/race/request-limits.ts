// What both transports send and accept: the same request and limits, so that their times are comparable. The limit of
// what is read from one TCP connection holds whatever it carries: below HTTP a peer can send endless data that no layer
// above notices, such as handshake messages, session tickets and frames of unknown types. Node's native code reads all
// of it, so the sockets' own byte counters are polled.
import type { Socket } from 'node:net';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import program from '../package.json' with { type: 'json' };

export const USER_AGENT = `photofinish/${program.version}`;
export const REQUEST_PATH = '/';
/** Body bytes read at most: enough to see that data flows. */
export const MAX_BODY_BYTES = 64 * 1024;
/**
 * Bytes read at most from a TCP connection, including TLS and everything else: three times the maximum size of an
 * answer, plus certificate chains. The addon has its own limit for QUIC.
 */
const MAX_READ_BYTES = 1024 * 1024;
/** Interim responses per request (RFC 9110 section 15.2); no server needs more than early hints and a 100. */
export const MAX_INTERIM_RESPONSES = 64;
/** Chromium's limit for a response's header section (`kMaxHeaderBufSize`, `kSpdyMaxHeaderListSize`). */
export const MAX_HEADER_BYTES = 256 * 1024;

/** At 1 Gbit/s, 600 KB arrive between two polls, which the kernel would buffer anyway. */
const LOOK_EVERY_MS = 5;

/** Our own limit, which does not count against the server. */
export const READ_TOO_MUCH: AttemptError = {
  code: 'response-too-large',
  message: `the server sent more than the ${MAX_READ_BYTES / 1024 / 1024} MiB that are read of a connection`,
};

/** Calls `onOver` once if more than the limit has been read from the socket; the returned function ends the watch. */
export type WatchReading = (socket: Pick<Socket, 'bytesRead'>, onOver: () => void) => () => void;

/** One timer for all sockets, running only while there are any. */
export function createReadWatch(): WatchReading {
  const watched = new Map<Pick<Socket, 'bytesRead'>, () => void>();
  let timer: NodeJS.Timeout | null = null;

  function end(socket: Pick<Socket, 'bytesRead'>): void {
    watched.delete(socket);
    if (watched.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  }

  function look(): void {
    for (const [socket, onOver] of [...watched]) {
      if (socket.bytesRead <= MAX_READ_BYTES) continue;
      end(socket);
      onOver();
    }
  }

  return (socket, onOver) => {
    watched.set(socket, onOver);
    timer ??= setInterval(look, LOOK_EVERY_MS);
    return () => end(socket);
  };
}
