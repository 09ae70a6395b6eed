// What several platforms' sources query without privileges: the output of commands, the addresses of interfaces, the
// address that the kernel would send from, and neighbours, which it resolves for a datagram.
import type { SocketOptions } from 'node:dgram';

/** A slow disk or a busy machine may need it; beyond that, no result is better than waiting. */
const COMMAND_TIMEOUT_MS = 2000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** Returns the output of a command; null when it is missing, fails, or takes too long. Never rejects. */
export type RunCommand = (
  file: string,
  args: readonly string[],
  timeoutMs?: number,
) => Promise<string | null>;

/** English output, and directories of administrators' tools, which a desktop's PATH often lacks. */
function environment(): NodeJS.ProcessEnv {
  if (process.platform === 'win32') return process.env;
  return { ...process.env, LC_ALL: 'C', PATH: `${process.env.PATH ?? ''}:/usr/bin:/bin:/usr/sbin:/sbin` };
}

export const runCommand: RunCommand = (file, args, timeout = COMMAND_TIMEOUT_MS) =>
  new Promise((resolve) => {
    // Most starts of a helper need no command and must not load this.
    const { execFile } = process.getBuiltinModule('node:child_process');
    const limits = { timeout, killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT_BYTES } as const;
    execFile(file, [...args], { ...limits, env: environment(), windowsHide: true }, (error, stdout) =>
      resolve(error === null ? stdout : null),
    );
  });

/**
 * Changes whenever an interface or one of its IPv4 addresses is added or removed: on systems whose tables cannot be read
 * without a command, a change of network shows here first.
 */
export function interfacesMark(): string {
  const interfaces = Object.entries(process.getBuiltinModule('node:os').networkInterfaces());
  return JSON.stringify(
    interfaces.map(([device, addresses = []]) => [
      device,
      // IPv6 privacy addresses (RFC 8981) change on the same network.
      addresses.flatMap(({ family, cidr }) => (family === 'IPv4' ? [cidr] : [])),
    ]),
  );
}

/**
 * Addresses for which no private network has a specific route: k.root-servers.net. Nothing is ever sent there;
 * connecting a UDP socket only queries the kernel for a route.
 */
export const PUBLIC_ADDRESSES = { 4: '193.0.14.129', 6: '2001:7fd::1' } as const;

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
    socket.connect(DISCARD_PORT, PUBLIC_ADDRESSES[family]);
    const { address } = socket.address();
    return address === '0.0.0.0' || address === '::' ? null : address;
  } catch {
    return null;
  } finally {
    socket.close();
  }
}

/** Sends a neighbour one empty datagram (see docs/privacy.md), so that the kernel resolves its link-layer address. */
export function sendEmptyDatagram(address: string): void {
  try {
    const socket = socketOf(address.includes(':') ? 6 : 4);
    socket.send('', DISCARD_PORT, address, () => socket.close());
  } catch {
    // It stays unresolved.
  }
}
