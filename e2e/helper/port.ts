// A native messaging client over a pipe, as in a browser: starts a host, the built helper or another, and exchanges
// messages with it.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { CHROMIUM_EXTENSION_ID } from '@photofinish/shared/port/extension-id';

const LENGTH_BYTES = 4;

export interface HostPort {
  readonly pid: number;
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  /** Sends one message as a frame. */
  send(message: unknown): void;
  /** The next message from the host, in receiving order; rejects if the host exits first. */
  next(): Promise<Record<string, unknown>>;
  /** Closes the host's input, as a browser does when the port is disconnected, and returns its exit code. */
  close(): Promise<number | null>;
}

/** A message in wire format: 32-bit length in native byte order, then JSON. */
function frame(message: unknown): Buffer {
  const json = Buffer.from(JSON.stringify(message));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(json.length);
  return Buffer.concat([length, json]);
}

/** Starts a host; its standard error is passed through. */
export function openHost(file: string, args: readonly string[]): HostPort {
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const messages: Record<string, unknown>[] = [];
  const waiting: ((message: Record<string, unknown>) => void)[] = [];
  let rest = Buffer.alloc(0);
  child.stdout.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= LENGTH_BYTES && rest.length >= LENGTH_BYTES + rest.readUInt32LE(0)) {
      const end = LENGTH_BYTES + rest.readUInt32LE(0);
      const message = JSON.parse(rest.subarray(LENGTH_BYTES, end).toString());
      rest = rest.subarray(end);
      const taker = waiting.shift();
      if (taker) taker(message);
      else messages.push(message);
    }
  });
  const ended = exited.then(([code]) => {
    throw new Error(`the host ended with code ${code} before it answered`);
  });
  ended.catch(() => {});
  return {
    pid: child.pid ?? -1,
    child,
    send: (message) => void child.stdin.write(frame(message)),
    next() {
      const ready = messages.shift();
      if (ready) return Promise.resolve(ready);
      return Promise.race([
        new Promise<Record<string, unknown>>((resolve) => waiting.push(resolve)),
        ended as Promise<never>,
      ]);
    },
    async close() {
      child.stdin.end();
      const [code] = await exited;
      return code;
    },
  };
}

const HELPER_MAIN = fileURLToPath(new URL('../../native-host/dist/main.cjs', import.meta.url));

/** Arguments after the runtime's: the helper with this configuration file, as started for the extension. */
export function helperArguments(config: string): string[] {
  return [HELPER_MAIN, '--config', config, '--', `chrome-extension://${CHROMIUM_EXTENSION_ID}/`];
}

/** Starts a helper with this configuration file; no `hello` has been sent yet. */
export function openHelper(config: string): HostPort {
  return openHost(process.execPath, helperArguments(config));
}

/** Sends `hello` and returns the reply; throws if it is not a `hello` reply. */
export async function greet(port: HostPort): Promise<Record<string, unknown>> {
  port.send({ type: 'hello', id: 1, protocol: 1, program: 'e2e/1' });
  const reply = await port.next();
  if (reply.type !== 'hello') throw new Error(`no hello but ${JSON.stringify(reply)}`);
  return reply;
}
