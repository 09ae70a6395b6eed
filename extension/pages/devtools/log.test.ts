import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_REQUESTS } from '../../common/messages.ts';
import { createLog, type LogEntry, loggedEntry } from './log.ts';

const START_MS = Date.UTC(2026, 10, 21);

function entry(path: string, atMs: number, redirectURL = '', type?: string): LogEntry {
  const logged = loggedEntry({
    startedDateTime: new Date(START_MS + atMs).toISOString(),
    time: 1,
    request: { method: 'GET', url: `https://a.test${path}` },
    response: {
      status: redirectURL === '' ? 200 : 302,
      httpVersion: 'h3',
      redirectURL,
      _transferSize: 10,
    },
    ...(type !== undefined && { _resourceType: type }),
  });
  assert.ok(logged);
  return logged;
}

const paths = (list: readonly LogEntry[]) => list.map(({ request }) => new URL(request.url).pathname);

test('if the navigation is reported first, the list restarts and keeps the redirects that led to it', () => {
  const log = createLog();
  log.add([entry('/old', 0), entry('/elsewhere', 5, '/other')]);
  log.add([entry('/go', 10, '/hop'), entry('/hop', 11, 'https://a.test/page')]);
  log.navigated('https://a.test/page#part');
  assert.deepEqual(paths(log.list), ['/go', '/hop']);
  log.add([entry('/page', 12), entry('/x', 13)]);
  log.navigated('https://a.test/page');
  assert.deepEqual(paths(log.list), [], 'a reload keeps nothing of the document before');
});

test('if a loaded document is reported, the list keeps everything since its request', () => {
  const log = createLog();
  log.add([entry('/old', 0), entry('/page', 10), entry('/x', 12), entry('/late-old', 9)]);
  log.navigated('https://a.test/page');
  assert.deepEqual(paths(log.list), ['/page', '/x']);
});

test('a reload is distinguished from the previous document, whether its answer is reported first or last', () => {
  const log = createLog();
  log.navigated('https://a.test/page');
  log.add([entry('/page', 10), entry('/x', 12)]);
  log.navigated('https://a.test/page');
  assert.deepEqual(paths(log.list), [], 'the one answer is that of the document before');
  log.add([entry('/page', 20), entry('/x', 21)]);
  log.add([entry('/page', 30)]);
  log.navigated('https://a.test/page');
  assert.deepEqual(paths(log.list), ['/page']);
});

test('a page that requests its own URL is no new document', () => {
  const log = createLog();
  log.navigated('https://a.test/page');
  log.add([entry('/page', 10, '', 'document'), entry('/page', 15, '', 'fetch'), entry('/x', 16)]);
  log.navigated('https://a.test/page');
  assert.deepEqual(paths(log.list), []);
});

test('dropping removes one entry, and no other with the same URL', () => {
  const log = createLog();
  const [partial, other] = [entry('/x', 1), entry('/x', 1)];
  log.add([partial, other]);
  log.drop(partial);
  assert.deepEqual(log.list, [other]);
});

test('redirect loops terminate', () => {
  const log = createLog();
  log.add([entry('/a', 0, '/b'), entry('/b', 1, '/a'), entry('/a', 2, '/b')]);
  log.navigated('https://a.test/b');
  assert.deepEqual(paths(log.list), ['/a', '/b', '/a']);
});

test('the oldest are dropped', () => {
  const log = createLog();
  log.add(Array.from({ length: MAX_REQUESTS + 2 }, (_, i) => entry(`/${i}`, i)));
  assert.equal(log.list.length, MAX_REQUESTS);
  assert.equal(paths(log.list)[0], '/2');
});

test('a URL that leads nowhere is no redirect', () => {
  assert.equal(entry('/a', 0, 'https://').redirectUrl, null);
});
