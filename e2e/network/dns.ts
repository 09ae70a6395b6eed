// Names on a network of our own: a DNS server inside one of its namespaces, asked by the helper's real resolver.
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Zone } from './dns-message.ts';
import type { Namespace } from './namespace.ts';

const SERVER = fileURLToPath(new URL('dns-server.ts', import.meta.url));

/** Starts a DNS server on UDP port 53 of the namespace's address; it ends with the network. Rejects if it cannot. */
export async function startDns(inside: Namespace, address: string, zone: Zone): Promise<void> {
  const server = inside.spawn(process.execPath, [SERVER, address, JSON.stringify(zone)]);
  const complaints: string[] = [];
  server.stderr.setEncoding('utf8').on('data', (text: string) => complaints.push(text));
  const ended = once(server, 'exit').then(() => {
    throw new Error(`the DNS server ended: ${complaints.join('')}`);
  });
  await Promise.race([once(server.stdout, 'data'), ended]);
  // What ends it later is the end of the network.
  ended.catch(() => {});
}
