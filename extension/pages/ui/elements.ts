// Updates the document: only differences are written, so that focus, selection and open rows survive an update.
import { trustedDrawing } from '../../common/trusted-types.ts';
import { onClick } from './disabled-button.ts';

/** The element of the static page with that id; throws if it is missing, a bug in the page. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as T;
}

/** A new element with a class and contents. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className = '',
  ...content: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className !== '') element.className = className;
  // An empty text would be a node too, and the element not `:empty`.
  element.append(...content.filter((each) => each !== ''));
  return element;
}

/** A button that is no part of a form; clicks have no effect while it is shown as disabled. */
export function makeButton(
  className: string,
  content: readonly (Node | string)[],
  onPress: () => void,
): HTMLButtonElement {
  const button = make('button', className, ...content);
  button.type = 'button';
  onClick(button, onPress);
  return button;
}

/** A name that reads from left to right in every language, such as a host. */
export function leftToRight(name: string, className = ''): HTMLElement {
  const element = make('bdi', className, name);
  element.dir = 'ltr';
  return element;
}

/** A row that spans the whole table. */
export function wideRow(className: string, columns: number, ...content: readonly (Node | string)[]) {
  const cell = make('td', '', ...content);
  cell.colSpan = columns;
  return { row: make('tr', className, cell), cell };
}

/** A copy of the only element in the template with that id. */
export function copyOf<T extends Element>(template: string): T {
  const content = byId<HTMLTemplateElement>(template).content.firstElementChild;
  return document.importNode(content as T, true);
}

/** The element within `root`; throws if it is missing, a bug in the page. */
export function part(root: Element, selector: string): HTMLElement {
  const found = root.querySelector<HTMLElement>(selector);
  if (found === null) throw new Error(`a part of the page has no ${selector}`);
  return found;
}

/** Writes text if it differs. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Writes a line that is hidden when it is empty. */
export function setLine(element: HTMLElement, text: string): void {
  setText(element, text);
  element.hidden = text === '';
}

/** Writes an attribute if it differs. */
export function setAttribute(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** Writes a field's value, unless the field has the focus and may be being edited. */
export function setValue(field: HTMLInputElement, value: string): void {
  if (document.activeElement !== field && field.value !== value) field.value = value;
}

/**
 * Puts the bodies of a table, or the items of a list, in order, moving only those out of place, and removes those no
 * longer wanted. One that is moved loses the focus, so it is given back.
 */
export function arrange(parent: HTMLElement, kind: 'tbody' | 'li', wanted: readonly HTMLElement[]): void {
  const focused = document.activeElement;
  const kept = new Set<Element>(wanted);
  for (const row of [...parent.querySelectorAll(kind)]) if (!kept.has(row)) row.remove();
  let before: Element | null = null;
  for (const row of wanted.toReversed()) {
    if (row.nextElementSibling !== before || row.parentElement !== parent) parent.insertBefore(row, before);
    before = row;
  }
  if (focused instanceof HTMLElement && focused !== document.activeElement && parent.contains(focused))
    focused.focus({ preventScroll: true });
}

const drawn = new WeakMap<Element, string>();

/** Puts an SVG drawn by this extension into `element`, parsed as XML: anything not well-formed throws. */
export function setSvg(element: Element, svg: string): void {
  if (drawn.get(element) === svg) return;
  drawn.set(element, svg);
  if (svg === '') {
    element.replaceChildren();
    return;
  }
  const parsed = new DOMParser().parseFromString(trustedDrawing(svg), 'image/svg+xml').documentElement;
  if (parsed.nodeName !== 'svg') throw new Error('not a drawing');
  element.replaceChildren(document.importNode(parsed, true));
}

/** By then the browser has long begun to save; the memory is released. */
const RELEASE_AFTER_MS = 60_000;

/** Saves the blob as `name`, like any download. */
export function saveFile(file: Blob, name: string): void {
  const link = make('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), RELEASE_AFTER_MS);
}
