// Limits how much is read from one TCP connection, whatever it carries. Below HTTP a peer can send endless data that no
// layer above notices: handshake messages, session tickets, frames of unknown types. Node's native code reads all of
// it, so the sockets' own byte counters are polled.
import type { Socket } from 'node:net';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import { MAX_READ_BYTES } from './request-limits.ts';

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
