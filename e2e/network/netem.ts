// A link shaped by the kernel's emulator (tc-netem(8)), where available: a cable whose ends delay and drop outgoing
// packets. It cannot report its own lateness, nor lose packets by a seed; shapes that it would treat differently are
// left to the forwarder.
import { runCommand, runOrThrow } from '../child-process.ts';
import type { End } from './forwarder.ts';
import { namespaceName, thisProcess } from './owner.ts';
import type { Loss, Shape, Shapes } from './shape.ts';

/** Queue limit of a link, including delayed packets: none may be lost to a full queue unless the shape limits it. */
const ROOM_PACKETS = 100_000;
/** The default of `Shape`. */
const DEFAULT_QUEUE_PACKETS = 1000;
/** netem includes the Ethernet header in the packet size. */
const ETHERNET_HEADER_BYTES = 14;

const percent = (share: number) => `${(share * 100).toFixed(6)}%`;

function lossWords(loss: Loss): string[] {
  if (loss.kind === 'independent') return ['loss', 'random', percent(loss.share)];
  const { enter, leave, shareInside = 1, shareOutside = 0 } = loss;
  return ['loss', 'gemodel', ...[enter, leave, shareInside, shareOutside].map(percent)];
}

/** Why netem cannot reproduce the shape; null if it can. */
export function beyondNetem(shape: Shape): string | null {
  const { delayMs = 0, jitterMs = 0, rateMbps, maxPacketBytes, apart } = shape;
  if (jitterMs > 0) return 'packets overtake each other when netem varies the delay';
  if (rateMbps !== undefined && delayMs > 0)
    return 'netem counts delayed packets to the queue before the rate';
  if (maxPacketBytes !== undefined) return 'netem passes packets of any length';
  return apart === undefined ? null : 'netem sets nothing apart';
}

/**
 * The `netem` arguments for a shape. Every setting is given even if it has no effect, since changing a qdisc keeps
 * omitted ones. Throws a RangeError for what netem cannot reproduce.
 */
export function netemWords(shape: Shape): string[] {
  const why = beyondNetem(shape);
  if (why !== null) throw new RangeError(why);
  const { delayMs = 0, loss, rateMbps, queuePackets = DEFAULT_QUEUE_PACKETS } = shape;
  const limit = rateMbps === undefined ? ROOM_PACKETS : queuePackets;
  const rate = rateMbps === undefined ? ['0bit'] : [`${rateMbps}mbit`, String(-ETHERNET_HEADER_BYTES)];
  return [
    ...['limit', String(limit), 'delay', `${delayMs}ms`],
    ...lossWords(loss ?? { kind: 'independent', share: 0 }),
    ...['rate', ...rate],
  ];
}

const onEgress = ({ namespace, device }: End, verb: 'add' | 'change', shape: Shape) =>
  runOrThrow('tc', ['-n', namespace, 'qdisc', verb, 'dev', device, 'root', 'netem', ...netemWords(shape)]);

/**
 * Attaches netem to both ends of a cable; packets from the client go `up`. Returns a function that changes it at
 * runtime.
 */
export async function shapeEgress(client: End, peer: End): Promise<(shapes: Shapes) => Promise<void>> {
  for (const end of [client, peer]) await onEgress(end, 'add', {});
  return async ({ up, down }) => {
    if (up !== undefined) await onEgress(client, 'change', up);
    if (down !== undefined) await onEgress(peer, 'change', down);
  };
}

async function tryNetem(): Promise<string | null> {
  const name = namespaceName(thisProcess(), 0, 'netem');
  await runOrThrow('ip', ['netns', 'add', name]);
  try {
    const words = ['-n', name, 'qdisc', 'add', 'dev', 'lo', 'root', 'netem', ...netemWords({})];
    const { code, stderr } = await runCommand('tc', words);
    return code === 0 ? null : `this kernel has no netem (${stderr.trim()})`;
  } catch {
    return 'tc is not installed';
  } finally {
    await runOrThrow('ip', ['netns', 'delete', name]);
  }
}

let answer: Promise<string | null> | undefined;

/**
 * Why netem is unavailable here, determined by trying once; null if it is available. Rejects if there are no
 * namespaces.
 */
export function netemUnavailable(): Promise<string | null> {
  answer ??= tryNetem();
  return answer;
}
