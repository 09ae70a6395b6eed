import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasAccessInTab, isOwnPage } from './browser.ts';

test('a page of the extension is recognised by its origin, whatever URL it claims', () => {
  const extension = { id: 'E', getURL: (path: string) => `chrome-extension://E/${path}` };
  const own = { id: 'E', origin: 'chrome-extension://E', url: 'chrome-extension://E/popup/popup.html' };
  assert.equal(isOwnPage(own, extension), true);
  for (const other of [
    { ...own, origin: 'https://evil.test' },
    { ...own, origin: 'null' },
    { id: own.id, url: own.url },
    { ...own, id: 'F' },
    { ...own, origin: 'chrome-extension://EF' },
  ])
    assert.equal(isOwnPage(other, extension), false);
});

test('a tab whose URL is visible gives access to the page that it shows, not to the one before', async (t) => {
  const permissions = { contains: async () => false };
  const tabs = { get: async () => ({ url: 'https://shown.test/page' }) };
  Object.assign(globalThis, { chrome: { permissions, tabs } });
  t.after(() => Reflect.deleteProperty(globalThis, 'chrome'));
  assert.equal(await hasAccessInTab(1, 'https://shown.test'), true);
  assert.equal(await hasAccessInTab(1, 'https://before.test'), false);
});
