// How popup and panel present an origin: its host, its protocol's mark, its verdict and its race.

import { markSvg } from '@photofinish/shared/drawing/svg';
import type { Verdict } from '@photofinish/shared/race/verdict-schema';
import { verdictParts } from '@photofinish/shared/verdict/verdict-text';
import type { Mark } from '@photofinish/shared/web/protocol';
import { getMessage, type MessageKey } from '../../common/catalog.ts';
import type { PageView } from '../../common/messages.ts';
import { make, part, setAttribute, setSvg, setText } from './elements.ts';

// Where space may be short, a host is truncated at its beginning, among the subdomains, and never within its registrable
// domain, which says whose it is.

/** Subdomains that are no longer than the ellipsis that would replace them. */
const SHORT_CHARS = 2;

/** A host as displayed, split before its registrable domain; the port stays with the domain. */
export function hostParts(label: string, site: string): readonly [subdomains: string, domain: string] {
  const host = label.replace(/:\d+$/, '');
  const at = host.endsWith(`.${site}`) ? host.length - site.length : 0;
  return at > SHORT_CHARS ? [label.slice(0, at), label.slice(at)] : ['', label];
}

function write(element: Element, beginning: string, end: string, title: string): void {
  setText(part(element, '.beginning bdi'), beginning);
  part(element, '.beginning').hidden = beginning === '';
  setText(part(element, '.end'), end);
  setAttribute(element, 'title', title);
}

/** Writes a host with this registrable domain into an element made for one; the title contains the full host. */
export function writeHost(element: Element, label: string, site: string): void {
  const [subdomains, domain] = hostParts(label, site);
  write(element, subdomains, domain, label);
}

/** Writes text in place of a host. */
export function writeInPlaceOfHost(element: Element, words: string): void {
  write(element, '', words, words);
}

// Protocol marks as elements. Hundreds of rows show the same four, so each is parsed once and copied.

const drawn = new Map<string, Element>();

function prototype(mark: Mark, sizePx: number): Element {
  const key = `${mark} ${sizePx}`;
  const known = drawn.get(key);
  if (known !== undefined) return known;
  const box = make('span');
  setSvg(box, markSvg(mark, sizePx));
  const svg = box.firstElementChild as Element;
  drawn.set(key, svg);
  return svg;
}

/** Shows a mark in `element`. */
export function setMark(element: HTMLElement, mark: Mark, sizePx: number): void {
  if (element.dataset['mark'] === mark) return;
  element.dataset['mark'] = mark;
  element.replaceChildren(prototype(mark, sizePx).cloneNode(true));
}

// The race: the button, the verdict, and why there was none.

/** Why there was no race. */
export interface RaceFailure {
  readonly message: string;
  /** Whether the options forbid it. */
  readonly byOptions: boolean;
}

/** The parameters of a gain's message that are figures: numbers with their units, which no line break may split. */
export const FIGURES: ReadonlySet<string | null> = new Set([
  'h3Ms',
  'h2Ms',
  'differenceMs',
  'pairs',
  'nearMs',
  'farMs',
  'timeMs',
]);

/** Writes a verdict's sentences with the clear gain or loss of HTTP/3 emphasised. */
export function writeVerdict(element: HTMLElement, verdict: Verdict): void {
  const parts = verdictParts(verdict);
  if (element.textContent === parts.map(({ text }) => text).join('')) return;
  const nodes = parts.map(({ text, param }) => {
    if (!FIGURES.has(param)) return text;
    return make(param === 'differenceMs' ? 'strong' : 'span', 'measured', text);
  });
  element.replaceChildren(...nodes);
}

/**
 * The race button's label and whether it can be clicked. It can while a race is running: a disabled button loses the
 * focus.
 */
export function raceButton(
  button: HTMLButtonElement,
  raced: boolean,
  running: boolean,
  helper: PageView['helper'],
  first: MessageKey = 'popupRaceNow',
): void {
  setText(button, getMessage(running ? 'popupCancel' : raced ? 'popupRaceAgain' : first));
  const disabled = !running && helper.state !== 'ready';
  if (button.disabled !== disabled) button.disabled = disabled;
  setAttribute(button, 'title', disabled ? getMessage('popupNeedsHelper') : '');
}
