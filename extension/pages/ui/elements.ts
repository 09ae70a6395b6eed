// Touching the page: only what changed is written, so that focus, selection and open rows outlive an update.
import { trustedDrawing } from './trusted.ts';

/** The element of the static page with that id; its absence is a mistake in the page. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as T;
}

/** A new element with a class and text. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className = '',
  text = '',
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className !== '') element.className = className;
  if (text !== '') element.textContent = text;
  return element;
}

/** A copy of the one element in the template of that id. */
export function copyOf<T extends Element>(template: string): T {
  const content = byId<HTMLTemplateElement>(template).content.firstElementChild;
  return document.importNode(content as T, true);
}

/** The element within `root`; its absence is a mistake in the page. */
export function part(root: Element, selector: string): HTMLElement {
  const found = root.querySelector<HTMLElement>(selector);
  if (found === null) throw new Error(`a part of the page has no ${selector}`);
  return found;
}

/** Writes text where it differs. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Writes an attribute where it differs. */
export function setAttribute(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

const drawn = new WeakMap<Element, string>();

/** Puts an SVG of our own drawing into `element`, parsed as XML: whatever is not well-formed throws. */
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
