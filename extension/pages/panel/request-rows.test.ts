import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Origin } from '@photofinish/shared/web/origin';
import { emptyView } from '../../background/tab/view.ts';
import type { InspectedRequest } from '../../common/inspected-request.ts';
import type { PageView } from '../../common/messages.ts';
import { INSPECTED_REQUEST as request } from '../../testing/samples.ts';
import { groupsOf } from './groups.ts';
import {
  conditionsText,
  deliveryText,
  emptyText,
  protocolsText,
  protocolText,
  summaryText,
} from './request-rows.ts';

const confirmed = { ...request, status: 304, protocol: null } as const;
const cached = { ...request, delivery: 'http-cache', protocol: null } as const;
const missing = emptyView(3, null, { helper: { state: 'missing' }, mode: 'full' });
const page: PageView = { ...missing, state: 'recorded', site: 'a.test', origin: 'https://a.test' as Origin };

test('the summary says what is known, what is not, and what never crossed the network', () => {
  assert.deepEqual(summaryText({ h3: 3, known: 4, unknown: 0, elsewhere: 0 }), {
    share: '3 of 4 requests over HTTP/3',
    rest: ['none hidden'],
  });
  assert.deepEqual(summaryText({ h3: 0, known: 1, unknown: 2, elsewhere: 5 }), {
    share: '0 of 1 request over HTTP/3',
    rest: ['2 unknown', '5 not from the network'],
  });
});

test('an origin with one protocol names it, one with several counts each', () => {
  const words = (...requests: InspectedRequest[]) => groupsOf(requests).map(protocolsText);
  assert.deepEqual(words(request, request), ['h3']);
  assert.deepEqual(words(request, { ...request, protocol: 'h2' }, confirmed), ['h3 1 · h2 1 · unknown 1']);
  assert.deepEqual(words(cached), ['–']);
});

test('a request shows its protocol, or where its answer came from instead', () => {
  const words = (each: InspectedRequest) => [protocolText(each), deliveryText(each)];
  assert.deepEqual(words(request), ['h3', 'network']);
  assert.deepEqual(words(confirmed), ['unknown', 'revalidated copy']);
  assert.deepEqual(words(cached), ['–', 'HTTP cache']);
  assert.deepEqual(words({ ...cached, delivery: 'service-worker' }), ['–', 'service worker']);
});

test('the conditions name site, browser and network as far as they are known', () => {
  assert.deepEqual(conditionsText(null, 'Chromium 156'), ['Chromium 156']);
  assert.deepEqual(conditionsText(page, 'Chromium 156'), ['a.test', 'Chromium 156', 'no helper']);
  const ready: PageView = {
    ...page,
    helper: { state: 'ready', program: 'p', network: 'net-1', networkName: null },
  };
  assert.deepEqual(conditionsText(ready, 'Firefox 153'), ['a.test', 'Firefox 153', 'network net-1']);
});

test('an empty list has a reason, and a reload is offered if it helps', () => {
  const words = (inspected: boolean, tabId: number | null, view: PageView | null) => {
    const { text, reload } = emptyText(inspected, tabId, view);
    return [text.split(/[.:]/)[0], reload];
  };
  assert.deepEqual(words(false, null, null), ['This panel is part of the developer tools', false]);
  assert.deepEqual(words(false, 3, page), ['The developer tools for this tab are closed', false]);
  assert.deepEqual(words(true, 3, page), ['Reload the page to see its requests', true]);
  assert.deepEqual(words(true, 3, { ...page, state: 'not-recorded' })[1], true);
  assert.deepEqual(words(true, 3, { ...page, state: 'private' }), [
    'Private windows are neither recorded nor raced',
    false,
  ]);
});
