// A tour on which nothing could be visited has nothing to report, and leaves the report of the one before.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Origin } from '@photofinish/shared/web/origin';
import type { Session } from '../browsers/session.ts';
import { tour } from './start.ts';

test('without a page that loaded there is no report, and an earlier one stays', async (t) => {
  const reportDir = mkdtempSync(join(tmpdir(), 'pf-tour-'));
  t.after(() => rmSync(reportDir, { recursive: true }));
  writeFileSync(join(reportDir, 'report.html'), 'earlier');
  const unreachable = { goto: () => Promise.reject(new Error('net::ERR_NAME_NOT_RESOLVED')), close() {} };
  const session = {
    newTab: () => Promise.resolve(unreachable),
    openPopup: () => assert.fail('nothing is exported'),
  } as unknown as Session;
  const origins = ['https://a.test' as Origin];
  assert.equal(await tour(session, origins, { local: false, headless: true, reportDir }), false);
  assert.deepEqual(readdirSync(reportDir), ['report.html']);
});
