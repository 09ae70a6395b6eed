import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Origin } from '@photofinish/shared/web/origin';
import { ENDED_REQUEST } from '../../testing/samples.ts';
import { confirmedTop, type KnownDocuments, Recordable, type Sender, senderOf } from './recordable.ts';
import type { EndedRequest } from './requests.ts';

const request: EndedRequest = {
  ...ENDED_REQUEST,
  firstUrl: 'https://cdn.test/x',
  url: 'https://cdn.test/x',
  initiator: 'https://www.a.test',
};
const navigation: EndedRequest = { ...request, kind: 'navigation', documentId: null, initiator: null };

function gate(privateWindows: boolean, ...neverRecord: string[]) {
  const recordable = new Recordable();
  recordable.follow({ privateWindows, neverRecord });
  const show = (tabId: number, documentId: string, url: string) => {
    recordable.committed({ tabId, documentId, url, prerender: false });
    return recordable.refusal({ tabId, pageUrl: url });
  };
  const arrive = (sent: Parameters<typeof recordable.batchArrived>[0]) => {
    recordable.batchArrived(sent);
    return recordable.refusal({ tabId: sent.tabId, pageUrl: sent.pageUrl });
  };
  return { recordable, show, arrive };
}

test('without private windows and excluded sites everything may be recorded', () => {
  const { recordable, show } = gate(false);
  recordable.tabCreated(1, false);
  assert.equal(show(1, 'doc', 'https://a.test/'), null);
  assert.equal(recordable.refusal({ request, shownNow: true }), null);
  assert.equal(recordable.refusal({ tabId: 1, pageUrl: 'https://a.test/' }), null);
});

test('nothing in a private tab is recorded, whichever way it is reported', () => {
  const { recordable, show, arrive } = gate(false);
  recordable.tabCreated(1, true);
  assert.equal(show(1, 'doc', 'https://a.test/'), 'private');
  assert.equal(recordable.refusal({ tabId: 1, pageUrl: 'https://a.test/' }), 'private');
  assert.equal(recordable.refusal({ request, shownNow: true }), 'private');
  assert.equal(recordable.refusal({ request: navigation, shownNow: true }), 'private');
  assert.equal(recordable.refusal({ request: { ...request, tabId: 2 }, shownNow: true }), null);
  const batch = { tabId: 3, documentId: 'd', incognito: true, pageUrl: 'https://a.test/' };
  assert.equal(arrive(batch), 'private');
  assert.equal(
    recordable.refusal({ tabId: 3, pageUrl: 'https://a.test/' }),
    'private',
    'the batch told of the tab',
  );
});

test('tabs opened before the background started are private, too', () => {
  const { recordable } = gate(false);
  recordable.begin([{ tabId: 1, incognito: true, url: null }]);
  assert.equal(recordable.refusal({ request, shownNow: true }), 'private');
});

test('if the request itself says so, its tab need not', () => {
  const { recordable } = gate(false);
  assert.equal(recordable.refusal({ request: { ...request, incognito: true }, shownNow: true }), 'private');
  assert.equal(recordable.refusal({ request: { ...request, incognito: true, tabId: -1 } }), 'private');
});

test('a worker without a tab may belong to a private window while there is one', () => {
  const { recordable } = gate(false);
  recordable.tabCreated(1, true);
  const own = { ...request, tabId: -1 };
  assert.equal(recordable.refusal({ request: own, shownNow: true }), 'private');
  assert.equal(recordable.refusal({ request: { ...own, incognito: false }, shownNow: true }), null);
});

test('what a closed private tab still had under way stays private, with or without its tab', () => {
  const { recordable, arrive } = gate(false);
  recordable.begin([{ tabId: 1, incognito: true, url: null }]);
  recordable.tabRemoved(1);
  assert.equal(recordable.refusal({ request, shownNow: true }), 'private');
  assert.equal(recordable.refusal({ request: { ...request, tabId: -1 } }), 'private');
  const batch = { tabId: 1, documentId: 'd', incognito: true, pageUrl: 'https://a.test/' };
  assert.equal(arrive(batch), 'private');
  assert.equal(recordable.mayShare('https://cdn.test' as Origin), true, 'no private window is open');
});

