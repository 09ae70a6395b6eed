// Names on a network of our own: a DNS server inside one of its namespaces, asked by the helper's real resolver.
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { HostScript } from '../origins/dns.ts';
import type { Namespace } from './namespace.ts';

const SERVER = fileURLToPath(new URL('dns-server.ts', import.meta.url));

/**
 * Starts a DNS server on UDP port 53 of one of the namespace's IPv4 addresses; it ends with the network. Gives
 * `address:port`, as `--resolver` takes it. Rejects if it cannot listen.
 */
export async function startDnsInside(
  inside: Namespace,
  address: string,
  names: Readonly<Record<string, HostScript>>,
): Promise<string> {
  const server = inside.spawn(process.execPath, [SERVER, address, JSON.stringify(names)]);
  const complaints: string[] = [];
  server.stderr.setEncoding('utf8').on('data', (text: string) => complaints.push(text));
  const ended = once(server, 'exit').then((): never => {
    throw new Error(`the DNS server ended: ${complaints.join('')}`);
  });
  const [resolver] = await Promise.race([once(server.stdout.setEncoding('utf8'), 'data'), ended]);
  // What ends it later is the end of the network.
  ended.catch(() => {});
  return resolver.trim();
}
