// Compared files are untrusted: anything but a report is rejected, and changes are shown with their reasons.
import { verdictSaying } from '@photofinish/shared/testing/race-samples';
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReport, whyText } from './compare-view.ts';

const REPORT = {
  schema: 'photofinish.report/2',
  createdAt: '2026-11-21T10:00:00.000Z',
  period: { from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T10:00:00.000Z' },
  browser: { name: 'chromium', version: '156' },
  network: 'home',
  sites: [],
};

test('a report is read, and anything else is rejected with the position of the error', () => {
  assert.equal(readReport(JSON.stringify(REPORT)).ok, true);
  assert.deepEqual(readReport('{'), { ok: false, why: 'it is not JSON' });
  assert.deepEqual(readReport(JSON.stringify({ ...REPORT, browser: { name: 'lynx', version: '2' } })), {
    ok: false,
    why: 'it is not a Photofinish report (see browser.name)',
  });
  assert.equal(readReport('null').ok, false);
  assert.deepEqual(readReport(JSON.stringify({ ...REPORT, createdAt: '9999-12-31T00:00:00.000Z' })), {
    ok: false,
    why: 'it has a date more than a day in the future (see createdAt)',
  });
});

test('the reason is the current verdict, with the previous one if it was different', () => {
  const used = verdictSaying('h3-used', 'Now used.');
  const first = verdictSaying('h3-first-visit', 'First visit.');
  assert.equal(whyText({ verdict: { before: used, after: used } }), 'Now used.');
  assert.equal(whyText({ verdict: { before: first, after: used } }), 'Before: First visit. Now: Now used.');
  assert.equal(whyText({ verdict: { before: first, after: null } }), 'First visit.');
});
