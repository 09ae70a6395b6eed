// Touching the page: only what changed is written, so that focus, selection and open rows outlive an update. Whatever a
// browser would parse or run passes here.

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

/** The browser has begun to save long before; the bytes are then let go. */
const RELEASE_AFTER_MS = 60_000;

/** Saves the bytes under `name`, as the browser saves any download. */
export function saveFile(file: Blob, name: string): void {
  const link = make('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), RELEASE_AFTER_MS);
}

// The one door for text that a browser would parse or run (Trusted Types): the extension's pages have a policy that
// refuses every other. Made when they are first needed, because the policy of a name can be made once in a page.

/** What of the interface is used; TypeScript knows none of it yet. */
interface Factory {
  createPolicy(
    name: string,
    rules: { createHTML?(text: string): string; createScriptURL?(url: string): string },
  ): { createHTML(text: string): string; createScriptURL(url: string): string };
}

const factory = (): Factory | undefined => (globalThis as { readonly trustedTypes?: Factory }).trustedTypes;
const policies = new Map<string, ReturnType<Factory['createPolicy']>>();

function policy(name: string, rules: Parameters<Factory['createPolicy']>[1]) {
  const known = policies.get(name) ?? factory()?.createPolicy(name, rules);
  if (known !== undefined) policies.set(name, known);
  return known;
}

/** A drawing of our own, to be parsed as XML and as nothing else. */
function trustedDrawing(svg: string): string {
  return policy('photofinish-drawing', { createHTML: (text) => text })?.createHTML(svg) ?? svg;
}

/** The address of a script of the extension's own. Throws for any other. */
export function trustedScript(url: string): string {
  const createScriptURL = (asked: string): string => {
    if (!asked.startsWith(chrome.runtime.getURL(''))) throw new TypeError('not a script of the extension');
    return asked;
  };
  return policy('photofinish-script', { createScriptURL })?.createScriptURL(url) ?? url;
}
