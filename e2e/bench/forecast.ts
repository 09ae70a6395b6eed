// A forecast's round trip from the extension's service worker through the real browser to a helper with 100,000 origins
// in its cache, compared with a host that only echoes, and one that reads a row and replies with as much as a forecast;
// and how many navigations have their forecast before the first byte.
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CHROMIUM_EXTENSION_ID, HOST_NAME } from '@photofinish/shared/port/extension-id';
import type { Page, Worker } from '@playwright/test';
import { playwrightPage } from '../browsers/chromium.ts';
import { installHelper, openSession, sessionFiles } from '../browsers/session.ts';
import { fillCache, openHelper, scatteredOrigin } from '../helper/port.ts';
import { ORIGIN_KINDS, startOrigins } from '../origins/start.ts';
import { beginStep } from '../run/display.ts';
import { scratchIn, TOP } from '../scratch.ts';
import { measureInStep, publish } from './measure.ts';

/** Hosts for comparison: programs of this folder, by the name of the host. */
const BARE_HOSTS = {
  'org.photofinish.echo': 'echo-host.mjs',
  'org.photofinish.sqlite': 'sqlite-host.cjs',
};
type BareHost = keyof typeof BARE_HOSTS;
const CACHED_ORIGINS = 100_000;
/** The browser's clock has a resolution of 0.1 ms: a sample is the mean of this many consecutive round trips. */
const TRIPS_PER_SAMPLE = 50;
const NAVIGATIONS = 200;
/** The goal: what a forecast costs beyond an echo. */
const BEYOND_ECHO_MS_AT_MOST = 0.15;
/** Delay of the origin's responses. */
const ANSWER_DELAY_MS = 20;

/** Registers a bare host in addition to the helper, for the same extension. */
async function installBare(profile: string, name: BareHost): Promise<void> {
  const hosts = join(profile, 'NativeMessagingHosts');
  await mkdir(hosts, { recursive: true });
  const launcher = join(hosts, `${name}.sh`);
  const program = [process.execPath, join(TOP, 'e2e/bench', BARE_HOSTS[name]), join(profile, `${name}.db`)];
  await writeFile(launcher, `#!/bin/sh\nexec ${program.map((word) => `'${word}'`).join(' ')}\n`);
  await chmod(launcher, 0o700);
  const manifest = {
    name,
    description: 'For comparison',
    path: launcher,
    type: 'stdio',
    allowed_origins: [`chrome-extension://${CHROMIUM_EXTENSION_ID}/`],
  };
  await writeFile(join(hosts, `${name}.json`), JSON.stringify(manifest));
}

/** Opens a separate port from the service worker to a host and sends `hello`. */
async function connect(worker: Worker, host: string): Promise<void> {
  await worker.evaluate(async (name) => {
    const port = chrome.runtime.connectNative(name);
    const ports = globalThis as unknown as Record<string, (message: unknown) => Promise<unknown>>;
    const ask = (message: unknown) =>
      new Promise((resolve) => {
        const take = (reply: unknown) => {
          port.onMessage.removeListener(take);
          resolve(reply);
        };
        port.onMessage.addListener(take);
        port.postMessage(message);
      });
    ports[`ask ${name}`] = ask;
    await ask({ type: 'hello', id: 1, protocol: 1, program: 'bench/1' });
  }, host);
}

/** Mean round-trip time with this host, milliseconds. */
function roundTrips(worker: Worker, host: string, round: number): Promise<number> {
  const origins = Array.from({ length: TRIPS_PER_SAMPLE }, (_, trip) =>
    scatteredOrigin(round, trip, CACHED_ORIGINS),
  );
  return worker.evaluate(
    async ([name, questions]) => {
      const ask = (globalThis as unknown as Record<string, (message: unknown) => Promise<unknown>>)[
        `ask ${name}`
      ];
      if (ask === undefined) throw new Error(`no port to ${name}`);
      const startedMs = performance.now();
      for (const [id, { origin, site }] of questions.entries())
        await ask({ type: 'forecast', id: id + 2, browser: 'chromium', site, origins: [origin] });
      return (performance.now() - startedMs) / questions.length;
    },
    [host, origins] as const,
  );
}

