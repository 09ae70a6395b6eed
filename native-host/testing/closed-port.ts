// A port that refuses, for races in tests that must fail at once.
import { once } from 'node:events';
import { silentPort } from './silent-port.ts';
import { LOOPBACK } from './transport.ts';

/** A loopback port on which nothing listens, over TCP or UDP. */
export async function closedPort(): Promise<number> {
  const { port, tcp, udp } = await silentPort();
  await new Promise((resolve) => tcp.close(resolve));
  // Connected to itself the socket takes nobody else's datagrams, which the kernel refuses, and as long as it exists the
  // number is given to no other: every attempt over QUIC takes one.
  udp.connect(port, LOOPBACK);
  await once(udp, 'connect');
  udp.unref();
  return port;
}
