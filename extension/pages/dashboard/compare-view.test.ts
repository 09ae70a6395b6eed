// Compared files are untrusted: anything but a report is rejected, and changes are shown with their reasons.
import { verdictSaying } from '@photofinish/shared/testing/race-samples';
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';
import { compareReports } from '@photofinish/shared/report/report-compare';
import { conditionList, createCompareView, readReport, whyText } from './compare-view.ts';

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
  append(...parts: (Part | string)[]): void {
    for (const part of parts)
      if (typeof part === 'string') this.textContent += part;
      else this.children.push(part);
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
  assert.deepEqual(
    [more, too, others],
    [[], 'These also differ, but do not make the comparison unfair:', [version]],
  );
});

test('the reason is the current verdict, with the previous one if it was different', () => {
  const used = verdictSaying('h3-used', 'Now used.');
  const first = verdictSaying('h3-first-visit', 'First visit.');
  assert.equal(whyText({ verdict: { before: used, after: used } }), 'Now used.');
  assert.equal(whyText({ verdict: { before: first, after: used } }), 'Before: First visit. Now: Now used.');
  assert.equal(whyText({ verdict: { before: first, after: null } }), 'First visit.');
});

/** As much of the page as reads two files. */
class Field extends EventTarget {
  textContent = '';
  files: readonly File[] = [];
  set value(_: '') {
    this.files = [];
  }
}

test('the files shown are those read last, and the same file can be chosen again', async (t) => {
  const ids = ['compare-words', 'comparison', 'report-before', 'report-after', 'drop'];
  const fields = new Map(ids.map((id) => [id, new Field()]));
  const at = (id: string): Field => fields.get(id) ?? assert.fail(id);
  class Transfer {
    readonly files: File[] = [];
    readonly items = { add: (file: File) => this.files.push(file) };
  }
  Object.assign(globalThis, { document: { getElementById: at }, DataTransfer: Transfer });
  t.after(() => {
    Reflect.deleteProperty(globalThis, 'document');
    Reflect.deleteProperty(globalThis, 'DataTransfer');
  });
  const shown = () => [at('report-before'), at('report-after')].map(({ files }) => files[0]?.name);
  const file = (name: string, text = Promise.resolve('{')) =>
    Object.assign(new File([], name), { text: () => text });
  createCompareView();

  const late = Promise.withResolvers<string>();
  const input = at('report-before');
  input.files = [file('a.json', late.promise)];
  input.dispatchEvent(new Event('change'));
  const dataTransfer = { files: [file('c.json'), file('d.json')] };
  at('drop').dispatchEvent(Object.assign(new Event('drop'), { dataTransfer }));
  assert.deepEqual(shown(), ['c.json', 'd.json']);
  await settled();
  const words = at('compare-words').textContent;
  assert.match(words, /^[cd]\.json cannot be read/);
  late.resolve('{');
  await settled();
  assert.equal(at('compare-words').textContent, words);

  input.dispatchEvent(new Event('click'));
  assert.deepEqual(shown(), [undefined, 'd.json']);
  input.dispatchEvent(new Event('cancel'));
  assert.deepEqual(shown(), ['c.json', 'd.json']);
});
