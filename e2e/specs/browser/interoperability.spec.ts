// Browser visits to third-party servers: the report counts each response under the protocol that its server logged.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { navigationProtocol } from '../../browsers/browser.ts';
import { SCRIPTS } from '../../origins/stack.ts';
import { presentStacks } from '../../origins/stacks.ts';
import { expect, exportedReport, test } from '../fixtures.ts';
import { COUNTED } from '../steps.ts';

const HOST = 'both.test';
/** The first is over HTTP/2, and a later one over HTTP/3 if it is offered; on a busy machine much later. */
const VISITS = { least: 4, most: 15 };

test('each response is counted under the protocol that its server logged', async ({
  authority,
  dir,
  open,
}) => {
  const certificate = authority.certificates[HOST];
  if (certificate === undefined) throw new Error(`no certificate for ${HOST}`);
  const { caPath } = authority;
  const running = await Promise.all(
    presentStacks().map(async (stack, index) => {
      const own = join(dir, `stack-${index}`);
      await mkdir(own);
      const started = await stack.start({ host: HOST, certificate, caPath, dir: own });
      return { ...started, name: stack.name, origin: `https://${HOST}:${started.port}` };
    }),
  );
  try {
    const origins = running.map(({ name, origin, port }) => [name, { origin, port, host: HOST }] as const);
    const session = await open({ local: { ...authority, origins: Object.fromEntries(origins) } });
    const tab = await session.newTab();
    const upgraded = new Set<string>();
    const isUpgraded = () => running.every(({ h3, name }) => !h3 || upgraded.has(name));
    let visits = 0;
    while (visits < VISITS.least || (visits < VISITS.most && !isUpgraded())) {
      visits += 1;
      for (const { origin, path = '/', name } of running) {
        await tab.goto(`${origin}${path}`);
        // A page left before its responses have arrived does not report them.
        const loaded = () => tab.evaluate(() => performance.getEntriesByType('resource').length);
        await expect.poll(loaded).toBe(SCRIPTS.length);
        if ((await navigationProtocol(tab)) === 'h3') upgraded.add(name);
      }
    }
    const popup = await session.openPopup(null);
    await expect(async () => {
      const { sites } = await exportedReport(popup, dir);
      const reported = sites.flatMap((site) => site.origins);
      for (const { name, origin, served } of running) {
        const logged = { h3: 0, h2: 0, 'http/1.1': 0, unknown: 0 };
        for (const protocol of await served()) logged[protocol] += 1;
        const own = reported.find((each) => each.origin === origin);
        expect({ name, ...own?.protocols }).toEqual({ name, ...logged });
      }
    }).toPass({ ...COUNTED, intervals: [1000] });
    for (const { name, h3, served, version } of running) {
      const protocols = await served();
      expect(protocols).toHaveLength(visits * (1 + SCRIPTS.length));
      expect(protocols.includes('h3'), `${name} ${version}`).toBe(h3);
    }
  } finally {
    for (const { stop } of running) await stop();
  }
});
