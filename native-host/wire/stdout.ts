// The one speaker on the wire. Importing this file, before anything else, takes stdout away from everybody: one stray
// byte of a console.log or of a native library would make the browser close the port.
import { closeSync, openSync, writeSync } from 'node:fs';

const STDOUT = 1;

function openFirst(paths: readonly string[], flags: string): number | null {
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
  const wire = process.platform === 'linux' ? openFirst(['/proc/self/fd/1'], 'w') : null;
  if (wire === null) return STDOUT;
  closeSync(STDOUT);
  openFirst(['/proc/self/fd/2', '/dev/null'], 'a');
  return wire;
}

/** Gives Node's stream on stdout to us alone, made only if asked for: it brings all of Node's sockets with it. */
function claimStream(): () => NodeJS.WritableStream {
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
let stream: NodeJS.WritableStream | null = null;

/** Writes bytes to the browser, whole and in order; throws when it has gone. */
export function writeToBrowser(bytes: Uint8Array): void {
  let at = 0;
  try {
    while (stream === null && at < bytes.length) at += writeSync(wire, bytes, at);
  } catch (error) {
    // A socket that does not block is left to Node, which waits for it.
    if (wire !== STDOUT || (error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    stream = streamOfStdout();
  }
  stream?.write(bytes.subarray(at));
}
