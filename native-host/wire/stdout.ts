// The one speaker on the wire. Importing this file, before anything else, takes stdout away from everybody: one stray
// byte of a console.log or of a native library would make the browser close the port.
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { Pipe } from './outbox.ts';

const STDOUT = 1;
const STDERR = 2;

function openFirst(paths: readonly string[], flags: string | number): number | null {
  for (const path of paths) {
    try {
      return openSync(path, flags);
    } catch {
      // The next one will do: descriptors that are sockets cannot be opened by their path.
    }
  }
  return null;
}

/**
 * Moves the pipe to a descriptor of our own and puts stderr in its place, so that native code that prints to
 * descriptor 1 does no harm. The lowest free descriptor is the one that open() gives: the one just closed. Where
 * stdout is no pipe but a socket, it stays where it is.
 */
function claimDescriptor(): number {
  // Opened anew it can be told not to block without telling the browser's end, or another program's, the same.
  const flags = constants.O_WRONLY | constants.O_NONBLOCK;
  const wire = process.platform === 'linux' ? openFirst(['/proc/self/fd/1'], flags) : null;
  if (wire === null) return STDOUT;
  closeSync(STDOUT);
  openFirst(['/proc/self/fd/2', '/dev/null'], 'a');
  return wire;
}

/** Gives Node's stream on stdout to us alone, made only if asked for: it brings all of Node's sockets with it. */
function claimStream(): () => Writable {
  const made = Object.getOwnPropertyDescriptor(process, 'stdout')?.get;
  Object.defineProperty(process, 'stdout', { configurable: true, get: () => process.stderr });
  return () => {
    const stream = made?.call(process);
    // The browser has gone; the end of stdin says so as well and ends the helper in order.
    stream.on('error', () => {});
    return stream;
  };
}

const streamOfStdout = claimStream();
const wire = claimDescriptor();
let stream: Writable | null = null;

/** The browser's end of standard output. Where it is a socket that has no room, Node waits for that. */
export const BROWSER: Pipe = {
  write(bytes, at) {
    if (stream === null) {
      try {
        return writeSync(wire, bytes, at);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
        if (wire !== STDOUT) return 0;
        stream = streamOfStdout();
      }
    }
    stream.write(bytes.subarray(at));
    return bytes.length - at;
  },
  waitingBytes: () => stream?.writableLength ?? 0,
};

/** Writes words to standard error where that can be; whoever reads there, or does not, must not end the helper. */
export function complain(words: string): void {
  try {
    writeSync(STDERR, words);
  } catch {
    // The disk under it is full, or nobody is there.
  }
}
