// What a UDP socket provides without privileges: the address that the kernel would send from, with all its rules
// applied, and a datagram that makes it resolve a neighbour.
import type { SocketOptions } from 'node:dgram';

/**
 * Addresses for which no private network has a specific route: k.root-servers.net. Nothing is ever sent there;
 * connecting a UDP socket only queries the kernel for a route.
 */
export const FAR_AWAY = { 4: '193.0.14.129', 6: '2001:7fd::1' } as const;

/** The discard service (RFC 863); whether anything listens does not matter. */
export const DISCARD_PORT = 9;

/** A literal needs no look-up; returning it at once makes binding and connecting synchronous. */
function socketOf(family: 4 | 6) {
  const { createSocket } = process.getBuiltinModule('node:dgram');
  const lookup = ((address: string, ...rest: unknown[]) => {
    const done = rest.at(-1) as (error: null, address: string, family: number) => void;
    done(null, address, family);
  }) as NonNullable<SocketOptions['lookup']>;
  const socket = createSocket({ type: `udp${family}`, lookup });
  // Having no route is an answer too.
  socket.on('error', () => {});
  return socket;
}

/** The address that this machine would send from to the Internet; null without a route. */
export function sourceAddress(family: 4 | 6): string | null {
  const socket = socketOf(family);
  try {
    socket.connect(DISCARD_PORT, FAR_AWAY[family]);
    const { address } = socket.address();
    return address === '0.0.0.0' || address === '::' ? null : address;
  } catch {
    return null;
  } finally {
    socket.close();
  }
}

/** Sends a neighbour one empty datagram (see docs/privacy.md), so that the kernel resolves its link-layer address. */
export function nudge(address: string): void {
  try {
    const socket = socketOf(address.includes(':') ? 6 : 4);
    socket.send('', DISCARD_PORT, address, () => socket.close());
  } catch {
    // It stays unresolved.
  }
}
