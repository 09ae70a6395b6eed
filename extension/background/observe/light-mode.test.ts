import assert from 'node:assert/strict';
import { test } from 'node:test';
import { originSchema } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import type { Timing, TimingBatch } from '../../common/timing.ts';
import { BATCH, TIMING } from '../../testing/samples.ts';
import type { DocumentVisit } from '../edition/edition.ts';
import { createLightVisits, createStoredAltSvc, ObservedMode } from './light-mode.ts';

/** One session of the browser; each call starts a background in it. */
function browserSession() {
  const stored: Record<string, unknown> = {};
  const area = {
    get: async () => ({ ...stored }),
    set: async (items: Record<string, unknown>) => void Object.assign(stored, items),
    remove: async (key: string) => void delete stored[key],
  };
  return (startedMs: number, nowMs = startedMs) => {
    const modes: string[] = [];
    const observedMode = new ObservedMode({
      area,
      startedMs,
      nowMs: () => nowMs,
      onChange: () => modes.push(observedMode.mode),
    });
    return { observedMode, modes };
  };
}

test('without an event it is light, whatever is granted: nothing was seen to be missing', async () => {
  const { observedMode } = browserSession()(1000);
  await observedMode.recall();
  assert.deepEqual([observedMode.mode, observedMode.sinceMs], ['light', Number.POSITIVE_INFINITY]);
});

test('the first event begins full mode from then on, and later ones change nothing', () => {
  const { observedMode, modes } = browserSession()(1000, 1500);
  observedMode.eventArrived();
  observedMode.eventArrived();
  assert.deepEqual([observedMode.mode, observedMode.sinceMs, modes], ['full', 1500, ['full']]);
});

test('the next background sees everything from its start, because events wake it', async () => {
  const start = browserSession();
  start(1000, 1500).observedMode.eventArrived();
  const { observedMode } = start(9000);
  await observedMode.recall();
  assert.deepEqual([observedMode.mode, observedMode.sinceMs], ['full', 9000]);
});

test('an event that came before the storage was read is not taken back by it', async () => {
  const start = browserSession();
  start(1000).observedMode.eventArrived();
  const { observedMode, modes } = start(2000, 2010);
  observedMode.eventArrived();
  await observedMode.recall();
  assert.deepEqual([observedMode.sinceMs, modes], [2010, ['full']]);
});

test('once the permission is given up it is light again, also for the next background', async () => {
  const start = browserSession();
  const { observedMode, modes } = start(1000);
  observedMode.eventArrived();
  observedMode.lost();
  assert.deepEqual([observedMode.mode, modes], ['light', ['full', 'light']]);
  const { observedMode: next } = start(2000);
  await next.recall();
  assert.equal(next.mode, 'light');
});

const own: Timing = { ...TIMING, navigation: true, url: 'https://a.test/' };
const foreign: Timing = { ...own, navigation: false, url: 'https://b.test/x', initiator: 'img' };
const document = { tabId: 1, documentId: 'd', url: 'https://a.test/' };

function batchOf(entries: readonly Timing[], more: Partial<TimingBatch> = {}): TimingBatch {
  return { ...BATCH, entries, ...more };
}

/** A reader on virtual time; its document answers with `answer`. */
function reader(answer: () => Promise<unknown>) {
  const asked: string[] = [];
  let named: readonly string[] = [];
  const clock = { nowMs: 0, due: [] as { atMs: number; run: () => void }[] };
  const read = createStoredAltSvc({
    send: (_, documentId, { urls }) => {
      asked.push(documentId);
      named = urls;
      return answer();
    },
    later: (delayMs, run) => {
      const timer = { atMs: clock.nowMs + delayMs, run };
      clock.due.push(timer);
      return () => {
        clock.due = clock.due.filter((each) => each !== timer);
      };
    },
    nowMs: () => clock.nowMs,
  });
  const pass = (ms: number) => {
    clock.nowMs += ms;
    for (const { run } of clock.due.filter(({ atMs }) => atMs <= clock.nowMs)) run();
  };
  return { read, asked, pass, urls: () => named };
}

const headers = ({ entries }: TimingBatch) => entries.map(({ altSvc }) => altSvc);

test('the header is added to the first entry of the document’s own origin, and to no other', async () => {
  const { read } = reader(async () => ({ altSvc: 'h3=":443"' }));
  assert.deepEqual(headers(await read(batchOf([foreign, own, own]), document)), [
    undefined,
    'h3=":443"',
    undefined,
  ]);
});

