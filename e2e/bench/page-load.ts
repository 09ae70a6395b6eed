// What the extension costs a page: time to the load event of a page of 300 resources over 6 origins, in one browser
// with extension and helper and in one without, taking turns.
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { launchChromium } from '../browsers/chromium.ts';
import { openSession } from '../browsers/session.ts';
import { type OriginSettings, startOrigins } from '../origins/start.ts';
import { beginStep } from '../run/display.ts';
import { measure } from './measure.ts';
import { publish } from './result.ts';

const TOP = new URL('../../', import.meta.url).pathname;
const RESOURCES = 300;
const ORIGINS = 6;
const ROUNDS = 100;

const kinds = Array.from({ length: ORIGINS }, (_, n): [string, OriginSettings] => [
  `o${n}`,
  { host: `o${n}.test`, h3: true, altSvc: 'auto' },
]);
const local = await startOrigins({ origins: Object.fromEntries(kinds) });
const [first, ...others] = Object.values(local.origins);
if (first === undefined) throw new Error('no origin was started');
const from = [first, ...others].map((each) => each.origin).join(',');
const url = `${first.origin}/page?resources=${RESOURCES}&from=${from}`;

/** Milliseconds from the start of the navigation to the end of its load event. */
async function load(page: Page): Promise<number> {
  await page.goto(url, { waitUntil: 'load' });
  return page.evaluate(async () => {
    const entry = () => performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming;
    while (entry().loadEventEnd === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    return entry().loadEventEnd;
  });
}

const dir = await mkdtemp(join(TOP, '.photofinish', 'bench-page-load-'));
const plain = await launchChromium({ origins: local });
const session = await openSession({ dir, local, headless: true });
try {
  const step = beginStep('Loading pages');
  const [without, with_] = [await plain.context.newPage(), await session.context.newPage()];
  const measurement = await measure({
    title: `load event of a page of ${RESOURCES} resources over ${ORIGINS} origins`,
    unit: 'ms',
    sides: [
      { name: 'Chromium alone', run: () => load(without) },
      { name: 'with Photofinish', run: () => load(with_), ratioAtMost: 1.02 },
    ],
    rounds: ROUNDS,
    warmUpRounds: 5,
    seed: 1,
    onRound: (done, of) => step.detail(`${done} of ${of} rounds`),
  });
  step.end(true);
  const chromium = session.context.browser()?.version() ?? 'unknown';
  publish('page-load', { measurements: [measurement], versions: { chromium } });
} finally {
  await plain.close();
  await session.close();
  await local.stop();
  await rm(dir, { recursive: true, force: true, maxRetries: 5 });
}
