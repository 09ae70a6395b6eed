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

/** Writes through Node's own stream, and turns that stream into stderr for everybody else. */
function claimStream(): (bytes: Uint8Array) => void {
  const write = process.stdout.write.bind(process.stdout);
  // The browser has gone; the end of stdin says so as well and ends the helper in order.
  process.stdout.on('error', () => {});
  process.stdout.write = process.stderr.write.bind(process.stderr);
  return (bytes) => {
    write(bytes);
  };
}

/**
 * Moves the pipe to a descriptor of our own and puts stderr in its place, so that native code that prints to
 * descriptor 1 does no harm either. The lowest free descriptor is the one that open() gives: the one just closed.
 */
function claimDescriptor(): ((bytes: Uint8Array) => void) | null {
  if (process.platform !== 'linux') return null;
  const wire = openFirst(['/proc/self/fd/1'], 'w');
  if (wire === null) return null;
  closeSync(STDOUT);
  openFirst(['/proc/self/fd/2', '/dev/null'], 'a');
  return (bytes) => {
    for (let at = 0; at < bytes.length; ) at += writeSync(wire, bytes, at);
  };
}

/** Writes bytes to the browser, whole and in order; throws when it has gone. */
export const writeToBrowser: (bytes: Uint8Array) => void = claimDescriptor() ?? claimStream();
