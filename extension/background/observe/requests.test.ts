import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparableUrl, MAX_URL_CHARS } from '../../common/timing.ts';
import { ENDED_REQUEST } from '../../testing/samples.ts';
import { type EndedRequest, RequestTable, SETTLE_MS } from './requests.ts';

const base: EndedRequest = { ...ENDED_REQUEST, tabId: 7, atMs: 0, address: null, altSvc: null };
const claim = {
  tabId: 7,
  documentId: 'doc',
  navigation: false,
  url: 'https://a.test/x',
  unfinished: false,
  crossed: false,
  answeredAtMs: 0,
};

test('a request is claimed once, by its own document', () => {
  const table = new RequestTable();
  table.add(base);
  assert.equal(table.claim({ ...claim, documentId: 'other' }), null);
  assert.equal(table.claim(claim), base);
  assert.equal(table.claim(claim), null);
  assert.equal(table.size, 0);
});

test('a response that crossed the network, attributed to the document before, is claimed by the next', () => {
  const table = new RequestTable();
  const told = { ...claim, documentId: 'next', crossed: true };
  for (const other of [
    { ...base, tabId: 8 },
    { ...base, answered: false },
    { ...base, hop: true },
    { ...base, firstUrl: 'https://a.test/y' },
    { ...base, atMs: 10_000 },
  ]) {
    table.add(other);
    assert.equal(table.claim(told), null, JSON.stringify(other));
  }
  table.add({ ...base, id: '2', atMs: 900 });
  assert.equal(table.claim({ ...told, navigation: true }), null);
  assert.equal(table.claim({ ...told, crossed: false }), null, 'perhaps a copy of it in memory');
  const taken = table.claim(told);
  assert.equal(taken !== null && taken !== 'counted' && taken.id, '2');
  assert.equal(table.claim(told), null);
});

test('the same URL twice is two requests, in order', () => {
  const table = new RequestTable();
  const second = { ...base, id: '2' };
  table.add(base);
  table.add(second);
  assert.equal(table.claim(claim), base);
  assert.equal(table.claim(claim), second);
});

test('a navigation is joined by its tab and last URL, a resource by its first', () => {
  const table = new RequestTable();
  const redirected = { ...base, url: 'https://b.test/y' };
  const navigation: EndedRequest = { ...redirected, kind: 'navigation', documentId: null };
  table.add(redirected);
  table.add(navigation);
  assert.equal(
    table.claim({ ...claim, documentId: 'new', navigation: true, url: 'https://b.test/y' }),
    navigation,
  );
  assert.equal(table.claim(claim), redirected);
});

test('a document belongs to the newest request for its URL, and never to a failed one', () => {
  const table = new RequestTable();
  const ahead: EndedRequest = { ...base, kind: 'navigation', documentId: null, prerender: true };
  const real = { ...ahead, id: '2', prerender: false };
  table.add(ahead);
  table.add(real);
  table.add({ ...real, id: '3', answered: false });
  assert.equal(table.claim({ ...claim, navigation: true }), real);
});

test('a redirect has no timing of its own, so nothing claims it', () => {
  const table = new RequestTable();
  const hop = { ...base, hop: true };
  table.add(hop);
  assert.equal(table.claim(claim), null);
  assert.deepEqual(table.expire(SETTLE_MS), [hop]);
});

test('unclaimed after settling is missed, and a late timing does not count it again', () => {
  const table = new RequestTable();
  const second = { ...base, id: '2', atMs: 1000 };
  table.add(base);
  table.add(second);
  assert.deepEqual(table.expire(SETTLE_MS - 1), []);
  assert.deepEqual(table.expire(SETTLE_MS), [base]);
  assert.deepEqual(table.expire(SETTLE_MS + 999), []);
  assert.deepEqual(table.expire(SETTLE_MS + 1000), [second]);
  assert.equal(table.known(claim), 2);
  assert.equal(table.claim(claim), 'counted');
  assert.equal(table.known(claim), 1);
  assert.equal(table.claim(claim), 'counted');
  assert.equal(table.claim(claim), null);
});

test('a late timing does not count again what an earlier background counted as missed, whose address is not kept', () => {
  const kept = new Map<string, number>();
  const terminated = new RequestTable();
  terminated.recall(kept);
  terminated.add(base);
  terminated.expire(SETTLE_MS);
  assert.match([...kept.keys()].join(), /^[0-9a-z]{1,7}$/);
  const restarted = new RequestTable();
  restarted.recall(kept);
  assert.equal(restarted.claim({ ...claim, url: `${claim.url}/other` }), null);
  assert.equal(restarted.claim(claim), 'counted');
  assert.equal(restarted.claim(claim), null);
});

