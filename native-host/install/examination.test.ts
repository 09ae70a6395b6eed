// What the doctor says of the host cache and of what is copied of the fleet cache.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openHostCache } from '../cache/store.ts';
import { systemClock } from '../clock.ts';
import { scratchDirectory } from '../testing/scratch.ts';
import { copiedText } from './examination.ts';

const HOUR_MS = 3_600_000;

test('the newest outcome of the fleet cache is as old as its hour allows', (t) => {
  const path = join(scratchDirectory(t), 'cache.db');
  const cache = openHostCache({ path, clock: systemClock });
  const atMs = Math.floor(systemClock.epochMs() / HOUR_MS) * HOUR_MS;
  const key = 'a';
  cache.fileShared([{ key, outcome: { key, atMs, h3Failure: null, tcpProtocol: 'h2' } }], {});
  cache.close();
  const copied = '; 1 outcome is copied here, the newest within the last';
  assert.equal(copiedText(path, atMs + HOUR_MS), `${copied} hour`);
  assert.equal(copiedText(path, atMs + HOUR_MS + 1), `${copied} 2 hours`);
});
