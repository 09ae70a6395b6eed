// An error status without content, for which Chromium alone shows a page of its own, as if the navigation had failed.
import { startHttp2 } from '../../origins/raw.ts';
import { expect, test } from '../fixtures.ts';
import { identityOf } from '../steps.ts';

test('a 404 without content is not reported as a page that did not load', async ({ local, open }) => {
  const { host } = local.origins.both;
  const server = await startHttp2(await identityOf(local, host), (stream) =>
    stream.respond({ ':status': 404 }, { endStream: true }),
  );
  try {
    const session = await open();
    const tab = await session.newTab();
    await tab.goto(`https://${host}:${server.port}`).catch(() => {});
    const popup = await session.openPopup(tab);
    await expect(popup.part('page-host')).toSay(`${host}:${server.port}`);
    await expect(popup.part('verdict')).toSay(/^The server answered with an error status and no content/);
    await expect(popup.part('page-protocol')).toSay('Error without content');
    await expect(popup.part('race')).toSay('Race this host');
  } finally {
    server.stop();
  }
});
