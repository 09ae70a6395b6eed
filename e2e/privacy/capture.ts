// Captures every packet sent in a network namespace, and groups packets into flows, each attributed to its initiator.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Namespace } from '../network/namespace.ts';
import { PYTHON, PYTHON_FLAGS } from '../test-programs.ts';

const PROGRAM = fileURLToPath(new URL('capture.py', import.meta.url));

/** Packets between two ends, from the first on. */
export interface Flow {
  /** The transport of the first packet: `tcp`, `udp`, `icmpv6`, `arp`. */
  readonly transport: string;
  readonly device: string;
  /** Source and destination of the first packet; `address:port` if there are ports. */
  readonly from: string;
  readonly to: string;
  readonly beganAtMs: number;
  /** The name in a DNS query. */
  readonly asks?: string;
  packets: number;
}

interface Packet {
  readonly atMs: number;
  readonly device: string;
  readonly transport: string;
  readonly from?: string;
  readonly to?: string;
  readonly fromPort?: number;
  readonly toPort?: number;
  readonly asks?: string;
}

type Line = Packet | { readonly ready: true } | { readonly dropped: number };

export interface Capture {
  /** Stops capturing. Rejects if a packet was missed, since the capture would prove nothing. */
  flows(): Promise<readonly Flow[]>;
}

const end = (address = '', port?: number): string => (port === undefined ? address : `${address}:${port}`);

/** Capturing is active once this resolves. */
export async function startCapture(namespace: Namespace): Promise<Capture> {
  const child = namespace.spawn(PYTHON, [...PYTHON_FLAGS, PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
  const flows = new Map<string, Flow>();
  let dropped: number | null = null;
  const take = (packet: Packet): void => {
    const { transport, device, atMs } = packet;
    const [from, to] = [end(packet.from, packet.fromPort), end(packet.to, packet.toPort)];
    const known =
      flows.get(`${transport} ${device} ${from} ${to}`) ?? flows.get(`${transport} ${device} ${to} ${from}`);
    if (known !== undefined) known.packets += 1;
    else
      flows.set(`${transport} ${device} ${from} ${to}`, {
        transport,
        device,
        from,
        to,
        beganAtMs: atMs,
        ...(packet.asks !== undefined && { asks: packet.asks }),
        packets: 1,
      });
  };
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const ready = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the capture ended with ${code}`)));
    lines.on('line', (text) => {
      const line = JSON.parse(text) as Line;
      if ('ready' in line) resolve();
      else if ('dropped' in line) dropped = line.dropped;
      else take(line);
    });
  });
  await ready;
  const read = once(lines, 'close');
  return {
    async flows() {
      child.stdin?.end();
      await read;
      if (dropped !== 0) throw new Error(`packets that were not captured: ${dropped ?? 'nobody knows'}`);
      return [...flows.values()];
    },
  };
}
