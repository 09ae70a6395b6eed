// What is said of a connection; the bucket itself is tested with a real server in e2e/specs/fleet.spec.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NatsConnection } from '../survey/nats.ts';
import { tellOf } from './bucket.ts';

type Status = ReturnType<NatsConnection['status']> extends AsyncIterable<infer Each> ? Each : never;

test('a connection that is lost and made again is told, and each attempt in between is not', async () => {
  const said: string[] = [];
  async function* status(): AsyncGenerator<Status> {
    yield { type: 'disconnect', server: 'a.test:4222' };
    yield { type: 'reconnecting' };
    yield { type: 'reconnecting' };
    yield { type: 'reconnect', server: 'a.test:4222' };
    yield { type: 'ping', pendingPings: 1 };
  }
  await tellOf({ status }, (message) => said.push(message));
  assert.deepEqual(said, ['the connection is lost', 'the connection is made again']);
});
