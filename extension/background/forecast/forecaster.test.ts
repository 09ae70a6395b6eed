import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Forecast, MAX_FORECAST_ORIGINS } from '@photofinish/shared/port/wire';
import type { Origin } from '@photofinish/shared/web/origin';
import { loadSavedMap, Pages } from '../tab/pages.ts';
import { attachForecasts, createForecaster, type Navigation, useForecasts } from './forecaster.ts';

const forecastOf = (origin: Origin): Forecast => ({
  origin,
  reachable: { protocol: 'h3', basis: 'raced', ageMs: 1, fresh: true },
  expected: { protocol: 'h2', basis: 'observed' },
  hit: true,
});

function testbed(
  known: readonly string[] = [],
  use: (navigation: Navigation) => Promise<void> = async () => {},
  mayAsk: (origin: Origin) => boolean = () => true,
) {
  const asked: { site: string; origins: readonly Origin[] }[] = [];
  const arrived: Navigation[] = [];
  let reads = 0;
  let nowMs = 100;
  const forecaster = createForecaster({
    ask: async (site, origins) => {
      asked.push({ site, origins });
      return origins.map(forecastOf);
    },
    originsOfSite: async () => {
      reads += 1;
      return known as Origin[];
    },
    mayAsk,
    onArrived: (navigation) => {
      arrived.push(navigation);
      void use(navigation);
    },
    nowMs: () => nowMs++,
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return { forecaster, asked, arrived, turn, reads: () => reads };
}

test('the page’s own origin is requested alone and synchronously', () => {
  const { forecaster, asked } = testbed(['https://cdn.a.test']);
  forecaster.navigate(1, 0, 'https://www.a.test/page');
  assert.deepEqual(asked, [{ site: 'a.test', origins: ['https://www.a.test'] }]);
});

test('the origins the site used before follow, read once and then from memory', async () => {
  const { forecaster, asked, turn, reads } = testbed(['https://a.test', 'https://cdn.a.test']);
  forecaster.navigate(1, 0, 'https://a.test/');
  await turn();
  forecaster.commit(1, 0, 'doc');
  forecaster.remember('a.test', ['https://new.test' as Origin]);
  forecaster.navigate(1, 0, 'https://a.test/');
  await turn();
  assert.deepEqual(
    asked.map((a) => a.origins),
    [
      ['https://a.test'],
      ['https://cdn.a.test'],
      ['https://a.test'],
      ['https://cdn.a.test', 'https://new.test'],
    ],
  );
  assert.equal(reads(), 1);
});

test('nothing is asked about an origin that the site used before it was excluded', async () => {
  const { forecaster, asked, turn } = testbed(
    ['https://tracker.test', 'https://cdn.a.test'],
    undefined,
    (origin) => origin !== 'https://tracker.test',
  );
  forecaster.navigate(1, 0, 'https://a.test/');
  await turn();
  assert.deepEqual(
    asked.map((a) => a.origins),
    [['https://a.test'], ['https://cdn.a.test']],
  );
});

test('a forecast belongs to the document that its navigation committed', async () => {
  const { forecaster, arrived, turn } = testbed();
  forecaster.navigate(1, 0, 'https://a.test/');
  await turn();
  assert.equal(forecaster.commit(2, 0, 'other'), null);
  const navigation = forecaster.commit(1, 0, 'doc');
  assert.equal(navigation?.documentId, 'doc');
  assert.deepEqual([navigation?.askedAtMs, navigation?.arrived[0]?.atMs], [100, 101]);
  assert.equal(arrived[0], navigation);
  assert.equal(forecaster.commit(1, 0, 'doc'), null, 'once');
});

test('a redirect to another origin requests again, and the page gets the last answer', async () => {
  const { forecaster, turn } = testbed();
  forecaster.navigate(1, 0, 'https://a.test/');
  forecaster.navigate(1, 0, 'https://b.test/');
  await turn();
  assert.equal(forecaster.commit(1, 0, 'doc')?.origin, 'https://b.test');
});

test('a navigation that restarts in another process is requested once', async () => {
  const { forecaster, asked, turn } = testbed();
  forecaster.navigate(1, 0, 'https://a.test/');
  forecaster.navigate(1, 0, 'https://a.test/');
  forecaster.navigate(2, 0, 'https://a.test/');
  await turn();
  assert.equal(asked.length, 2, 'one for each tab');
  assert.equal(forecaster.commit(1, 0, 'doc')?.askedAtMs, 100);
});

test('pages that are not https get no forecast', () => {
  const { forecaster, asked } = testbed();
  forecaster.navigate(1, 0, 'http://a.test/');
  forecaster.navigate(1, 0, 'about:blank');
  assert.deepEqual(asked, []);
});

test('a message never holds more origins than the wire allows', async () => {
  const many = Array.from({ length: MAX_FORECAST_ORIGINS }, (_, i) => `https://o${i}.test`);
  const { forecaster, asked, turn } = testbed(many);
  forecaster.navigate(1, 0, 'https://a.test/');
  await turn();
  assert.ok(asked.every((a) => a.origins.length <= MAX_FORECAST_ORIGINS));
});

test('after forgetting, the ledger is queried again', async () => {
  const { forecaster, turn, reads } = testbed(['https://cdn.a.test']);
  forecaster.navigate(1, 0, 'https://a.test/');
  await turn();
  forecaster.forget();
  forecaster.navigate(2, 0, 'https://a.test/');
  await turn();
  assert.equal(reads(), 2);
});

/** The forecaster with pages and a ledger, as the background joins them. */
async function joined() {
  const area = { get: async () => ({}), set: async () => {}, remove: async () => {} };
  const pages = new Pages(await loadSavedMap(area, 'page:'), await loadSavedMap(area, 'shown:'), () => {});
  const counted: number[] = [];
  const ledger = {
    countLookups: async (_origin: Origin, _site: string, forecasts: readonly Forecast[]) =>
      void counted.push(forecasts.length),
  };
  const bed = testbed([], (navigation) =>
    useForecasts(navigation, { ledger, pages, steering: null, mayRecord: () => true }, ''),
  );
  const commit = (frameId: number, documentId: string): void => {
    const navigation = bed.forecaster.commit(1, frameId, documentId);
    pages.commit({ documentId, tabId: 1, url: 'https://a.test/', startedMs: 1, begunMs: 1 });
    if (navigation !== null) attachForecasts(pages, navigation);
  };
  return { ...bed, pages, counted, commit };
}

for (const early of [true, false])
  test(`a prerendered page keeps its first forecast, counted once (answer ${early ? 'before' : 'after'} the commit)`, async () => {
    const { forecaster, pages, counted, commit, turn } = await joined();
    for (const frameId of [7, 0]) {
      forecaster.navigate(1, frameId, 'https://a.test/');
      if (early) await turn();
      commit(frameId, 'doc');
      await turn();
    }
    assert.deepEqual(counted, [1]);
    const page = pages.get('doc');
    assert.deepEqual([page?.forecastAskedAtMs, page?.forecastAtMs], [100, 101]);
    assert.equal(page?.origins['https://a.test' as Origin]?.forecastAtMs, 101);
  });

test('a navigation that fails, or is replaced, is counted nevertheless, and so is the one that replaces it', async () => {
  const { forecaster, counted, commit, turn } = await joined();
  forecaster.navigate(1, 0, 'https://a.test/file.zip');
  await turn();
  assert.deepEqual(counted, [], 'it is still open');
  forecaster.fail(1, 0);
  await turn();
  assert.deepEqual(counted, [1]);
  forecaster.navigate(1, 0, 'https://b.test/');
  await turn();
  forecaster.navigate(1, 0, 'https://c.test/');
  await turn();
  assert.deepEqual(counted, [1, 1]);
  // The cancellation of the replaced one may be reported after the other has begun.
  forecaster.fail(1, 0);
  commit(0, 'doc');
  await turn();
  assert.deepEqual(counted, [1, 1, 1]);
});

test('what has not ended when everything is deleted is not counted later', async () => {
  const { forecaster, counted, turn } = await joined();
  forecaster.navigate(1, 0, 'https://a.test/file.zip');
  await turn();
  forecaster.forget();
  forecaster.navigate(1, 0, 'https://b.test/');
  await turn();
  assert.deepEqual(counted, []);
});

test('a navigation whose tab is closed is counted', async () => {
  const { forecaster, counted, turn } = await joined();
  forecaster.navigate(1, 0, 'https://a.test/');
  await turn();
  forecaster.removed(2);
  forecaster.removed(1);
  await turn();
  assert.deepEqual(counted, [1]);
});
