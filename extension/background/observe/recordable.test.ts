import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRecordable } from './recordable.ts';
import type { EndedRequest } from './requests.ts';

const request: EndedRequest = {
  id: '1',
  tabId: 1,
  documentId: 'doc',
  kind: 'resource',
  hop: false,
  firstUrl: 'https://cdn.test/x',
  url: 'https://cdn.test/x',
  atMs: 0,
  answered: true,
  timingAllowed: true,
  withheld: false,
  protocol: null,
  revalidated: false,
  fromCache: false,
  address: null,
  altSvc: null,
  prerender: false,
  initiator: 'https://www.a.test',
  incognito: null,
};
const navigation: EndedRequest = { ...request, kind: 'navigation', documentId: null, initiator: null };

function gate(privateWindows: boolean, ...neverRecord: string[]) {
  const recordable = createRecordable();
  recordable.follow({ privateWindows, neverRecord });
  const show = (tabId: number, documentId: string, url: string) =>
    recordable.committed({ tabId, documentId, url, prerender: false });
  return { recordable, show };
}

test('without private windows and excluded sites everything may be kept', () => {
  const { recordable, show } = gate(false);
  recordable.tabCreated(1, false);
  assert.equal(show(1, 'doc', 'https://a.test/'), null);
  assert.equal(recordable.ofEnded(request), null);
  assert.equal(recordable.ofPage(1, 'https://a.test/'), null);
});

test('nothing of a private tab is kept, however it is told of', () => {
  const { recordable, show } = gate(false);
  recordable.tabCreated(1, true);
  assert.equal(show(1, 'doc', 'https://a.test/'), 'private');
  assert.equal(recordable.ofPage(1, 'https://a.test/'), 'private');
  assert.equal(recordable.ofEnded(request), 'private');
  assert.equal(recordable.ofEnded(navigation), 'private');
  assert.equal(recordable.ofEnded({ ...request, tabId: 2 }), null);
  const batch = { tabId: 3, documentId: 'd', incognito: true, pageUrl: 'https://a.test/' };
  assert.equal(recordable.ofBatch(batch), 'private');
  assert.equal(recordable.ofPage(3, 'https://a.test/'), 'private', 'the batch told of the tab');
});

test('tabs from before the background began are private, too', () => {
  const { recordable } = gate(false);
  recordable.begin([{ tabId: 1, incognito: true, url: null }]);
  assert.equal(recordable.ofEnded(request), 'private');
});

test('where the request itself tells, its tab need not', () => {
  const { recordable } = gate(false);
  assert.equal(recordable.ofEnded({ ...request, incognito: true }), 'private');
  assert.equal(recordable.ofRequest({ ...request, incognito: true, tabId: -1 }), 'private');
});

test('a worker without a tab may be a private window’s while there is one', () => {
  const { recordable } = gate(false);
  recordable.tabCreated(1, true);
  const own = { ...request, tabId: -1 };
  assert.equal(recordable.ofEnded(own), 'private');
  assert.equal(recordable.ofEnded({ ...own, incognito: false }), null);
  recordable.tabRemoved(1);
  assert.equal(recordable.ofEnded(own), null);
});

test('private windows are kept for those who chose it', () => {
  const { recordable, show } = gate(true);
  recordable.tabCreated(1, true);
  assert.equal(show(1, 'doc', 'https://a.test/'), null);
  assert.equal(recordable.ofEnded({ ...request, incognito: true }), null);
});

test('an excluded page excludes whatever it asks for and whatever it frames', () => {
  const { recordable, show } = gate(false, 'a.test');
  assert.equal(show(1, 'doc', 'https://www.a.test/page'), 'excluded');
  assert.equal(recordable.ofEnded({ ...navigation, url: 'https://www.a.test/page' }), 'excluded');
  assert.equal(recordable.ofEnded(request), 'excluded');
  const framed = { ...request, documentId: 'frame', initiator: 'https://ad.test' };
  assert.equal(recordable.ofEnded(framed), 'excluded');
  const frame = { tabId: 1, documentId: 'frame', incognito: false, pageUrl: 'https://www.a.test' };
  assert.equal(recordable.ofBatch(frame), 'excluded');
  show(1, 'next', 'https://b.test/');
  assert.equal(recordable.ofRequest(framed), 'excluded', 'the frame told whose it was');
});

test('leaving an excluded page ends it, and later requests are the next page’s', () => {
  const { recordable, show } = gate(false, 'a.test');
  show(1, 'doc', 'https://a.test/');
  assert.equal(recordable.ofEnded({ ...navigation, url: 'https://b.test/' }), null);
  assert.equal(show(1, 'next', 'https://b.test/'), null);
  const next = { ...request, documentId: 'next', initiator: 'https://b.test' };
  assert.equal(recordable.ofEnded(next), null);
  assert.equal(recordable.ofEnded(request), 'excluded', 'what the page before still had under way');
});

test('an excluded site in a frame of another page is that page’s', () => {
  const { recordable, show } = gate(false, 'ad.test');
  show(1, 'doc', 'https://a.test/');
  assert.equal(
    recordable.ofBatch({ tabId: 1, documentId: 'frame', incognito: false, pageUrl: 'https://a.test' }),
    null,
  );
});

test('a page rendered ahead of time does not speak for its tab', () => {
  const { recordable } = gate(false, 'a.test');
  const ahead = { tabId: 1, documentId: 'ahead', url: 'https://a.test/', prerender: true };
  assert.equal(recordable.committed(ahead), 'excluded');
  assert.equal(recordable.ofEnded({ ...request, initiator: 'https://b.test' }), null);
  assert.equal(recordable.ofRequest({ ...request, documentId: 'ahead', initiator: null }), 'excluded');
});

test('settings take effect at once, either way', () => {
  const { recordable } = gate(false);
  recordable.follow({ privateWindows: false, neverRecord: ['a.test'] });
  assert.equal(recordable.ofSite('a.test'), 'excluded');
  recordable.follow({ privateWindows: false, neverRecord: [] });
  assert.equal(recordable.ofSite('a.test'), null);
});

test('where the options cannot be read nothing may be kept, until they can be', () => {
  const recordable = createRecordable();
  recordable.refuseAll();
  const document = { tabId: 1, documentId: 'doc', url: 'https://a.test/', prerender: false };
  const batch = { tabId: 1, documentId: 'doc', incognito: false, pageUrl: 'https://a.test' };
  const refusals = () => [
    recordable.committed(document),
    recordable.ofPage(1, 'https://a.test/'),
    recordable.ofBatch(batch),
    recordable.ofSite('a.test'),
    recordable.ofTab(1),
    recordable.ofEnded(request),
    recordable.ofRequest(request),
  ];
  assert.deepEqual(new Set(refusals()), new Set(['no-options']));
  recordable.follow({ privateWindows: false, neverRecord: [] });
  assert.deepEqual(new Set(refusals()), new Set([null]));
});
