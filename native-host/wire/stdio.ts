// The streams to and from the browser. Importing this file, before anything else, takes stdout away from everybody
// else: one stray byte of a console.log or a native library would make the browser close the port. Node's stream on
// stdin loads all of Node's sockets, a tenth of the time to a first forecast, so the first bytes are read without it.
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { Pipe } from './outbox.ts';

const STDOUT = 1;
const STDERR = 2;

function openFirst(paths: readonly string[], flags: string | number): number | null {
  for (const path of paths) {
    try {
      return openSync(path, flags);
    } catch {
      // Try the next one: descriptors that are sockets cannot be opened by path.
    }
  }
  return null;
}

/**
 * Moves the pipe to a new descriptor and replaces it with stderr, so that native code printing to descriptor 1 does no
 * harm. open() returns the lowest free descriptor: the one just closed. If stdout is a socket instead of a pipe, it is
 * left as it is.
 */
function claimDescriptor(): number {
  // Opened again, it can be made non-blocking without affecting the browser's end, or another program's.
  const flags = constants.O_WRONLY | constants.O_NONBLOCK;
  const wire = process.platform === 'linux' ? openFirst(['/proc/self/fd/1'], flags) : null;
  if (wire === null) return STDOUT;
  closeSync(STDOUT);
  openFirst(['/proc/self/fd/2', '/dev/null'], 'a');
  return wire;
}

/** Reserves Node's stream on stdout for us, created only on demand: it loads all of Node's sockets. */
function claimStream(): () => Writable {
  const made = Object.getOwnPropertyDescriptor(process, 'stdout')?.get;
  Object.defineProperty(process, 'stdout', { configurable: true, get: () => process.stderr });
  return () => {
    const stream = made?.call(process);
    // The browser has gone; the end of stdin signals that as well and ends the helper in an orderly way.
    stream.on('error', () => {});
    return stream;
  };
}

const streamOfStdout = claimStream();
const wire = claimDescriptor();
let stream: Writable | null = null;

/** The browser's end of standard output. If it is a socket without space, Node waits for that. */
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

/** Writes a message to standard error if possible; whoever reads it or not must not end the helper. */
export function complain(words: string): void {
  try {
    writeSync(STDERR, words);
  } catch {
    // The disk is full, or nobody reads.
  }
}

const STDIN = 0;
const READ_BYTES = 65_536;

/** What to do after some bytes: block until more arrive, be called when they arrive, or stop. */
type ReadDecision = 'wait' | 'listen' | 'stop';

/** Passes bytes to `take` in order as long as it wants them, and calls `gone` once they end or fail. */
export function readFromBrowser(take: (bytes: Uint8Array) => ReadDecision, gone: () => void): void {
  let decision: ReadDecision = 'wait';
  while (decision === 'wait') {
    const bytes = Buffer.allocUnsafe(READ_BYTES);
    let count: number;
    try {
      count = readSync(STDIN, bytes);
    } catch {
      // The descriptor is non-blocking, or it has failed; the stream handles the former and reports the latter.
      break;
    }
    if (count === 0) {
      gone();
      return;
    }
    decision = take(bytes.subarray(0, count));
  }
  if (decision === 'stop') return;
  const { stdin } = process;
  stdin.on('data', (bytes: Buffer) => {
    if (take(bytes) === 'stop') stdin.pause();
  });
  stdin.once('end', gone);
  stdin.once('error', gone);
}
