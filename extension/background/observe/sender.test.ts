import assert from 'node:assert/strict';
import { test } from 'node:test';
import { confirmedTop, type KnownDocuments, type Sender, senderOf } from './sender.ts';

const frame: Sender = {
  tabId: 1,
  frameId: 7,
  documentId: 'F',
  url: 'https://ads.test/frame',
  tabUrl: 'https://www.news.test/page',
  incognito: false,
};
const page: Sender = { ...frame, frameId: 0, documentId: 'P', url: 'https://www.news.test/page' };

const nothing: KnownDocuments = {
  pageOrigin: () => undefined,
  isPage: () => false,
  tabUrl: async () => null,
};

test('a frame is recorded under the page confirmed by the browser', async () => {
  assert.equal(await confirmedTop('https://www.news.test', frame, nothing), 'https://www.news.test');
  const seen = { ...nothing, pageOrigin: () => 'https://www.news.test' };
  assert.equal(
    await confirmedTop('https://www.news.test', { ...frame, tabUrl: 'https://next.test/' }, seen),
    'https://www.news.test',
  );
  assert.equal(
    await confirmedTop('https://bank.test', { ...frame, tabUrl: 'https://bank.test/' }, seen),
    undefined,
  );
});

test('a frame that claims another site than its tab shows is not trusted', async () => {
  assert.equal(await confirmedTop('https://bank.test', frame, nothing), undefined);
  assert.equal(await confirmedTop('https://news.test.evil.test', frame, nothing), undefined);
  assert.equal(await confirmedTop('', frame, nothing), undefined);
});

test('a frame cannot pose as the page, nor a page as a frame', async () => {
  assert.equal(await confirmedTop(null, frame, nothing), undefined);
  assert.equal(await confirmedTop('https://bank.test', page, nothing), undefined);
  assert.equal(await confirmedTop(null, page, nothing), null);
  const was = { ...nothing, isPage: (documentId: string) => documentId === 'F' };
  assert.equal(await confirmedTop(null, frame, was), null, 'a page whose tab shows another one by now');
});

test('a page that hides itself from its frames is named by the browser', async () => {
  assert.equal(await confirmedTop('null', frame, nothing), 'https://www.news.test');
  const insecure = { ...nothing, tabUrl: async () => 'http://old.test/' };
  assert.equal(
    await confirmedTop('http://old.test', { ...frame, tabUrl: null }, insecure),
    'http://old.test',
  );
  assert.equal(await confirmedTop('null', { ...frame, tabUrl: null }, nothing), undefined);
  assert.equal(await confirmedTop('null', { ...frame, tabUrl: 'about:blank' }, nothing), undefined);
});

test('only documents in tabs are senders, and no prerendered ones', () => {
  const tab = { id: 1, incognito: false, url: 'https://a.test/' } as chrome.tabs.Tab;
  const sender = { id: 'me', tab, frameId: 0, documentId: 'D', url: 'https://a.test/' };
  const known = { tabId: 1, frameId: 0, documentId: 'D', incognito: false };
  assert.deepEqual(senderOf(sender, 'me'), { ...known, url: 'https://a.test/', tabUrl: 'https://a.test/' });
  assert.equal(senderOf(sender, 'other'), null);
  assert.equal(senderOf({ ...sender, documentLifecycle: 'prerender' }, 'me'), null);
  const { tab: _, ...worker } = sender;
  assert.equal(senderOf(worker, 'me'), null);
});
