// What is written to the document while a user is using it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrangeBodies, setValue } from './elements.ts';

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

/** As much of a table as its bodies need; as in a browser, what is moved or removed loses the focus. */
class Table {
  readonly bodies: Body[] = [];
  querySelectorAll(): readonly Body[] {
    return this.bodies;
  }
  contains(body: Body): boolean {
    return this.bodies.includes(body);
  }
  insertBefore(body: Body, before: Body | null): void {
    body.remove();
    this.bodies.splice(before === null ? this.bodies.length : this.bodies.indexOf(before), 0, body);
    body.parentElement = this;
  }
}

class Body {
  parentElement: Table | null = null;
  get nextElementSibling(): Body | null {
    const bodies = this.parentElement?.bodies ?? [];
    return bodies[bodies.indexOf(this) + 1] ?? null;
  }
  remove(): void {
    if (this.parentElement === null) return;
    this.parentElement.bodies.splice(this.parentElement.bodies.indexOf(this), 1);
    this.parentElement = null;
    if (page.activeElement === this) page.activeElement = null;
  }
  focus(): void {
    page.activeElement = this;
  }
}

const page: { activeElement: Body | null } = { activeElement: null };

test('a row keeps the focus, wherever it is moved, until it is removed', (t) => {
  Object.assign(globalThis, { document: page, HTMLElement: Body });
  t.after(() => {
    Reflect.deleteProperty(globalThis, 'document');
    Reflect.deleteProperty(globalThis, 'HTMLElement');
  });
  const table = new Table();
  const [a, b, c] = [new Body(), new Body(), new Body()];
  const show = (...bodies: Body[]): void => {
    arrangeBodies(table as unknown as HTMLElement, bodies as unknown as HTMLElement[]);
    assert.deepEqual(table.bodies, bodies);
  };
  show(a, b, c);
  for (const focused of [a, b, c]) {
    focused.focus();
    show(c, b, a);
    assert.equal(page.activeElement, focused);
    show(a, b, c);
    assert.equal(page.activeElement, focused);
  }
  show(a, b);
  assert.equal(page.activeElement, null);
});
