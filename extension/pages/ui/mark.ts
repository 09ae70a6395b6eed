// Protocol marks as elements. Hundreds of rows show the same four, so each is parsed once and copied.
import { type Mark, markSvg } from '@photofinish/shared/drawing/marks';
import { make, setSvg } from './elements.ts';

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
