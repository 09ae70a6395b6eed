// A host cache as after years of browsing, filled over native messaging like any other.
import { MAX_OBSERVATIONS } from '@photofinish/shared/port/wire';
import { greet, type HostPort } from '../helper/port.ts';

/** The nth of many origins, each on its own site. */
function manyOrigin(n: number): { origin: string; site: string } {
  return { origin: `https://www.site-${n}.example`, site: `site-${n}.example` };
}

/** Which of `count` origins a trip of a round requests: spread over the cache, and different in each round. */
export function scatteredOrigin(round: number, trip: number, count: number): ReturnType<typeof manyOrigin> {
  return manyOrigin((round * 7919 + trip * 104_729) % count);
}

/**
 * Sends `hello` and has the helper store `count` origins, half of them HTTP/3; resolves once all are durable.
 * `onStored` is called after each batch with their number.
 */
export async function fillCache(
  helper: HostPort,
  count: number,
  onStored?: (stored: number) => void,
): Promise<void> {
  await greet(helper);
  for (let from = 0; from < count; from += MAX_OBSERVATIONS) {
    const observations = Array.from({ length: Math.min(MAX_OBSERVATIONS, count - from) }, (_, i) => ({
      id: `fill-${from + i}`,
      ...manyOrigin(from + i),
      kind: 'navigation',
      delivery: 'network',
      protocol: (from + i) % 2 === 0 ? 'h3' : 'h2',
      altSvc: 'h3=":443"; ma=86400',
      atMs: Date.now(),
      bytes: 1024,
    }));
    helper.send({ type: 'observed', id: 2 + from, browser: 'chromium', observations });
    const reply = await helper.next();
    if (reply.type !== 'observed') throw new Error(`not stored: ${JSON.stringify(reply)}`);
    onStored?.(from + observations.length);
  }
}
