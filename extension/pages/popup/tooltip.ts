// A tooltip for what does not fit into a row: shown on hover and focus, read by screen readers as the focused element's
// description, closed by Escape, and kept open while the pointer is on it (WCAG 2.2, 1.4.13).
import { byId, setText } from '../ui/elements.ts';

/** The text, the element it is placed beside, and the element it describes. */
export interface Tooltip {
  readonly place: HTMLElement;
  readonly describes: HTMLElement;
  readonly text: string;
}

/** No tooltip is shown for a pointer that only passes by. */
const REST_MS = 500;
const GAP_PX = 4;

/** Above if there is room, so that it does not cover the rows to be read next. */
function place(element: HTMLElement, beside: HTMLElement): void {
  const row = beside.getBoundingClientRect();
  const above = row.top - GAP_PX - element.offsetHeight;
  element.style.top = `${above >= 0 ? above : row.bottom + GAP_PX}px`;
}

/** Shows tooltips for elements in `area`; `tipOf` returns the one for an element, or null if it has none. */
export function wireTooltip(area: HTMLElement, tipOf: (target: EventTarget | null) => Tooltip | null): void {
  const element = byId('tip');
  let shown: Tooltip | null = null;
  let waiting: ReturnType<typeof setTimeout> | undefined;

  const hide = (): void => {
    clearTimeout(waiting);
    shown?.describes.removeAttribute('aria-describedby');
    shown = null;
    element.hidden = true;
  };
  const show = (tip: Tooltip | null): void => {
    hide();
    if (tip === null || tip.text === '') return;
    shown = tip;
    setText(element, tip.text);
    tip.describes.setAttribute('aria-describedby', element.id);
    element.hidden = false;
    place(element, tip.place);
  };
  const leaves = ({ relatedTarget }: PointerEvent): boolean =>
    relatedTarget !== element && shown?.place.contains(relatedTarget as Node | null) !== true;

  area.addEventListener('pointerover', ({ target }) => {
    const tip = tipOf(target);
    if (tip?.place === shown?.place) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => show(tip), REST_MS);
  });
  for (const each of [area, element]) {
    each.addEventListener('pointerout', (event) => {
      if (leaves(event)) hide();
    });
    each.addEventListener('click', hide);
  }
  area.addEventListener('focusin', ({ target }) => {
    if (target instanceof Element && target.matches(':focus-visible')) show(tipOf(target));
  });
  area.addEventListener('focusout', hide);
  document.addEventListener('scroll', hide, { capture: true, passive: true });
  document.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Escape' || shown === null) return;
      hide();
      // Otherwise the browser would close the popup too.
      event.preventDefault();
      event.stopPropagation();
    },
    { capture: true },
  );
}
