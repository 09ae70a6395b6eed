// The real helper where files, disks and pipes are against it: it goes on, or leaves in order, and says why.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { home } from './wire/spawned-helper.ts';

const forecast = (id: number, origins = ['https://a.test']) => ({
  type: 'forecast',
  id,
  browser: 'chromium',
  site: 'a.test',
  origins,
});

test('pipes in place of cache, salt and log are refused and said; nothing waits for them', async (t) => {
  const at = await home(t);
  mkdirSync(join(at.directory, 'state'));
  for (const name of ['cache.db', 'cache.db.salt', 'helper.log'])
    execFileSync('mkfifo', [join(at.directory, 'state', name)]);
  const helper = await at.greet();
  helper.send(forecast(2));
  assert.equal((await helper.next('forecast')).forecasts.length, 1);
  helper.send({ type: 'stats', id: 3 });
  assert.match((await helper.next('stats')).storeReason ?? '', /not a regular file/);
  assert.equal(await helper.leave(), 0);
  assert.match(helper.stderr(), /salt .* cannot be used/);
});
