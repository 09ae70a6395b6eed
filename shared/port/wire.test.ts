import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { replySchema } from './reply.ts';
import { requestSchema } from './wire.ts';

const observation = {
  id: 'a',
  origin: 'https://a.test',
  site: 'a.test',
  kind: 'resource',
  delivery: 'network',
  protocol: 'h3',
  atMs: 1,
  bytes: null,
};
const observed = (change: object) => ({
  type: 'observed',
  id: 1,
  browser: 'chromium',
  observations: [{ ...observation, ...change }],
});

test('every request of the protocol is accepted', () => {
  for (const request of [
    { type: 'hello', id: 1, protocol: 1, program: 'x/1' },
    { type: 'hello', protocol: 1, program: 'x/1' },
    { type: 'forecast', id: 2, browser: 'chromium', site: 'a.test', origins: ['https://a.test'] },
    { type: 'race', id: 3, origin: 'https://a.test', mode: 'compare', reason: 'click' },
    observed({}),
    { type: 'cancel', id: 4, target: 3 },
    { type: 'stats', id: 5 },
    { type: 'wipe', id: 6 },
    { type: 'doctor', id: 7 },
    { type: 'networks', id: 8 },
    { type: 'name-network', id: 9, network: 'net-1d44ea1a8671e8f3', name: 'Home' },
    { type: 'name-network', id: 9, network: 'net-1d44ea1a8671e8f3', name: null },
  ])
    assert.equal(v.is(requestSchema, request), true, JSON.stringify(request));
});

test('invalid messages are rejected', () => {
  for (const request of [
    null,
    [],
    { type: 'forecast', id: 1, browser: 'chromium', site: 'a.test', origins: [] },
    { type: 'forecast', id: 1, browser: 'lynx', site: 'a.test', origins: ['https://a.test'] },
    {
      type: 'forecast',
      id: 1,
      browser: 'chromium',
      site: 'a.test',
      origins: Array(501).fill('https://a.test'),
    },
    { type: 'forecast', id: 1, browser: 'chromium', site: 'a.test', origins: ['http://a.test'] },
    { type: 'race', id: -1, origin: 'https://a.test', mode: 'race', reason: 'click' },
    { type: 'race', id: 1.5, origin: 'https://a.test', mode: 'race', reason: 'click' },
    { type: 'race', id: 1, origin: 'https://a.test', mode: 'fast', reason: 'click' },
    { type: 'quit', id: 1 },
    { type: 'name-network', id: 1, network: 'net-1d44ea1a8671e8f3', name: '' },
    { type: 'name-network', id: 1, network: 'net-1d44ea1a8671e8f3', name: 'a\u202eb' },
    { type: 'name-network', id: 1, network: '', name: 'Home' },
    { type: 'name-network', id: 1, network: 'net-1d44ea1a8671e8f3' },
    observed({ protocol: 'unknown' }),
    observed({ reason: 'missed' }),
    observed({ bytes: -1 }),
    observed({ atMs: Number.NaN }),
    observed({ origin: 'https://A.test' }),
    observed({ altSvc: 'x'.repeat(5000) }),
  ])
    assert.equal(v.is(requestSchema, request), false, JSON.stringify(request)?.slice(0, 200));
});

test('an error reply has a code from the table', () => {
  assert.equal(v.is(replySchema, { id: 0, type: 'error', code: 'bad-json', message: 'x' }), true);
  assert.equal(v.is(replySchema, { id: 0, type: 'error', code: 'oops', message: 'x' }), false);
});
