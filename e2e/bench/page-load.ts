// What the extension costs a page: time to the load event of a page of 300 resources over 6 origins, in browsers that
// take turns: without it, with it and its helper, and with an empty extension that only holds the webRequest permission,
// for which alone Chromium leads every request through its browser process. At two distances: servers that answer after
// 50 ms, as on a network, and at once, where nothing hides a cost.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { launchChromium } from '../browsers/chromium.ts';
import { openSession } from '../browsers/session.ts';
import type { Tab } from '../browsers/tab.ts';
import { type OriginSettings, startOrigins } from '../origins/start.ts';
import { beginStep } from '../run/display.ts';
import { scratchDirectory } from '../scratch.ts';
import { type Measurement, measure } from './measure.ts';
import { publish } from './result.ts';

const RESOURCES = 300;
const ORIGINS = 6;
const ROUNDS = 60;
const DISTANCES_MS = [50, 0];

function originKinds(answerDelayMs: number): Record<string, OriginSettings> {
  const kinds = Array.from({ length: ORIGINS }, (_, n): [string, OriginSettings] => [
    `o${n}`,
    { host: `o${n}.test`, h3: true, altSvc: 'auto', answerDelayMs },
  ]);
  return Object.fromEntries(kinds);
}

/** An extension that does nothing and may see requests. */
async function emptyExtension(dir: string): Promise<string> {
  const extension = join(dir, 'empty');
  await mkdir(extension);
  const manifest = {
    manifest_version: 3,
    name: 'Empty',
    version: '1',
    permissions: ['webRequest'],
    host_permissions: ['https://*/*'],
    background: { service_worker: 'background.js' },
  };
  await writeFile(join(extension, 'manifest.json'), JSON.stringify(manifest));
  await writeFile(join(extension, 'background.js'), '');
  return extension;
}

/** Milliseconds from the start of the navigation to the end of its load event. */
async function load(tab: Tab, url: string): Promise<number> {
  await tab.goto(url);
  return tab.evaluate(async () => {
    const entry = () => performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming;
    while (entry().loadEventEnd === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    return entry().loadEventEnd;
  });
}

async function compareAt(answerDelayMs: number, dir: string): Promise<[Measurement, string]> {
  const local = await startOrigins({ origins: originKinds(answerDelayMs) });
  const origins = Object.values(local.origins).map((each) => each.origin);
  const url = `${origins[0]}/page?resources=${RESOURCES}&from=${origins.join(',')}`;
  await mkdir(dir);
  const plain = await launchChromium({ local });
  const empty = await launchChromium({ local, extensionDir: await emptyExtension(dir) });
  const session = await openSession({ browser: 'chromium', dir, local, headless: true });
  const step = beginStep(`Loading pages that are answered after ${answerDelayMs} ms`);
  try {
    const alone = await plain.newTab();
    const permitted = await empty.newTab();
    const ours = await session.newTab();
    const measurement = await measure({
      title: `load event of ${RESOURCES} resources over ${ORIGINS} origins, answered after ${answerDelayMs} ms`,
      unit: 'ms',
      sides: [
        { name: 'Chromium alone', run: () => load(alone, url) },
        { name: 'empty extension with webRequest', run: () => load(permitted, url) },
        { name: 'Photofinish', run: () => load(ours, url), ratioAtMost: 1.02 },
      ],
      rounds: ROUNDS,
      warmUpRounds: 5,
      seed: 1,
      onRound: (done, of) => step.detail(`${done} of ${of} rounds`),
    });
    step.end(true);
    return [measurement, session.version];
  } finally {
    await Promise.all([plain.close(), empty.close(), session.close()]);
    await local.stop();
  }
}

const dir = await scratchDirectory('bench-page-load');
try {
  const measurements: Measurement[] = [];
  let chromium = '';
  for (const answerDelayMs of DISTANCES_MS) {
    const [measurement, version] = await compareAt(answerDelayMs, join(dir, String(answerDelayMs)));
    measurements.push(measurement);
    chromium = version;
  }
  publish('page-load', { measurements, versions: { chromium } });
} finally {
  await rm(dir, { recursive: true, force: true, maxRetries: 5 });
}
