// What the monitoring address of a server tells about lost messages, and what is said if it tells nothing.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { syncing } from './survey-actions.ts';

/** A server on loopback that answers `/varz` with this body, and nothing else. */
async function monitor(t: TestContext, body: string): Promise<string> {
  const server = createServer(({ url }, answer) => {
    answer.statusCode = url === '/varz' ? 200 : 404;
    answer.end(url === '/varz' ? body : '{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const varz = (config: object) => JSON.stringify({ version: '2.15.2', jetstream: { config } });

test('a server that syncs every message', async (t) => {
  const { state, text } = await syncing(await monitor(t, varz({ sync_interval: 120e9, sync_always: true })));
  assert.equal(state, 'ok');
  assert.match(text, /^nats-server 2\.15\.2 syncs every message/);
});

test('a server that does not is a problem, with its remedy', async (t) => {
  for (const config of [{ sync_interval: 120e9 }, { sync_always: false }]) {
    const { state, text } = await syncing(await monitor(t, varz(config)));
    assert.equal(state, 'problem');
    assert.match(text, /may lose acknowledged messages.*"jetstream \{ sync_interval: always \}"/);
  }
});

test('another answer proves neither', async (t) => {
  for (const body of ['', '<html>', '{}', '{"version":7}', varz({ sync_always: 'yes' })]) {
    const url = await monitor(t, body);
    const { state, text } = await syncing(url);
    assert.equal(state, 'unknown', body);
    assert.ok(text.startsWith(`${url} does not respond like a NATS server: `));
    assert.ok(!text.includes('\n'), 'one line');
  }
});

test('without an address, or with none that is one, nothing is known', async () => {
  assert.match((await syncing(null)).text, /cannot be seen from here: give --monitor/);
  for (const url of ['no address', 'localhost:8222'])
    assert.equal((await syncing(url)).state, 'unknown', url);
});
