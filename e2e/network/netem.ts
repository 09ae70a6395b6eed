// The link by the kernel's own emulator (tc-netem(8)), where it has one: a cable whose ends delay and lose what leaves
// them. It cannot say how late it was, nor lose by a seed; what it does otherwise than a `Shape` says is left to the
// forwarder.
import { runCommand, runOrThrow } from '../child-process.ts';
import type { End } from './forwarder.ts';
import { namespaceName, thisProcess } from './owner.ts';
import type { Loss, Shape, Shapes } from './shape.ts';

/** All that a link holds, delayed packets included: none may be lost for want of room that nobody asked to be narrow. */
const ROOM_PACKETS = 100_000;
/** As `Shape` has it. */
const DEFAULT_QUEUE_PACKETS = 1000;
/** netem counts the Ethernet header to the packet. */
const ETHERNET_HEADER_BYTES = 14;

const percent = (share: number) => `${(share * 100).toFixed(6)}%`;

function lossWords(loss: Loss): string[] {
  if (loss.kind === 'independent') return ['loss', 'random', percent(loss.share)];
  const { enter, leave, shareInside = 1, shareOutside = 0 } = loss;
  return ['loss', 'gemodel', ...[enter, leave, shareInside, shareOutside].map(percent)];
}

/** Why netem would do otherwise than the shape says; null: it does it. */
export function beyondNetem(shape: Shape): string | null {
  const { delayMs = 0, jitterMs = 0, rateMbps, maxPacketBytes, apart } = shape;
  if (jitterMs > 0) return 'packets overtake each other when netem varies the delay';
  if (rateMbps !== undefined && delayMs > 0)
    return 'netem counts delayed packets to the queue before the rate';
  if (maxPacketBytes !== undefined) return 'netem passes packets of any length';
  return apart === undefined ? null : 'netem sets nothing apart';
}

/**
 * The words behind `netem` for a shape. Each setting is named even where it does nothing, as changing a qdisc leaves out
 * what is not. Throws a RangeError for what netem would do otherwise.
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

/** Puts netem at both ends of a cable; what leaves the client goes `up`. Gives what changes it while it runs. */
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

/** Why netem cannot be had here, found out by trying once; null: it can. Rejects where there are no namespaces. */
export function netemUnavailable(): Promise<string | null> {
  answer ??= tryNetem();
  return answer;
}
