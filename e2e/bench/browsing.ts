// A day of browsing: 200 pages over 40 local origins, each origin five times, in three Chromiums that take turns:
// without the extension, in light and in full mode, both with the helper. What is compared is the processor time of the
// browser with all its processes, the helper among them. `--pages N` sets the number of pages for each.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Tab } from '../browsers/browser.ts';
import { launchChromium, processOf } from '../browsers/chromium.ts';
import { openSession } from '../browsers/session.ts';
import { manyOrigins, startOrigins } from '../origins/start.ts';
import { familyTimeMs } from '../proc.ts';
import { scratchIn } from '../scratch.ts';
import { measureInStep, publish, type Side } from './measure.ts';

const ORIGINS = 40;
const PAGES = 200;
/** A page has as many resources as the median page of the web, from itself and two others. */
const RESOURCES = 70;
const FOREIGN = 2;

const { values } = parseArgs({ options: { pages: { type: 'string' } } });
const rounds = Math.round(Number(values.pages ?? PAGES) / ORIGINS);
if (!(rounds >= 1)) throw new Error(`--pages takes a number of at least ${ORIGINS}`);
const unlike = { h3: false, altSvc: null };
await using local = await startOrigins({ origins: manyOrigins(ORIGINS, (n) => (n % 2 === 0 ? {} : unlike)) });
await using closing = new AsyncDisposableStack();
const dir = await scratchIn(closing, 'bench-browsing');
const origins = Object.values(local.origins).map(({ origin }) => origin);

/** Each round visits every origin once: cold in the first, and later with what the browser has learnt and stored. */
async function sideOf(name: string, tab: Tab, profile: string, ratioAtMost?: number): Promise<Side> {
  const pid = await processOf(profile);
  const run = async () => {
    const before = familyTimeMs(pid);
    for (const [n, origin] of origins.entries()) {
      const from = [origin, ...origins.slice(n + 1, n + 1 + FOREIGN)].join(',');
      await tab.goto(`${origin}/page?resources=${RESOURCES}&cache=1&from=${from}`);
    }
    return familyTimeMs(pid) - before;
  };
  return { name, run, ...(ratioAtMost !== undefined && { ratioAtMost }) };
}

const profile = join(dir, 'plain');
const plain = await launchChromium({ local, userDataDir: profile });
closing.defer(plain.close);
const ours = async (mode: 'light' | 'full') => {
  const own = join(dir, mode);
  const session = await openSession({ browser: 'chromium', dir: own, local, headless: true, mode });
  closing.defer(session.close);
  return sideOf(`Photofinish, ${mode} mode`, await session.newTab(), session.files.profile);
};
const measurement = await measureInStep(`${rounds * ORIGINS} pages in each browser`, {
  title: `Chromium: processor time of ${ORIGINS} pages with ${RESOURCES} resources each`,
  unit: 'ms',
  sides: [
    await sideOf('Chromium alone', await plain.newTab(), profile),
    await ours('light'),
    await ours('full'),
  ],
  rounds,
  warmUpRounds: 0,
});
publish('browsing', { measurements: [measurement], versions: { chromium: plain.version } });
