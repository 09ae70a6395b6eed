// The accuracy of the link in a few seconds, for the head of whatever is measured over it.
import { openNetwork } from '../../network/open.ts';
import { type DelayLine, type LossLine, measureDelay, measureLoss } from './measure.ts';

const DELAYS_MS = [0, 25, 100];
const SHARES = [0.1, 0.5];
const DELAYED_DATAGRAMS = 60;
const LOST_DATAGRAMS = 2000;

const ms = (us: number) => (us / 1000).toFixed(2);

function delayWords({ askedMs, link: { lateUs } }: DelayLine): string {
  const late =
    lateUs === null ? 'nothing passed' : `median ${ms(lateUs.median)}, latest ${ms(lateUs.max)} ms late`;
  return `delay ${askedMs} ms: ${late}`;
}

function lossWords(share: number, { link: { lost, delivered } }: LossLine): string {
  return `loss ${100 * share} %: ${lost} of ${lost + delivered} packets lost`;
}

/**
 * Measures a link of its own, delays client to server and losses server to client, in under five seconds on an idle
 * machine, and gives a line for each. Rejects where no network can be opened; ask `networkUnavailable('tun')` first.
 */
export async function briefAccuracy(seed = 1): Promise<string[]> {
  const network = await openNetwork({ link: { kind: 'tun', shape: {}, seed } });
  try {
    const lines: string[] = [];
    for (const delayMs of DELAYS_MS)
      lines.push(delayWords(await measureDelay(network, 'up', delayMs, DELAYED_DATAGRAMS)));
    for (const share of SHARES) {
      const asked = { kind: 'independent', share } as const;
      lines.push(lossWords(share, await measureLoss(network, 'down', asked, LOST_DATAGRAMS)));
    }
    return lines;
  } finally {
    await network.close();
  }
}
