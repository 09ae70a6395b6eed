// A page's process that was taken over, which speaks as the extension's content script does: what it can read of what
// the extension stores, and for which sites it can record. In Chromium, whose worlds a spec can speak from.
import { contentWorld } from '../browsers/content-world.ts';
import type { Session } from '../browsers/session.ts';
import type { Tab } from '../browsers/tab.ts';
import { expect, exportedReport, test } from './fixtures.ts';

const worldOf = (session: Session, tab: Tab, frameUrl?: string) =>
  contentWorld(tab, session.extensionUrl('').replace(/\/$/, ''), frameUrl);

const entry = (url: string) => ({
  navigation: false,
  url,
  alpn: 'h3',
  deliveryType: '',
  startMs: Date.now() - 20,
  endMs: Date.now() - 10,
  firstByteMs: Date.now() - 10,
  transferBytes: 1000,
  bodyBytes: 700,
  worker: false,
  opaque: false,
});

const batch = (topOrigin: string | null, url: string) => ({
  type: 'timings',
  source: crypto.randomUUID(),
  seq: 1,
  topOrigin,
  startedMs: Date.now() - 100,
  controlled: false,
  entries: [entry(url)],
});

test('it reads and writes nothing that the extension stores', async ({ local, open }) => {
  const session = await open();
  const tab = await session.newTab();
  await tab.goto(local.origins.h2only.origin);
  const run = await worldOf(session, tab);
  for (const area of ['local', 'session', 'sync'])
    for (const use of [
      'get(null)',
      "set({ settings: { version: 2, settings: { raceWhen: 'first-visit' } } })",
    ])
      await expect(run(`chrome.storage.${area}.${use}`), `${area}.${use}`).rejects.toThrow(
        /not allowed|undefined/,
      );
});

test('it records for no site but its own', async ({ local, open, dir }) => {
  const session = await open();
  const { both, h2only } = local.origins;
  const tab = await session.newTab();
  const frameUrl = `${h2only.origin}/page?resources=1`;
  await tab.goto(both.origin);
  await tab.evaluate(
    (src) =>
      new Promise<void>((resolve) => {
        const frame = document.createElement('iframe');
        frame.onload = () => resolve();
        frame.src = src;
        document.body.append(frame);
      }),
    frameUrl,
  );
  const send = (message: object) => `chrome.runtime.sendMessage(${JSON.stringify(message)})`;
  const victim = 'https://victim.test';
  const inPage = await worldOf(session, tab);
  const inFrame = await worldOf(session, tab, frameUrl);
  await inPage(send(batch(victim, `${victim}/1`)));
  await inFrame(send(batch(victim, `${victim}/2`)));
  // A frame that says that it is the page.
  await inFrame(send(batch(null, `${victim}/3`)));
  await inFrame(send({ type: 'left', batches: [batch(victim, `${victim}/4`)] }));
  await inFrame(send({ type: 'arrived', arrival: 'bfcache' }));
  // What is left is taken seconds later; this is left last, and true.
  await inFrame(send({ type: 'left', batches: [batch(both.origin, 'https://true.test/')] }));
  const popup = await session.openPopup(tab);
  await expect
    .poll(async () => {
      const { sites } = await exportedReport(popup, dir);
      return Object.fromEntries(
        sites.map(({ site, origins }) => [site, origins.map((o) => o.origin).toSorted()]),
      );
    })
    .toEqual({ [both.host]: [both.origin, h2only.origin, 'https://true.test'].toSorted() });
  await expect(popup.part('page-host')).toMention(both.host);
});