test('a tab that closed before the tabs were known may have been private', () => {
  const { recordable } = gate(false);
  recordable.tabRemoved(1);
  recordable.begin([{ tabId: 2, incognito: false, url: null }]);
  assert.equal(recordable.refusal({ request, shownNow: true }), 'private');
  assert.equal(recordable.refusal({ request: { ...request, incognito: false }, shownNow: true }), null);
  recordable.tabRemoved(2);
  assert.equal(recordable.refusal({ request: { ...request, tabId: 2 }, shownNow: true }), null);
});

test('a sender says itself whether it is private', () => {
  const { recordable } = gate(false);
  const left = { tabId: 1, pageUrl: 'https://a.test/' };
  assert.equal(recordable.refusal({ ...left, incognito: true }), 'private');
  assert.equal(recordable.refusal({ ...left, incognito: false }), null);
});

test('private windows are recorded for users who enabled that', () => {
  const { recordable, show } = gate(true);
  recordable.tabCreated(1, true);
  assert.equal(show(1, 'doc', 'https://a.test/'), null);
  assert.equal(recordable.refusal({ request: { ...request, incognito: true }, shownNow: true }), null);
});

test('an excluded page excludes everything it requests and frames', () => {
  const { recordable, show, arrive } = gate(false, 'a.test');
  assert.equal(show(1, 'doc', 'https://www.a.test/page'), 'excluded');
  assert.equal(
    recordable.refusal({ request: { ...navigation, url: 'https://www.a.test/page' }, shownNow: true }),
    'excluded',
  );
  assert.equal(recordable.refusal({ request, shownNow: true }), 'excluded');
  const framed = { ...request, documentId: 'frame', initiator: 'https://ad.test' };
  assert.equal(recordable.refusal({ request: framed, shownNow: true }), 'excluded');
  const frame = { tabId: 1, documentId: 'frame', incognito: false, pageUrl: 'https://www.a.test' };
  assert.equal(arrive(frame), 'excluded');
  show(1, 'next', 'https://b.test/');
  assert.equal(recordable.refusal({ request: framed }), 'excluded', 'the frame told whose it was');
});

test('leaving an excluded page ends the exclusion, and later requests belong to the next page', () => {
  const { recordable, show } = gate(false, 'a.test');
  show(1, 'doc', 'https://a.test/');
  assert.equal(
    recordable.refusal({ request: { ...navigation, url: 'https://b.test/' }, shownNow: true }),
    null,
  );
  assert.equal(show(1, 'next', 'https://b.test/'), null);
  const next = { ...request, documentId: 'next', initiator: 'https://b.test' };
  assert.equal(recordable.refusal({ request: next, shownNow: true }), null);
  assert.equal(
    recordable.refusal({ request, shownNow: true }),
    'excluded',
    'what the page before still had under way',
  );
});

test('an excluded site in a frame of another page belongs to that page', () => {
  const { show, arrive } = gate(false, 'ad.test');
  show(1, 'doc', 'https://a.test/');
  assert.equal(arrive({ tabId: 1, documentId: 'frame', incognito: false, pageUrl: 'https://a.test' }), null);
});

test('a prerendered page does not determine its tab’s state', () => {
  const { recordable } = gate(false, 'a.test');
  const ahead = { tabId: 1, documentId: 'ahead', url: 'https://a.test/', prerender: true };
  recordable.committed(ahead);
  assert.equal(
    recordable.refusal({ request: { ...request, initiator: 'https://b.test' }, shownNow: true }),
    null,
  );
  assert.equal(
    recordable.refusal({ request: { ...request, documentId: 'ahead', initiator: null } }),
    'excluded',
  );
});

