// The parts of an old-HTTP connection on their own: each line of standard input, `tcp` or `tls`, makes one connection
// to the server given as argument and closes it once it is established. Prints a line for each, a short form of what
// `photofinish race -` prints.
import { readFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { createInterface } from 'node:readline';
import { connect as connectTls, createSecureContext } from 'node:tls';

const [address = '', port = '', servername = '', caPath = ''] = process.argv.slice(2);
const TIMEOUT_MS = 5000;
const secureContext = createSecureContext({ ca: readFileSync(caPath) });

/** Whether it was established in time. */
function probe(kind: string): Promise<boolean> {
  const target = { host: address, port: Number(port), noDelay: true };
  const socket =
    kind === 'tls'
      ? connectTls({ ...target, servername, secureContext, ALPNProtocols: ['h2', 'http/1.1'] })
      : connectTcp(target);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.setTimeout(TIMEOUT_MS);
  socket.once(kind === 'tls' ? 'secureConnect' : 'connect', () => resolve(true));
  socket.once('timeout', () => resolve(false));
  socket.once('error', () => resolve(false));
  socket.once('close', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

for await (const kind of createInterface({ input: process.stdin })) {
  const atMs = Date.now();
  void probe(kind).then((ok) => process.stdout.write(`${JSON.stringify({ atMs, ok })}\n`));
}
