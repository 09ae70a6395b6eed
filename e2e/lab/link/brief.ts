// The accuracy of the link in a few seconds, for the head of whatever is measured over it.
import { openNetwork } from '../../network/open.ts';
import { type DelayRow, type LossRow, measureDelay, measureLoss } from './measure.ts';
import { delayTable, lossTable } from './tables.ts';

const DELAYS_MS = [0, 25, 100];
const SHARES = [0.1, 0.5];
const DELAYED_DATAGRAMS = 60;
const LOST_DATAGRAMS = 2000;

export interface LinkBrief {
  readonly delays: readonly DelayRow[];
  readonly losses: readonly LossRow[];
}

/**
 * Measures a link of its own, delays client to server and losses server to client, in under five seconds on an idle
 * machine. Rejects where no network can be opened; ask `networkUnavailable('tun')` first.
 */
export async function briefAccuracy(seed = 1): Promise<LinkBrief> {
  const network = await openNetwork({ link: { kind: 'tun', shape: {}, seed } });
  try {
    const delays: DelayRow[] = [];
    const losses: LossRow[] = [];
    for (const delayMs of DELAYS_MS)
      delays.push(await measureDelay(network, 'up', delayMs, DELAYED_DATAGRAMS));
    for (const share of SHARES)
      losses.push(await measureLoss(network, 'down', { kind: 'independent', share }, LOST_DATAGRAMS));
    return { delays, losses };
  } finally {
    await network.close();
  }
}

/** Two tables; without a trailing newline. */
export function formatBrief({ delays, losses }: LinkBrief): string {
  return `${delayTable(delays)}\n\n${lossTable(losses)}`;
}
