// What the options page reads and says, without the page. Files: a name that sorts by day, and a reason for every way in
// which one can be rejected.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DATA_ERRORS, DataError } from '../../ledger/data-document.ts';
import { dataFileName, importedText, importFailure, wipedText } from './data.ts';
import 'fake-indexeddb/auto';
import { NO_REQUESTS } from '@photofinish/shared/report/adoption';
import { webUrl } from '@photofinish/shared/testing/hostile';
import fc from 'fast-check';
import { openLedger } from '../../ledger/ledger.ts';
import { emptyTotal } from '../../ledger/row-changes.ts';
import { knownNetworks, nameFromEntry, rereadNetworks } from './networks.ts';
import { siteFromEntry } from './never-record.ts';
import { readNumber } from './number-field.ts';

test('the file name contains the day', () => {
  assert.equal(dataFileName(new Date(2026, 0, 9)), 'photofinish-data-2026-01-09.json');
});

test('every rejection has its own sentence, which says that nothing was imported', () => {
  const sentences = DATA_ERRORS.map((code) => importFailure(new DataError(code, 'a row breaks')));
  assert.equal(new Set(sentences).size, DATA_ERRORS.length);
  for (const sentence of sentences) assert.match(sentence, /Nothing was imported\.$/);
});

test('any other error is reported as having stopped the import, with its own message', () => {
  assert.equal(importFailure(new Error('the disk is full')), 'The import stopped: the disk is full');
});

test('of another browser’s file it is said that only its races are imported, and why', () => {
  const none = { future: 0, excluded: 0, foreign: 0, refused: 0 };
  const rows = { records: 3, days: 4, totals: 2, races: 1 };
  assert.match(importedText({ ...none, rows }), /^Imported 3 records with their races, [^.]*\.$/);
  const foreign = importedText({ ...none, rows: { ...rows, records: 0, days: 0, totals: 0 }, foreign: 9 });
  assert.match(foreign, /^Imported 1 race, .* 9 rows were left out: they describe what another browser did/);
});

// The message after deletion: which of the two stores is empty now.

test('the helper’s entries are counted, and its absence or a failure is reported', () => {
  const wiped = { type: 'wiped', helperRecords: 1, trouble: null } as const;
  assert.match(wipedText(wiped), /1 entry in the helper/);
  assert.match(wipedText({ ...wiped, helperRecords: 0 }), /0 entries/);
  assert.match(
    wipedText({ ...wiped, helperRecords: null }),
    /could not be reached, so its host cache remains/,
  );
  assert.match(wipedText({ ...wiped, helperRecords: null, trouble: 'No space.' }), /No space\./);
});

const day = (name: string, network: string, h3: number) => ({
  day: name,
  network,
  counts: { ...NO_REQUESTS, h3, unknown: 1 },
});

test('the current network comes first, then the most recently used; what is no network is not listed', () => {
  const totals = [
    day('2026-11-01', 'net-old', 2),
    day('2026-11-20', 'net-work', 3),
    day('2026-11-21', 'net-work', 4),
    day('2026-11-21', 'unknown', 9),
  ];
  assert.deepEqual(knownNetworks(totals, new Map([['net-named', 'Hotel']]), 'net-now'), [
    { network: 'net-now', seen: null, now: true },
    { network: 'net-work', seen: { day: '2026-11-21', requests: 9 }, now: false },
    { network: 'net-old', seen: { day: '2026-11-01', requests: 3 }, now: false },
    { network: 'net-named', seen: null, now: false },
  ]);
  assert.deepEqual(knownNetworks([], new Map(), 'offline'), []);
});

test('an empty field removes the name; what cannot be read is no name', () => {
  assert.equal(nameFromEntry('  '), null);
  assert.equal(nameFromEntry(' Home '), 'Home');
  assert.equal(nameFromEntry('x'.repeat(41)), undefined);
});

/** As much of an element as the list of networks uses. */
class Part {
  hidden = false;
  textContent = '';
  children: readonly unknown[] = [];
  append(): void {}
  setAttribute(): void {}
  getAttribute(): null {
    return null;
  }
  addEventListener(): void {}
  replaceChildren(...children: readonly unknown[]): void {
    this.children = children;
  }
}

test('networks of what was recorded are listed no longer once it is deleted, and again once it is imported', async (t) => {
  const parts = new Map<string, Part>();
  const getElementById = (id: string): Part => {
    const part = parts.get(id) ?? new Part();
    parts.set(id, part);
    return part;
  };
  const page = { activeElement: null, getElementById, createElement: () => new Part() };
  const globals = { document: page, HTMLElement: Part, chrome: { extension: { inIncognitoContext: false } } };
  Object.assign(globalThis, globals);
  t.after(() => {
    for (const name of Object.keys(globals)) Reflect.deleteProperty(globalThis, name);
  });
  const ledger = openLedger();
  const listed = async () => {
    await rereadNetworks();
    return parts.get('networks-list')?.children.length;
  };
  const totals = ['net-home', 'net-work'].map((network) => emptyTotal('2026-11-21', network));
  await ledger.merge('totals', totals);
  assert.equal(await listed(), 2);
  await ledger.wipe();
  assert.equal(await listed(), 0);
  assert.equal(parts.get('networks-none')?.hidden, false);
  await ledger.merge('totals', totals);
  assert.equal(await listed(), 2);
});

// Whatever form of a site is pasted, the result is the registrable domain under which records are stored.

const CASES = [
  ['example.org', 'example.org'],
  ['  WWW.Example.ORG ', 'example.org'],
  ['https://shop.example.co.uk:8443/cart?id=1', 'example.co.uk'],
  ['someone.github.io/page', 'someone.github.io'],
  ['münchen.de', 'xn--mnchen-3ya.de'],
  ['192.0.2.7', '192.0.2.7'],
  ['[2001:db8::1]:8443', '2001:db8::1'],
  ['printer', 'printer'],
  ['*.example.org', 'example.org'],
  ['https://*.shop.example.org/a*b', 'example.org'],
  ['www.*.org', null],
  ['https://www.*.org', null],
  ['*', null],
  ['', null],
  ['two words', null],
  ['https://', null],
  ['about:blank', null],
  ['ftp://example.org', null],
] as const;

for (const [text, site] of CASES)
  test(`site entry: ${JSON.stringify(text)}`, () => assert.equal(siteFromEntry(text), site));

test('an accepted site is its own site', () => {
  fc.assert(
    fc.property(webUrl('https', 'http'), (url) => {
      const site = siteFromEntry(url);
      if (site !== null && !site.includes(':')) assert.equal(siteFromEntry(site), site);
    }),
  );
});

// What counts as a number within bounds, before anything is saved.

test('every integer within the bounds is read, none outside', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2000 }), (number) => {
      const expected = number >= 1 && number <= 400 ? number : null;
      assert.equal(readNumber(String(number), 1, 400), expected);
    }),
  );
});

for (const text of ['', ' ', '1.5', '1e2', '-1', '0x10', 'ten', '99999999999'])
  test(`${JSON.stringify(text)} is not a number to save`, () =>
    assert.equal(readNumber(text, 0, 1000), null));