test('a document in a viewer is missed as soon as its tab shows it, and no other is', () => {
  const table = new RequestTable();
  const page: EndedRequest = { ...base, kind: 'navigation', documentId: null, protocol: 'h3' };
  const pdf: EndedRequest = { ...page, id: '2', inViewer: true, url: 'https://a.test/x.pdf' };
  table.add(page);
  table.add(pdf);
  assert.deepEqual(table.expire(0), [], 'its tab still shows what was there before');
  assert.equal(table.committed(8, pdf.url), false);
  assert.equal(table.committed(7, page.url), false);
  assert.deepEqual(table.expire(0), []);
  assert.equal(table.committed(7, pdf.url), true);
  assert.deepEqual(table.expire(0), [pdf]);
  assert.equal(table.committed(7, pdf.url), false);
  assert.equal(table.claim({ ...claim, navigation: true }), page);
});

test('failures and pages never visited are dropped without a count', () => {
  const table = new RequestTable();
  table.add({ ...base, answered: false });
  table.add({ ...base, id: '2', prerender: true });
  assert.deepEqual(table.expire(SETTLE_MS), []);
  assert.equal(table.size, 1);
  assert.deepEqual(table.expire(1_000_000), []);
  assert.equal(table.size, 0);
});

test('what may count as a response over the network is pending until it is claimed or missed', () => {
  const table = new RequestTable();
  const own = ({ documentId }: EndedRequest) => documentId === base.documentId;
  table.add(base);
  // A stored copy that may have been revalidated.
  table.add({
    ...base,
    id: '2',
    firstUrl: 'https://a.test/copy',
    url: 'https://a.test/copy',
    fromCache: true,
  });
  table.add({ ...base, id: '6', hop: true, fromCache: true });
  table.add({ ...base, id: '7', hop: true });
  table.add({ ...base, id: '3', answered: false });
  table.add({ ...base, id: '4', prerender: true });
  table.add({ ...base, id: '5', documentId: 'other' });
  assert.equal(table.pending(own), 3);
  table.claim(claim);
  assert.equal(table.pending(own), 2);
  table.expire(SETTLE_MS);
  assert.equal(
    table.pending(() => true),
    0,
  );
});

test('the table is bounded: what overflows is returned as missed', () => {
  const table = new RequestTable();
  for (let i = 0; i < 6000; i += 1) {
    const url = `https://a.test/${i}`;
    table.add({ ...base, id: String(i), firstUrl: url, url });
  }
  assert.equal(table.size, 5000);
  assert.equal(table.expire(0).length, 1000);
});

test('both halves truncate URLs in the same way', () => {
  const long = `https://a.test/${'x'.repeat(5000)}`;
  assert.equal(comparableUrl(`${long}#f`), comparableUrl(long).slice(0, MAX_URL_CHARS));
  assert.equal(comparableUrl('https://a.test/x#y'), 'https://a.test/x');
});

test('a document reported before its end is not counted again when it ends', () => {
  const table = new RequestTable();
  const document = { ...base, kind: 'navigation', documentId: null } as const;
  const told = { ...claim, navigation: true, unfinished: true };
  assert.equal(table.claim(told), null);
  table.countUnmatched(told, false);
  table.add(document);
  assert.equal(table.size, 0);
  table.add(document);
  assert.equal(table.size, 1, 'the next one of the same address is another');
  const ended = new RequestTable();
  ended.claim({ ...told, unfinished: false });
  ended.add(document);
  assert.equal(ended.size, 1);
});

test('a document reported before it was cancelled leaves nothing behind', () => {
  const table = new RequestTable();
  const document = { ...base, kind: 'navigation', documentId: null } as const;
  table.claim({ ...claim, navigation: true, unfinished: true });
  table.add({ ...document, answered: false });
  table.add(document);
  assert.equal(table.claim({ ...claim, navigation: true }), document);
});

test('an answer that was cut off was an answer nevertheless', () => {
  const table = new RequestTable();
  table.add(base);
  table.add({ ...base, id: '2' });
  table.add({ ...base, answered: false });
  assert.equal(table.size, 2);
  assert.equal(table.claim(claim), base);
});

test('a document that names its own protocol does not wait for a page that may never report', () => {
  const table = new RequestTable();
  const document = { ...base, kind: 'navigation', documentId: null, protocol: 'h3' } as const;
  table.add(document);
  assert.deepEqual(table.expire(4999), []);
  assert.deepEqual(table.expire(5000), [document]);
  assert.equal(table.claim({ ...claim, navigation: true }), 'counted', 'when it speaks after all');
  table.add({ ...base, protocol: 'h3' });
  table.add({ ...document, protocol: null });
  table.add({ ...document, hop: true });
  assert.deepEqual(table.expire(SETTLE_MS - 1), [], 'all others wait');
});

