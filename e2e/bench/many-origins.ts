// A host cache as full as years of browsing leave it, filled over the wire like any other.
import { MAX_OBSERVATIONS } from '@photofinish/shared/wire';
import { greet } from '../helper/open.ts';
import type { HostPort } from '../helper/port.ts';

/** The nth of many origins, each the only one of its site. */
export function manyOrigin(n: number): { origin: string; site: string } {
  return { origin: `https://www.site-${n}.example`, site: `site-${n}.example` };
}

/** Says hello and has the helper store `count` origins, half of them HTTP/3; resolves once all are durable. */
export async function fillCache(helper: HostPort, count: number): Promise<void> {
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
  }
}
