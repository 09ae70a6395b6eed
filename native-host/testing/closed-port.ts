// A port that refuses, for races in tests that must fail at once.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A loopback port on which nothing listens, over TCP or UDP. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
