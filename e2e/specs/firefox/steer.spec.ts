// Steering over time, which only Firefox supports: away from HTTP/3 that is broken here, across restarts, and the
// switch.
import { readFile, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { POPUP_PORT } from '../../../extension/common/messages.ts';
import { visitUntil } from '../../browsers/browser.ts';
import type { Session } from '../../browsers/session.ts';
import type { RunningOrigin } from '../../origins/start.ts';
import { expect, exportedReport, test } from '../fixtures.ts';
import { pressSteer, protocolOfVisit, racedPopup, turnSteering, visitSteered } from '../steps.ts';

/** At this address the helper finds the origin without UDP; the browser uses the origin's real address. */
const NO_UDP_ADDRESS = '127.0.0.2';

/** Forwards TCP to an origin from an address on which nothing listens on UDP. */
async function forwardTcp({ port }: RunningOrigin): Promise<Server> {
  const server = createServer((client) => {
    const origin = connect(port, '127.0.0.1');
    client.pipe(origin).pipe(client);
    for (const socket of [client, origin])
      socket.on('error', () => client.destroy(origin.destroy().errored ?? undefined));
  });
  await new Promise<void>((resolve) => server.listen(port, NO_UDP_ADDRESS, resolve));
  return server;
}

/** A page of an origin that could be steered and is not yet, with steering switched on. */
async function racedUnsteered(session: Session, origin: string) {
  await turnSteering(session);
  const tab = await session.newTab();
  await tab.goto(origin);
  return { tab, popup: await racedPopup(session, tab) };
}

test('a page already used over h3 returns to h2 if the helper finds HTTP/3 broken', async ({
  local,
  open,
}) => {
  const { both } = local.origins;
  const forwarder = await forwardTcp(both);
  try {
    const session = await open({ own: true });
    const { config } = session.files;
    const settings = JSON.parse(await readFile(config, 'utf8'));
    settings.resolve[`${both.host}:${both.port}`] = NO_UDP_ADDRESS;
    settings.allowPrivate = ['127.0.0.0/8'];
    await writeFile(config, JSON.stringify(settings));
    await session.restart();
    await turnSteering(session);
    const tab = await session.newTab();
    await visitUntil(tab, both.origin, 'h3');
    const popup = await racedPopup(session, tab);
    await pressSteer(popup, 'it fails on this network');
    await expect(popup.part('steer')).toMention('Kept off HTTP/3');
    await tab.goto(both.origin);
    for (let visit = 0; visit < 3; visit += 1)
      await expect.poll(() => protocolOfVisit(tab, both.origin)).toBe('h2');

    await pressSteer(popup, 'Kept off HTTP/3');
    // Firefox keeps its existing connection, however often the server advertises; after a restart it has none.
    await session.restart();
    await visitUntil(await session.newTab(), both.origin, 'h3');
  } finally {
    forwarder.close();
  }
});

test('the switch undoes everything, including steering from an earlier run of the browser', async ({
  local,
  open,
}) => {
  const session = await open({ own: true });
  const { origin } = local.origins.silent;
  let { tab, popup } = await racedUnsteered(session, origin);
  await pressSteer(popup, 'the server has not advertised it');
  await expect(popup.part('steer')).toMention('Steered to HTTP/3');
  await tab.reload();
  await visitSteered(tab, origin);

  await session.restart();
  tab = await session.newTab();
  await visitSteered(tab, origin);
  popup = await session.openPopup(tab);
  await expect(popup.part('steer')).toMention('Steered to HTTP/3');
  await turnSteering(session);
  await tab.goto(origin);
  await expect.poll(() => protocolOfVisit(tab, origin)).toBe('h2');
  await expect(popup.part('steer')).toMention('steering is off');
});

test('a press while the background is terminated is not lost', async ({ local, open }) => {
  const session = await open();
  const { origin } = local.origins.silent;
  const { popup } = await racedUnsteered(session, origin);
  await expect(popup.part('steer')).toMention('the server has not advertised it');
  await popup.tab.evaluate((name) => {
    // It breaks together with the popup's port, which is not open again before this task ends.
    chrome.runtime.connect({ name }).onDisconnect.addListener(() => {
      document.getElementById('steer-press')?.click();
    });
  }, POPUP_PORT);
  await session.stopBackground();
  // What the new background knows of races decides whether it can begin at once.
  await expect(popup.part('steer')).toSay(/^(Selected for steering|Steered to HTTP\/3)/);
});

test('our header is not mistaken for the server’s, even on responses that wake the background', async ({
  local,
  open,
  dir,
}) => {
  const session = await open();
  const { origin } = local.origins.silent;
  const { tab, popup: chosen } = await racedUnsteered(session, origin);
  await pressSteer(chosen, 'the server has not advertised it');
  await expect(chosen.part('steer')).toMention('Steered to HTTP/3');
  // Its open port would wake the background.
  await chosen.tab.close();
  for (let visit = 0; visit < 3; visit += 1) {
    await session.stopBackground();
    await tab.goto(origin);
  }

  const popup = await session.openPopup(tab);
  await expect(popup.part('steer')).toMention('Steered to HTTP/3');
  const report = await exportedReport(popup, dir);
  const [seen] = report.sites[0]?.origins ?? [];
  expect(seen?.verdict.findings.map(({ key }) => key)).toContain('verdictPerhapsNotAdvertised');
  await pressSteer(popup, 'Steered to HTTP/3');
  await expect(popup.part('steer'), 'it was heard that Firefox was told').toMention('Being undone');
  await tab.goto(origin);
  await expect(popup.part('steer')).not.toMention('Being undone');
  await expect.poll(() => protocolOfVisit(tab, origin)).toBe('h2');
});
