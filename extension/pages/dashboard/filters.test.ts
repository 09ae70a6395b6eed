// The filters at the top of the dashboard, by keyboard.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFilters } from './filters.ts';
import type { State } from './state.ts';

/** As much of an element as the filters need until they are drawn. */
class Field extends EventTarget {
  readonly options = [];
  focused = 0;
  append(): void {}
  focus(): void {
    this.focused += 1;
  }
}

test('from the button that disappears with its site the focus moves to the filter beside it', (t) => {
  const ids = ['from', 'to', 'network', 'period', 'basis', 'site-filter'];
  const fields = new Map(ids.map((id) => [id, new Field()]));
  const document = { getElementById: (id: string) => fields.get(id), createElement: () => new Field() };
  Object.assign(globalThis, { document });
  t.after(() => Reflect.deleteProperty(globalThis, 'document'));
  const changes: Partial<State>[] = [];
  createFilters((change) => changes.push(change));
  fields.get('site-filter')?.dispatchEvent(new Event('click'));
  assert.deepEqual(changes, [{ site: null, page: 1 }]);
  assert.equal(fields.get('network')?.focused, 1);
});