test('settings take effect at once, in both directions', () => {
  const { recordable } = gate(false);
  recordable.follow({ privateWindows: false, neverRecord: ['a.test'] });
  assert.equal(recordable.refusal({ site: 'a.test' }), 'excluded');
  recordable.follow({ privateWindows: false, neverRecord: [] });
  assert.equal(recordable.refusal({ site: 'a.test' }), null);
});

test('while the options cannot be read nothing may be recorded', () => {
  const recordable = new Recordable();
  recordable.refuseAll();
  const refusals = () => [
    recordable.refusal({ tabId: 1, pageUrl: 'https://a.test/' }),
    recordable.refusal({ site: 'a.test' }),
    recordable.refusal({ tabId: 1, shownNow: true }),
    recordable.refusal({ request, shownNow: true }),
    recordable.refusal({ request }),
  ];
  assert.deepEqual(new Set(refusals()), new Set(['no-options']));
  recordable.follow({ privateWindows: false, neverRecord: [] });
  assert.deepEqual(new Set(refusals()), new Set([null]));
});

test('the outcome of a race is not shared while a page that must not be recorded is open, or for an excluded site', () => {
  const { recordable, show } = gate(true, 'excluded.test');
  const origin = 'https://cdn.test' as Origin;
  recordable.begin([]);
  assert.equal(recordable.mayShare(origin), true);
  assert.equal(recordable.mayShare('https://www.excluded.test' as Origin), false);
  show(1, 'doc', 'https://excluded.test/');
  assert.equal(recordable.mayShare(origin), false, 'it may be a host of the excluded page');
  show(1, 'next', 'https://a.test/');
  assert.equal(recordable.mayShare(origin), true);
  recordable.tabCreated(2, true);
  assert.equal(recordable.mayShare(origin), false, 'recorded or not, a private window is private');
  recordable.tabRemoved(2);
  recordable.refuseAll();
  assert.equal(recordable.mayShare(origin), false);
});

test('no outcome is shared until the open tabs are judged by the current settings', () => {
  const { recordable } = gate(false);
  const origin = 'https://cdn.test' as Origin;
  assert.equal(recordable.mayShare(origin), false, 'before the tabs are known');
  const open = { tabId: 1, incognito: false, url: 'https://excluded.test/' };
  recordable.begin([{ ...open, url: null }]);
  assert.equal(recordable.mayShare(origin), true);
  recordable.follow({ privateWindows: false, neverRecord: ['excluded.test'] });
  assert.equal(recordable.mayShare(origin), false, 'the open page may be of that site');
  recordable.begin([open]);
  assert.equal(recordable.mayShare(origin), false, 'it is');
  assert.equal(recordable.refusal({ tabId: 1, shownNow: true }), 'excluded');
  recordable.follow({ privateWindows: false, neverRecord: ['other.test'] });
  recordable.begin([open]);
  assert.equal(recordable.mayShare(origin), true, 'it is not of another site');
  recordable.follow({ privateWindows: false, neverRecord: ['excluded.test'] });
  recordable.begin([open]);
  recordable.follow({ privateWindows: false, neverRecord: [] });
  recordable.begin([{ ...open, url: null }]);
  assert.equal(recordable.mayShare(origin), true, 'nothing is excluded any more');
});

test('what an excluded site answers on other sites’ pages is excluded, its other hosts too', () => {
  const { recordable, show } = gate(false, 'tracker.test');
  assert.equal(show(1, 'doc', 'https://a.test/'), null);
  assert.equal(recordable.refusal({ origin: 'https://cdn.tracker.test' as Origin }), 'excluded');
  assert.equal(recordable.refusal({ origin: 'https://a.test' as Origin }), null);
  const sent = { origin: 'https://tracker.test' as Origin, request, site: 'a.test' };
  assert.equal(recordable.refusal(sent), 'excluded');
});

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
  hasAccess: async () => true,
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
