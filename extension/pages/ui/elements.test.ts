// What is written to the document while a user is using it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setValue } from './elements.ts';

test('a field that is being edited keeps what was typed', (t) => {
  const page = { activeElement: null as unknown };
  Object.assign(globalThis, { document: page });
  t.after(() => Reflect.deleteProperty(globalThis, 'document'));
  const field = { value: '2' } as HTMLInputElement;
  page.activeElement = field;
  setValue(field, '1');
  assert.equal(field.value, '2');
  page.activeElement = null;
  setValue(field, '1');
  assert.equal(field.value, '1');
});
