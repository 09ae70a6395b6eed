import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepRows, type RowList } from './kept-rows.ts';

interface Row {
  readonly key: string;
  remove(): void;
}

/** A list that counts how often each row was put into it: the browser takes the focus from a row that is put anew. */
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
    /** Shows these, and gives the rows that were put in for that. */
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

test('a row that stays is the one that was there, and is not touched', () => {
  const { children, show } = listOf();
  assert.deepEqual(show(['b', 'd']), ['b', 'd']);
  const [b, d] = children;
  assert.deepEqual(show(['b', 'd']), []);
  assert.deepEqual(show(['a', 'b', 'c', 'd', 'e']), ['a', 'c', 'e']);
  assert.deepEqual(show(['b', 'd', 'e']), []);
  assert.deepEqual([children[0], children[1]], [b, d]);
});

test('what was taken off and is listed again has a row again', () => {
  const { show } = listOf();
  show(['a', 'b']);
  show([]);
  assert.deepEqual(show(['b']), ['b']);
});
