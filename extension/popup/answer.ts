// The popup's first answer: which page, which protocol, why, and how much of it went over HTTP/3.
import { MARK_LABELS, markOf, markSvg } from '@photofinish/shared/marks';
import { PROTOCOL_NAMES } from '@photofinish/shared/protocol';
import type { PageView } from '../messages.ts';
import { byId, make, setAttribute, setSvg, setText } from '../ui/elements.ts';
import { adoptionWords, asideWords, emphasise, originLabel, reasonWords, stateWords } from './format.ts';

const MARK_PX = 24;

/** Writes a host whose beginning may be cut off; the whole of it is in the title. */
export function writeHost(element: HTMLElement, label: string): void {
  setText(element, label);
  setAttribute(element, 'title', label);
}

/** Writes a verdict's sentence with its gain set apart. */
export function writeVerdict(element: HTMLElement, text: string): void {
  if (element.textContent === text) return;
  const pieces = emphasise(text).map((p) =>
    p.strong ? make('strong', '', p.text) : document.createTextNode(p.text),
  );
  element.replaceChildren(...pieces);
}

function renderAdoption(page: PageView): void {
  const words = adoptionWords(page);
  setText(byId('adoption-share'), words.share);
  setText(byId('adoption-of'), words.of);
  setText(byId('adoption-hidden'), words.hidden);
  const bar = byId('adoption-bar');
  if (bar.getAttribute('aria-label') === words.label) return;
  setAttribute(bar, 'aria-label', words.label);
  bar.title = words.label;
  bar.replaceChildren(
    ...words.bar.map(({ mark, count }) => {
      const part = make('span', `part ${mark}`);
      part.append(make('span', 'figure', MARK_LABELS[mark].replace('H', '')));
      part.style.flexGrow = String(count);
      return part;
    }),
  );
}

/** Everything above the photo finish. */
export function renderAnswer(page: PageView): void {
  const words = stateWords(page.state);
  // A loading page that is already known keeps its answer.
  const plain = words !== null && (page.state !== 'loading' || page.verdict === null);
  writeHost(
    byId('page-host'),
    page.origin === null ? (words?.title ?? 'Photofinish') : originLabel(page.origin),
  );
  const mark = markOf(page.protocol);
  const shown = page.origin !== null && !plain;
  setSvg(byId('page-mark'), markSvg(shown ? mark : 'unknown', MARK_PX));
  const protocol = byId('page-protocol');
  setText(
    protocol,
    plain ? (page.origin === null ? '' : (words?.title ?? '')) : PROTOCOL_NAMES[page.protocol],
  );
  setAttribute(protocol, 'class', `page-protocol ${shown ? mark : 'unknown'}`);
  const verdict = plain ? words.text : (page.verdict?.text ?? reasonWords(page.protocol, page.reason));
  writeVerdict(byId('verdict'), verdict);
  const asideLine = byId('aside');
  const aside = plain || page.verdict === null ? '' : asideWords(page);
  setText(asideLine, aside);
  asideLine.hidden = aside === '';
  byId('adoption').hidden = plain;
  if (!plain) renderAdoption(page);
}
