// Whatever form of a site is pasted, the result is the registrable domain under which records are stored.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webUrl } from '@photofinish/shared/testing/hostile';
import fc from 'fast-check';
import { keepRows, type RowList, siteFromEntry } from './never-record.ts';

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

interface Row {
  readonly key: string;
  remove(): void;
}

/** A list that counts how often each row was inserted: browsers remove the focus from a row that is inserted again. */
function listOf() {
  const children: Row[] = [];
  const put: string[] = [];
  const list: RowList<Row> = {
    children,
    insertBefore(row, before) {
      const was = children.indexOf(row);
      if (was >= 0) children.splice(was, 1);
      children.splice(before === null ? children.length : children.indexOf(before), 0, row);
      put.push(row.key);
    },
  };
  const show = keepRows<Row>(
    () => list,
    (key) => {
      const row = { key, remove: () => void children.splice(children.indexOf(row), 1) };
      return row;
    },
  );
  return {
    children,
    /** Shows these keys, and returns the rows inserted for that. */
    show: (keys: readonly string[]) => {
      put.length = 0;
      show(keys);
      assert.deepEqual(
        children.map(({ key }) => key),
        keys,
      );
      return [...put];
    },
  };
}

test('a row that stays is the same element, and is not touched', () => {
  const { children, show } = listOf();
  assert.deepEqual(show(['b', 'd']), ['b', 'd']);
  const [b, d] = children;
  assert.deepEqual(show(['b', 'd']), []);
  assert.deepEqual(show(['a', 'b', 'c', 'd', 'e']), ['a', 'c', 'e']);
  assert.deepEqual(show(['b', 'd', 'e']), []);
  assert.deepEqual([children[0], children[1]], [b, d]);
});

test('a key that was removed and is listed again has a row again', () => {
  const { show } = listOf();
  show(['a', 'b']);
  show([]);
  assert.deepEqual(show(['b']), ['b']);
});
