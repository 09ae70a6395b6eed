// Compared files are untrusted: anything but a report is rejected, and changes are shown with their reasons.
import { verdictSaying } from '@photofinish/shared/testing/race-samples';
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareReports } from '@photofinish/shared/report/report-compare';
import { conditionList, readReport, whyText } from './compare-view.ts';

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

/** As much of an element as a list of conditions consists of. */
class Part {
  className = '';
  textContent = '';
  readonly children: Part[] = [];
  append(...parts: Part[]): void {
    this.children.push(...parts);
  }
}

test('only conditions that make a comparison unfair are listed as what could explain a difference', (t) => {
  Object.assign(globalThis, { document: { createElement: () => new Part() } });
  t.after(() => Reflect.deleteProperty(globalThis, 'document'));
  const read = (more: object) => {
    const result = readReport(JSON.stringify({ ...REPORT, ...more }));
    assert.ok(result.ok);
    return result.report;
  };
  const listed = (more: object) => {
    const parts = (conditionList(compareReports(read({}), read(more))) as unknown as Part).children;
    return parts.map(({ textContent, children }) => textContent || children.map((each) => each.textContent));
  };
  const newer = { name: 'chromium', version: '157' };
  const version = 'Different browser version: 156, then 157.';
  assert.deepEqual(listed({}), ['No recorded condition makes this comparison unfair.']);
  assert.deepEqual(listed({ browser: newer }), [
    'No recorded condition makes this comparison unfair.',
    [version],
  ]);
  const [unfair, [network, ...more] = [], too, others] = listed({ browser: newer, network: 'office' });
  assert.match(String(unfair), /each alone could explain a difference/);
  assert.match(String(network), /home.*office/);
  assert.deepEqual([more, too, others], [[], 'These differ too, and do not make it unfair:', [version]]);
});

test('the reason is the current verdict, with the previous one if it was different', () => {
  const used = verdictSaying('h3-used', 'Now used.');
  const first = verdictSaying('h3-first-visit', 'First visit.');
  assert.equal(whyText({ verdict: { before: used, after: used } }), 'Now used.');
  assert.equal(whyText({ verdict: { before: first, after: used } }), 'Before: First visit. Now: Now used.');
  assert.equal(whyText({ verdict: { before: first, after: null } }), 'First visit.');
});
