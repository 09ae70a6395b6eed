// What is written to the document while a user is using it: elements, buttons shown as disabled, and no text as markup.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { originParts, parseOrigin } from '@photofinish/shared/web/origin';
import { siteOfHost } from '../../common/site.ts';
import { isDisabled, onClick, setDisabled } from './disabled-button.ts';
import { arrange, setValue } from './elements.ts';
import { hostParts } from './origin.ts';

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
  readonly inserted: Body[] = [];
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
    this.inserted.push(body);
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

function shownTable(t: TestContext) {
  Object.assign(globalThis, { document: page, HTMLElement: Body });
  t.after(() => {
    Reflect.deleteProperty(globalThis, 'document');
    Reflect.deleteProperty(globalThis, 'HTMLElement');
  });
  const table = new Table();
  const show = (...bodies: Body[]): void => {
    table.inserted.length = 0;
    arrange(table as unknown as HTMLElement, 'tbody', bodies as unknown as HTMLElement[]);
    assert.deepEqual(table.bodies, bodies);
  };
  return { table, show, bodies: [new Body(), new Body(), new Body()] as const };
}

test('a row that stays in its place is not touched', (t) => {
  const {
    table,
    show,
    bodies: [a, b, c],
  } = shownTable(t);
  show(b);
  show(a, b, c);
  assert.deepEqual(new Set(table.inserted), new Set([a, c]));
  show(b, c);
  assert.deepEqual(table.inserted, []);
});

test('a row keeps the focus, wherever it is moved, until it is removed', (t) => {
  const {
    show,
    bodies: [a, b, c],
  } = shownTable(t);
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

// Buttons shown as disabled keep the focus, and do nothing.

test('a button shown as disabled ignores clicks until it is enabled, and is never disabled for the browser', () => {
  const button = Object.assign(new EventTarget(), { ariaDisabled: null, disabled: false });
  const element = button as unknown as HTMLButtonElement;
  let clicks = 0;
  onClick(element, () => {
    clicks += 1;
  });
  for (const disabled of [true, false]) {
    setDisabled(element, disabled);
    assert.deepEqual([isDisabled(element), element.disabled], [disabled, false]);
    button.dispatchEvent(new Event('click'));
  }
  assert.equal(clicks, 1);
});

test('a host is split before its registrable domain, and the port stays with that', () => {
  const parts = (label: string) => {
    const parsed = parseOrigin(`https://${label}`);
    assert.ok(parsed.ok);
    return hostParts(label, siteOfHost(originParts(parsed.value.origin).host));
  };
  assert.deepEqual(parts('static.hotjar.com'), ['static.', 'hotjar.com']);
  assert.deepEqual(parts('a.b.example.co.uk:4433'), ['a.b.', 'example.co.uk:4433']);
  // Under a private suffix the whole name is one site.
  assert.deepEqual(parts('d1a2b3.cloudfront.net'), ['', 'd1a2b3.cloudfront.net']);
  assert.deepEqual(parts('fonts.googleapis.com'), ['', 'fonts.googleapis.com']);
  assert.deepEqual(parts('example.org:8443'), ['', 'example.org:8443']);
  assert.deepEqual(parts('127.0.0.1:8443'), ['', '127.0.0.1:8443']);
  assert.deepEqual(parts('[::1]:8443'), ['', '[::1]:8443']);
  // An ellipsis would take as much space.
  assert.deepEqual(parts('i.guim.co.uk'), ['', 'i.guim.co.uk']);
});

// No page of the extension parses text as HTML, or runs it: untrusted text is only ever text. The pages' policy
// (Trusted Types) rejects that in browsers; this finds it earlier.

const TOP = fileURLToPath(new URL('../../..', import.meta.url));
const SINKS =
  /\.(?:innerHTML|outerHTML|srcdoc)\b|\b(?:insertAdjacentHTML|createContextualFragment|setHTMLUnsafe|parseHTMLUnsafe|parseFromString|eval|importScripts)\s*\(|document\.write|new (?:Function|Worker|DOMParser)\b|javascript:/;
/** Each goes through the one allowed function. */
const ALLOWED: Readonly<Record<string, RegExp>> = {
  'extension/pages/ui/elements.ts': /new DOMParser\(\)\.parseFromString\(trustedDrawing\(svg\)/,
  'extension/pages/report/export-file.ts': /new Worker\(trustedScript\(/,
  'extension/background/public-suffixes.ts': /importScripts\(trustedScript\(/,
};

test('no text is parsed as HTML or run', async () => {
  for (const folder of ['extension', 'shared'])
    for (const name of await readdir(join(TOP, folder), { recursive: true })) {
      if (!name.endsWith('.ts') || /(?:^|\/)(?:dist|node_modules|testing)\/|\.test\.ts$/.test(name)) continue;
      const file = join(folder, name);
      const lines = (await readFile(join(TOP, file), 'utf8')).split('\n');
      for (const [i, line] of lines.entries())
        assert.ok(!SINKS.test(line) || ALLOWED[file]?.test(line), `${file}:${i + 1}: ${line.trim()}`);
    }
});
