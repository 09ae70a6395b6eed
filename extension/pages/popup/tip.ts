// A tooltip for what does not fit into a row: shown to a resting pointer and to the focus, read to screen readers as the
// focused element's description, closed by Escape, and staying while the pointer is on it (WCAG 2.2, 1.4.13).
import { byId, setText } from '../ui/elements.ts';

/** What to tell, beside what, and which element it describes. */
export interface Tip {
  readonly place: HTMLElement;
  readonly describes: HTMLElement;
  readonly text: string;
}

/** A pointer that only passes by is not told. */
const REST_MS = 500;
const GAP_PX = 4;

/** Above where there is room: who reads on downwards does not run into it. */
function place(element: HTMLElement, beside: HTMLElement): void {
  const row = beside.getBoundingClientRect();
  const above = row.top - GAP_PX - element.offsetHeight;
  element.style.top = `${above >= 0 ? above : row.bottom + GAP_PX}px`;
}

/** Tells tips about what is in `area`; `tipOf` gives the one for an element, null where there is nothing to tell. */
export function wireTip(area: HTMLElement, tipOf: (target: EventTarget | null) => Tip | null): void {
  const element = byId('tip');
  let shown: Tip | null = null;
  let waiting: ReturnType<typeof setTimeout> | undefined;

  const hide = (): void => {
    clearTimeout(waiting);
    shown?.describes.removeAttribute('aria-describedby');
    shown = null;
    element.hidden = true;
  };
  const show = (tip: Tip | null): void => {
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
  area.addEventListener('pointerout', (event) => {
    if (leaves(event)) hide();
  });
  element.addEventListener('pointerout', (event) => {
    if (leaves(event)) hide();
  });
  area.addEventListener('focusin', ({ target }) => {
    if (target instanceof Element && target.matches(':focus-visible')) show(tipOf(target));
  });
  area.addEventListener('focusout', hide);
  area.addEventListener('click', hide);
  element.addEventListener('click', hide);
  document.addEventListener('scroll', hide, { capture: true, passive: true });
  document.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Escape' || shown === null) return;
      hide();
      // The browser would close the popup with it.
      event.preventDefault();
      event.stopPropagation();
    },
    { capture: true },
  );
}
