// What a UDP socket tells and does without rights: which address the kernel would send from, all its rules applied, and
// a datagram that makes it resolve a neighbour.
import type { SocketOptions } from 'node:dgram';

/**
 * Addresses that no private network has a route of its own for: k.root-servers.net. Nothing is ever sent there; to
 * connect a UDP socket only asks the kernel for a route.
 */
export const FAR_AWAY = { 4: '193.0.14.129', 6: '2001:7fd::1' } as const;

/** The discard service (RFC 863); whether anything listens does not matter. */
export const DISCARD_PORT = 9;

/** A literal needs no look-up; giving it back at once makes binding and connecting synchronous. */
function socketOf(family: 4 | 6) {
  const { createSocket } = process.getBuiltinModule('node:dgram');
  const lookup = ((address: string, ...rest: unknown[]) => {
    const done = rest.at(-1) as (error: null, address: string, family: number) => void;
    done(null, address, family);
  }) as NonNullable<SocketOptions['lookup']>;
  const socket = createSocket({ type: `udp${family}`, lookup });
  // Where no route leads is an answer too.
  socket.on('error', () => {});
  return socket;
}

/** The address that this machine would send from to anywhere; null: no route leads out. */
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

/** Sends a neighbour one empty datagram (docs/privacy.md tells of it), for which the kernel has to find its link-layer address. */
export function nudge(address: string): void {
  try {
    const socket = socketOf(address.includes(':') ? 6 : 4);
    socket.send('', DISCARD_PORT, address, () => socket.close());
  } catch {
    // Unresolved it stays.
  }
}