/** The part of what the extension keeps about a page in the browser's session storage that is used here. */
interface PageTimes {
  readonly documentId: string;
  readonly forecastAtMs: number | null;
  readonly firstByteAtMs: number | null;
}

/** Visits the origin and returns, of the visits with both times recorded, how many had their forecast in time. */
async function navigate(
  page: Page,
  worker: Worker,
  origin: string,
  onVisit: (visit: number) => void,
): Promise<{ inTime: number; of: number }> {
  const pages = new Map<string, PageTimes>();
  const collect = async () => {
    // The last page's times are sent in a separate batch.
    await page.waitForTimeout(1000);
    const stored = await worker.evaluate(() => chrome.storage.session.get(null));
    for (const [key, value] of Object.entries(stored)) {
      if (!key.startsWith('page:')) continue;
      const times: PageTimes = JSON.parse(String(value));
      if (times.firstByteAtMs !== null) pages.set(times.documentId, times);
    }
  };
  for (let visit = 1; visit <= NAVIGATIONS; visit += 1) {
    await page.goto(origin);
    onVisit(visit);
    // The extension keeps a hundred pages.
    if (visit % 50 === 0) await collect();
  }
  const answered = [...pages.values()];
  const inTime = answered.filter((p) => (p.forecastAtMs ?? Infinity) < (p.firstByteAtMs ?? 0)).length;
  return { inTime, of: answered.length };
}

await using closing = new AsyncDisposableStack();
const dir = await scratchIn(closing, 'bench-forecast');
const files = sessionFiles('chromium', dir);
const local = await startOrigins({
  origins: { slow: { ...ORIGIN_KINDS.both, answerDelayMs: ANSWER_DELAY_MS } },
});
closing.defer(local.stop);
const filling = beginStep(`Filling the host cache with ${CACHED_ORIGINS} origins`);
await mkdir(files.profile, { recursive: true });
await installHelper(files, local);
for (const name of Object.keys(BARE_HOSTS) as BareHost[]) await installBare(files.profile, name);
const helper = openHelper(files.config);
await fillCache(helper, CACHED_ORIGINS);
await helper.close();
filling.end(true);

const session = await openSession({ browser: 'chromium', dir, local, headless: true });
closing.defer(session.close);
const page = playwrightPage(await session.newTab());
const context = page.context();
const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
for (const name of [HOST_NAME, ...Object.keys(BARE_HOSTS)]) await connect(worker, name);
const measurement = await measureInStep('Round trips', {
  title: `forecast round trip in the browser, ${CACHED_ORIGINS} origins cached`,
  unit: 'ms',
  sides: [
    { name: 'echo host', run: (round) => roundTrips(worker, 'org.photofinish.echo', round) },
    { name: 'bare host with SQLite', run: (round) => roundTrips(worker, 'org.photofinish.sqlite', round) },
    {
      name: 'photofinish',
      run: (round) => roundTrips(worker, HOST_NAME, round),
      beyondAtMost: BEYOND_ECHO_MS_AT_MOST,
    },
  ],
  rounds: 100,
  warmUpRounds: 5,
});

const visits = beginStep('Navigations');
const share = await navigate(page, worker, local.origins.slow.origin, (visit) =>
  visits.detail(`${visit} of ${NAVIGATIONS}`),
);
visits.end(true);
publish('forecast', {
  measurements: [measurement],
  facts: [
    { name: 'navigations looked at', value: share.of, unit: 'navigations', atLeast: NAVIGATIONS * 0.9 },
    {
      name: `forecast before the first byte, origin ${ANSWER_DELAY_MS} ms late`,
      value: (100 * share.inTime) / share.of,
      unit: '%',
      atLeast: 99,
    },
  ],
  versions: { chromium: session.version },
});
