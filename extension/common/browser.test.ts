import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOwnPage } from './browser.ts';

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
