// The warm-up covers a whole exchange: both clients send their request and read its answer.
import assert from 'node:assert/strict';
import http2 from 'node:http2';
import { test } from 'node:test';
import { Client } from 'undici';
import { PLENTY_MS } from '../testing/peers.ts';
import { warmUpExchanges } from './warm-up.ts';

test('both versions of HTTP send a request and receive an answer', async () => {
  const results = await warmUpExchanges({ Client, http2 }, PLENTY_MS);
  assert.deepEqual(
    results.map((result) => result.ok && result.answer.status),
    [204, 204],
  );
});
