// Traffic over a link, seen from its ends: what was sent, what arrived, and after what time.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Namespace } from '../../network/namespace.ts';

const PROCESS = fileURLToPath(new URL('traffic-process.ts', import.meta.url));
/** What is still on its way when the sender ends has arrived by then, beyond the link's own delay. */
const GRACE_MS = 150;

export interface Stream {
  /** IPv4. */
  readonly address: string;
  readonly datagrams: number;
  /** Payload; at least the 12 bytes of number and time. */
  readonly bytes: number;
  readonly perSecond: number;
}

export interface Connects {
  readonly address: string;
  /** One after the other. */
  readonly times: number;
}

export interface Arrival {
  readonly sequence: number;
  /** From the sender's call to the receiver's callback. */
  readonly stayUs: number;
  /** Of a clock that begins anywhere. */
  readonly atUs: number;
}

async function near<Told>(from: Namespace, order: Stream | Connects): Promise<Told> {
  const { code, stdout, stderr } = await from.run(process.execPath, [PROCESS, 'near', JSON.stringify(order)]);
  if (code !== 0) throw new Error(stderr);
  return (stdout === '' ? undefined : JSON.parse(stdout)) as Told;
}

async function withFar<Told>(
  at: Namespace,
  work: () => Promise<Told>,
): Promise<{ told: Told; arrivals: Arrival[] }> {
  const child = at.spawn(process.execPath, [PROCESS, 'far']);
  const closed = once(child, 'close');
  child.stdout.setEncoding('utf8');
  const heard: string[] = [];
  const complaints: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => complaints.push(text));
  await Promise.race([
    once(child.stdout, 'data'),
    closed.then(() => {
      throw new Error(complaints.join(''));
    }),
  ]);
  child.stdout.on('data', (text: string) => heard.push(text));
  try {
    const told = await work();
    child.stdin.end();
    await closed;
    return { told, arrivals: JSON.parse(heard.join('')) as Arrival[] };
  } catch (error) {
    child.stdin.end();
    throw error;
  }
}

/** Sends datagrams at an even pace and gives those that arrived; `delayMs` is the link's, which is waited for. */
export async function sendStream(
  from: Namespace,
  to: Namespace,
  stream: Stream,
  delayMs = 0,
): Promise<Arrival[]> {
  const { arrivals } = await withFar(to, async () => {
    await near<void>(from, stream);
    await sleep(delayMs + GRACE_MS);
  });
  return arrivals;
}

/** How long each of so many TCP connects took, microseconds. */
export async function timeConnects(from: Namespace, to: Namespace, order: Connects): Promise<number[]> {
  return (await withFar(to, () => near<number[]>(from, order))).told;
}
