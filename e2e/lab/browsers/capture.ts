// The packets that a client under test sends and receives, read off its devices: what it did, not what it says.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import type { Namespace } from '../../network/namespace.ts';
import { insistOnPython, PYTHON, PYTHON_FLAGS } from '../../test-programs.ts';

const SCRIPT = fileURLToPath(new URL('capture.py', import.meta.url));

const port = v.pipe(v.number(), v.integer(), v.minValue(0));
const packetSchema = v.object({
  /** By the kernel's wall clock, milliseconds since 1970. */
  atMs: v.number(),
  family: v.picklist([4, 6]),
  transport: v.picklist(['udp', 'tcp']),
  source: port,
  destination: port,
  /** TCP's (RFC 9293 section 3.1), the lower eight bits. */
  flags: v.optional(v.number()),
  /** The first byte of a datagram to or from another port than that of DNS. */
  first: v.optional(v.number()),
  /** Of DNS messages, hexadecimal. */
  payload: v.optional(v.string()),
});
export type Packet = v.InferOutput<typeof packetSchema>;

const lineSchema = v.union([packetSchema, v.string(), v.number()]);

interface Capture {
  /** The packets since the last call that have passed until now. Rejects if the program has ended. */
  take(): Promise<Packet[]>;
  close(): Promise<void>;
}

/** Starts a capture of those ports on the devices of a namespace; resolves once it runs. */
export async function startCapture(
  namespace: Namespace,
  devices: readonly string[],
  ports: readonly number[],
): Promise<Capture> {
  insistOnPython();
  const child = namespace.spawn(PYTHON, [...PYTHON_FLAGS, SCRIPT, ports.join(','), ...devices]);
  const exited = once(child, 'exit');
  const complaints: string[] = [];
  createInterface(child.stderr).on('line', (line) => complaints.push(line));
  child.stdin.on('error', () => {});
  let packets: Packet[] = [];
  let marked: (() => void) | null = null;
  createInterface(child.stdout).on('line', (line) => {
    const told = v.parse(lineSchema, JSON.parse(line));
    if (typeof told === 'object') packets.push(told);
    else marked?.();
  });
  const ended = exited.then(() => {
    throw new Error(`the capture has ended: ${complaints.join('\n')}`);
  });
  ended.catch(() => {});
  const mark = () => {
    const repeated = Promise.withResolvers<void>();
    marked = repeated.resolve;
    return Promise.race([repeated.promise, ended]);
  };
  await mark();
  return {
    async take() {
      const passed = mark();
      child.stdin.write('0\n');
      await passed;
      const taken = packets;
      packets = [];
      return taken;
    },
    async close() {
      child.stdin.end();
      await exited;
    },
  };
}
