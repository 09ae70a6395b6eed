// A page that is loaded ahead of time and shown later, or never: it counts from when it is shown, once, in both modes.
import type { ServerHttp2Stream } from 'node:http2';
import { join } from 'node:path';
import { storedRecords } from '../../browsers/stored.ts';
import { launchUndriven } from '../../browsers/undriven-chromium.ts';
import { startHttp2 } from '../../origins/raw.ts';
import { copyInFullMode } from '../../playwright/extension.ts';
import { TOP } from '../../scratch.ts';
import { expect, test } from '../fixtures.ts';
import { identityOf } from '../steps.ts';

const EDITION = join(TOP, 'extension/dist/chromium');
const ICON = '<link rel="icon" href="data:,">';
const AHEAD = { prerender: [{ source: 'list', urls: ['/next'], eagerness: 'immediate' }] };
const PAGES: Readonly<Record<string, string>> = {
  // It goes there once the page is prerendered and the spec has looked.
  '/first': `<!doctype html>${ICON}<title>first</title><script type="speculationrules">${JSON.stringify(AHEAD)}</script>
    <script>const ask = async () => ((await fetch('/go')).status === 200 ? location.assign('/next') : setTimeout(ask, 200)); ask()</script>`,
  '/next': `<!doctype html>${ICON}<title>next</title><script src="/script"></script>
    <script>document.addEventListener('prerenderingchange', () => fetch('/shown'))</script>`,
  '/script': '',
  '/shown': '',
};

for (const mode of ['light', 'full'] as const)
  test(`${mode}: a prerendered page counts once it is shown`, async ({ local, dir }) => {
    const { host } = local.origins.both;
    const asked: string[] = [];
    let go = false;
    const server = await startHttp2(await identityOf(local, host), (stream: ServerHttp2Stream, headers) => {
      const path = String(headers[':path']);
      if (path === '/go') {
        stream.respond({ ':status': go ? 200 : 404 });
        return stream.end();
      }
      asked.push(`${path} ${headers['sec-purpose'] ?? ''}`.trim());
      const type = path === '/script' ? 'text/javascript' : 'text/html';
      stream.respond({ ':status': 200, 'content-type': type, 'cache-control': 'no-store' });
      stream.end(PAGES[path] ?? '');
    });
    const origin = `https://${host}:${server.port}`;
    const chromium = await launchUndriven({
      extensionDir: mode === 'full' ? await copyInFullMode(EDITION, join(dir, 'extension')) : EDITION,
      userDataDir: join(dir, 'profile'),
      local,
    });
    try {
      const page = await chromium.openPage('manifest.json');
      const recorded = async () => {
        const record = (await storedRecords(page)).find((each) => each.origin === origin);
        return record && { documents: record.navigations.h2, delivered: record.delivered };
      };
      await chromium.open(`${origin}/first`);
      await expect.poll(() => asked).toContain('/script prefetch;prerender');
      await expect.poll(recorded).toMatchObject({ documents: 1, delivered: { prefetch: 0 } });
      go = true;
      await expect.poll(() => asked).toContain('/shown');
      await expect.poll(recorded).toMatchObject({ documents: 1, delivered: { prefetch: 1 } });
    } finally {
      await chromium.close();
      server.stop();
    }
  });