test('only what has just come and caches keep is asked for, the newest first', async () => {
  const { read, asked, urls } = reader(async () => ({ altSvc: 'h3=":443"' }));
  const polled = { ...own, navigation: false, url: 'https://a.test/poll', initiator: 'fetch' };
  await read(batchOf([polled]), document);
  assert.deepEqual(asked, []);
  const image = (name: string) => ({ ...polled, url: `https://a.test/${name}`, initiator: 'img' });
  await read(batchOf([own, image('1'), polled, image('2')]), document);
  assert.deepEqual(urls(), ['https://a.test/2', 'https://a.test/']);
});

test('a stored response without the header is told from one that could not be read', async () => {
  const { read } = reader(async () => ({ altSvc: '' }));
  assert.deepEqual(headers(await read(batchOf([foreign, own]), document)), [undefined, '']);
});

test('an origin is asked again after a minute, and after ten if nothing was stored', async () => {
  let answer: unknown = { altSvc: 'h3=":443"' };
  const { read, asked, pass } = reader(async () => answer);
  await read(batchOf([own]), document);
  pass(59_999);
  await read(batchOf([own]), document);
  assert.equal(asked.length, 1);
  answer = null;
  pass(1);
  await read(batchOf([own]), document);
  assert.equal(asked.length, 2);
  pass(599_999);
  await read(batchOf([own]), document);
  assert.equal(asked.length, 2);
  pass(1);
  await read(batchOf([own]), document);
  assert.equal(asked.length, 3);
});

test('nothing is asked of a page under a service worker, nor where nothing of its own crossed the network', async () => {
  const { read, asked } = reader(async () => ({ altSvc: 'h3=":443"' }));
  const cached = { ...own, deliveryType: 'cache', transferBytes: 0 };
  for (const batch of [
    batchOf([own], { controlled: true }),
    batchOf([foreign]),
    batchOf([cached, { ...own, redirected: true }, { ...own, worker: true }]),
  ])
    assert.equal(await read(batch, document), batch);
  assert.deepEqual(asked, []);
});

test('a document that is gone, that does not answer, or answers with something else changes nothing', async () => {
  for (const answer of [
    () => Promise.reject(new Error('no tab')),
    async () => null,
    async () => ({ altSvc: 7 }),
    async () => ({ altSvc: 'x'.repeat(5000) }),
  ]) {
    const batch = batchOf([own]);
    assert.equal(await reader(answer).read(batch, document), batch);
  }
  const { read, pass } = reader(() => new Promise(() => {}));
  const batch = batchOf([own]);
  const waiting = read(batch, document);
  pass(1000);
  assert.equal(await waiting, batch);
});

const origin = v.parse(originSchema, 'https://a.test');
const observation = {
  id: 'x',
  origin,
  site: 'a.test',
  kind: 'navigation',
  delivery: 'network',
  bytes: 1,
  atMs: 1000,
  protocol: 'h2',
} as const;

function visits() {
  const visited: DocumentVisit[] = [];
  return { ...createLightVisits((visit) => visited.push(visit)), visited };
}

const report = (documentId: string | null) => ({ tabId: 1, documentId, url: 'https://a.test/', observation });

test('a page that the user asked for is told from one that a page navigated to', () => {
  const { committed, reported, visited } = visits();
  committed({ documentId: 'typed', parentDocumentId: null, byPage: false });
  committed({ documentId: 'link', parentDocumentId: null, byPage: true });
  reported(report('typed'));
  reported(report('link'));
  assert.deepEqual(
    visited.map(({ byPage }) => byPage),
    [false, true],
  );
  const { byPage: _, ...rest } = visited[0] as DocumentVisit;
  const unknown = { privateWindow: null, container: false, proxied: null };
  assert.deepEqual(rest, { tabId: 1, url: 'https://a.test/', atMs: 1000, ...unknown });
});

test('without its commit, or as a frame, nobody is known to have asked for it', () => {
  const { committed, reported, visited } = visits();
  committed({ documentId: 'frame', parentDocumentId: 'link', byPage: false });
  reported(report('frame'));
  reported(report('never committed'));
  reported(report(null));
  assert.ok(visited.every(({ byPage }) => byPage));
  assert.equal(visited.length, 3);
});