test('of two visits to one page each document gets the answer of its own moment, whichever is reported first', () => {
  const page: EndedRequest = { ...base, kind: 'navigation', documentId: null };
  const first: EndedRequest = { ...page, id: '1', atMs: 1000, protocol: 'h2' };
  const second: EndedRequest = { ...page, id: '2', atMs: 1300, protocol: 'h3' };
  for (const order of [
    [1004, 1296],
    [1296, 1004],
  ]) {
    const table = new RequestTable();
    table.add(first);
    table.add(second);
    for (const answeredAtMs of order)
      assert.equal(
        table.claim({ ...claim, documentId: null, navigation: true, answeredAtMs }),
        answeredAtMs < 1200 ? first : second,
      );
  }
});

test('a request reported after its page’s timing is counted by that timing alone', () => {
  const table = new RequestTable();
  const told = { ...claim, answeredAtMs: 1000 };
  for (let nth = 0; nth < 2; nth += 1) {
    assert.equal(table.claim(told), null);
    table.countUnmatched(told, false);
  }
  table.add({ ...base, id: '1', atMs: 990 });
  table.add({ ...base, id: '2', atMs: 1020 });
  assert.equal(table.size, 0);
  const third: EndedRequest = { ...base, id: '3', atMs: 990 };
  table.add(third);
  assert.deepEqual(table.expire(990 + SETTLE_MS), [third], 'two were told of, and there were three');
});

test('a busy Firefox timestamps a request later than its page, and they are matched', () => {
  const table = new RequestTable();
  table.countUnmatched({ ...claim, answeredAtMs: 1000 }, false);
  table.add({ ...base, protocol: 'h2', atMs: 1273 });
  assert.deepEqual(table.expire(1273 + SETTLE_MS), []);
});

test('a claim taken for a stored copy is counted correctly once its request is reported', () => {
  const told = { ...claim, answeredAtMs: 1000 };
  const crossed = { ...base, protocol: 'h2', atMs: 1010 } as const;
  const table = new RequestTable();
  table.countUnmatched(told, true);
  table.add(crossed);
  assert.deepEqual(table.expire(1010 + SETTLE_MS), [crossed]);
  const copied = new RequestTable();
  copied.countUnmatched(told, true);
  copied.add({ ...crossed, fromCache: true });
  assert.equal(copied.size, 0);
});

test('a request repeated after an entry without a request is counted separately', () => {
  const table = new RequestTable();
  table.countUnmatched({ ...claim, answeredAtMs: 1000 }, false);
  const again = { ...base, atMs: 1200 };
  table.add(again);
  table.add({ ...base, id: '2', atMs: 900, answered: false });
  assert.equal(table.claim({ ...claim, answeredAtMs: 1201 }), again);
  table.add({ ...base, id: '3', atMs: 900 });
  assert.equal(table.size, 1, 'the one that failed was not that of the entry');
});

test('a reported timing does not wait longer than a request may take to be reported', () => {
  const table = new RequestTable();
  table.countUnmatched({ ...claim, answeredAtMs: 1000 }, false);
  table.expire(1000 + SETTLE_MS);
  table.add({ ...base, atMs: 1000 });
  assert.equal(table.size, 1);
  const recent = new RequestTable();
  for (const answeredAtMs of [1000, 15_000, 15_000]) recent.countUnmatched({ ...claim, answeredAtMs }, false);
  recent.expire(1000 + SETTLE_MS);
  for (const id of ['1', '2']) recent.add({ ...base, id, atMs: 15_000 });
  assert.equal(recent.size, 0);
});

test('of a page that requests one address for as long as it is open, only recent answers are kept', () => {
  const table = new RequestTable();
  for (let nth = 0; nth < 10; nth += 1)
    table.countUnmatched({ ...claim, answeredAtMs: 1000 + nth * SETTLE_MS }, false);
  table.add({ ...base, id: '1', atMs: 990 });
  table.add({ ...base, id: '2', atMs: 990 });
  assert.equal(table.size, 1);
});

test('a request for which only the tab is known is claimed by a document of that tab', () => {
  const keepalive: EndedRequest = { ...base, documentId: null, atMs: 1000, protocol: 'h3' };
  const told = { ...claim, answeredAtMs: 1000 };
  const table = new RequestTable();
  table.add(keepalive);
  assert.equal(table.claim({ ...told, navigation: true }), null, 'a document is none');
  assert.equal(table.claim({ ...told, tabId: 8 }), null);
  assert.equal(table.claim(told), keepalive);
  assert.deepEqual(table.expire(1000 + SETTLE_MS), []);

  const late = new RequestTable();
  late.countUnmatched(told, false);
  late.add(keepalive);
  late.add({ ...base, id: '2', atMs: 1000 });
  assert.equal(late.size, 1, 'one was told of, and there were two');

  const missed = new RequestTable();
  missed.add(keepalive);
  assert.deepEqual(missed.expire(1000 + SETTLE_MS), [keepalive]);
  assert.equal(missed.claim(told), 'counted');
});
