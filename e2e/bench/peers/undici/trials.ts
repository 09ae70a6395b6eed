// undici as measured by the laboratory: cold connections to one origin, one after the other, each by its own client
// with default settings except for HTTP/2, which is allowed and preferred. Reads one JSON document from standard input
// and prints one; `versions` prints the versions of its components.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import type { LookupFunction } from 'node:net';
import { json } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { Client } from 'undici';
import type { LabTrial } from '../../../lab/client.ts';

interface Order {
  readonly origin: { readonly host: string; readonly port: number; readonly address: string };
  readonly ca: string;
  readonly trials: number;
  readonly deadlineMs: number;
}

/** undici's diagnostics channel for connections with completed handshakes. */
const CONNECTED = 'undici:client:connected';

function versions(): Record<string, string> {
  const file = fileURLToPath(import.meta.resolve('undici/package.json'));
  return { undici: JSON.parse(readFileSync(file, 'utf8')).version, 'Node.js': process.versions.node };
}

/** One trial; it ends once its connection is closed. */
async function cold({ origin: { host, port, address }, deadlineMs }: Order, ca: string): Promise<LabTrial> {
  const lookup: LookupFunction = (_host, { all }, found) =>
    all === true ? found(null, [{ address, family: 4 }]) : found(null, address, 4);
  let connected: { readonly protocol: 'h2' | 'http/1.1'; readonly atMs: number } | null = null;
  const onConnected = (message: unknown) => {
    const { socket } = message as { readonly socket: TLSSocket };
    const protocol = socket.alpnProtocol === 'h2' ? 'h2' : 'http/1.1';
    connected ??= { protocol, atMs: performance.now() };
  };
  subscribe(CONNECTED, onConnected);
  const startedMs = performance.now();
  const client = new Client(`https://${host}:${port}`, {
    allowH2: true,
    connect: { ca, lookup, preferH2: true },
  });
  // While connecting, an abort signal has no effect.
  const deadline = setTimeout(() => void client.destroy(new Error('the deadline has passed')), deadlineMs);
  try {
    const { body } = await client.request({ method: 'GET', path: '/' });
    const firstByteMs = performance.now() - startedMs;
    await body.dump();
    if (connected === null) throw new Error('undici did not say that it was connected');
    const { protocol, atMs } = connected;
    return { adopted: protocol, establishedMs: atMs - startedMs, firstByteMs };
  } catch (error) {
    return { adopted: null, establishedMs: null, firstByteMs: null, error: String(error) };
  } finally {
    clearTimeout(deadline);
    unsubscribe(CONNECTED, onConnected);
    await client.destroy();
  }
}

async function trials(): Promise<LabTrial[]> {
  const order = (await json(process.stdin)) as Order;
  const ca = readFileSync(order.ca, 'utf8');
  const made: LabTrial[] = [];
  for (let trial = 0; trial < order.trials; trial += 1) made.push(await cold(order, ca));
  return made;
}

process.stdout.write(JSON.stringify(process.argv[2] === 'versions' ? versions() : await trials()));
