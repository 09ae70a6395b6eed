// The top of the popup: which page, which protocol, why, what HTTP/3 gains, how much of the page came over HTTP/3, and
// whether its origin is steered.
import { catalogLanguage, type SharedMessageKey } from '@photofinish/shared/language/catalog';
import type { Verdict } from '@photofinish/shared/race/verdict-schema';
import { leftOutText, otherFindings, sharedInRaceText } from '@photofinish/shared/verdict/verdict-text';
import { MARK_LABELS, markOf, protocolName } from '@photofinish/shared/web/protocol';
import { getMessage, type MessageKey, WHY_UNKNOWN } from '../../common/catalog.ts';
import type { OriginView, PageView, SteerView } from '../../common/messages.ts';
import { isEveryRequestOptional } from '../../common/permissions.ts';
import { onClick, setDisabled } from '../ui/disabled-button.ts';
import { byId, make, setAttribute, setLine, setText } from '../ui/elements.ts';
import { type AdoptionText, adoptionText, originLabel, reasonText, visitsText } from '../ui/format.ts';
import { pointToCode } from '../ui/means-link.ts';
import { setMark, writeHost, writeInPlaceOfHost, writeVerdict } from '../ui/origin.ts';
import {
  asideText,
  isEmptyErrorResponse,
  type Remedy,
  type StateText,
  stateText,
} from '../ui/origin-state-text.ts';
import { wireTooltip } from './tooltip.ts';

const MARK_PX = 24;
const UNSEEN: SharedMessageKey = 'pageAdvertisementUnseen';

/** How many are hidden; where that is an upper bound, the words can be focused, and have a tooltip. */
function renderHidden({ hidden, bound }: AdoptionText): void {
  const element = byId('adoption-hidden');
  setText(element, hidden);
  element.dataset['tip'] = bound;
  if (bound === '') element.removeAttribute('tabindex');
  else setAttribute(element, 'tabindex', '0');
}

/** Makes the hidden part of the adoption say, on hover and focus, why it is an upper bound. */
export function wireHidden(): void {
  wireTooltip(byId('adoption'), (target) => {
    const place = byId('adoption-hidden');
    return target === place ? { place, describes: place, text: place.dataset['tip'] ?? '' } : null;
  });
}

function renderAdoption(page: PageView): void {
  const words = adoptionText(page);
  setText(byId('adoption-share'), words.share);
  setText(byId('adoption-of'), words.of);
  renderHidden(words);
  const bar = byId('adoption-bar');
  if (bar.getAttribute('aria-label') === words.label) return;
  setAttribute(bar, 'aria-label', words.label);
  bar.title = words.label;
  bar.replaceChildren(
    ...words.bar.map(({ mark, count }) => {
      const figure = make('span', 'figure', MARK_LABELS[mark].replace('H', ''));
      const part = make('span', `part ${mark}`, figure);
      part.style.flexGrow = String(count);
      return part;
    }),
  );
}

function renderWho(page: PageView, plain: StateText | null): void {
  const { origin, protocol } = page;
  const host = byId('page-host');
  setAttribute(host, 'dir', origin === null ? 'auto' : 'ltr');
  if (origin === null) writeInPlaceOfHost(host, plain?.title ?? '');
  else writeHost(host, originLabel(origin), page.site ?? '');
  const mark = origin === null || plain !== null ? 'unknown' : markOf(protocol);
  setMark(byId('page-mark'), mark, MARK_PX);
  const beside = byId('page-protocol');
  const name = plain === null ? protocolName(protocol) : plain.title;
  setText(beside, origin === null ? '' : name);
  setAttribute(beside, 'class', `page-protocol ${mark}`);
}

function renderRemedy(remedy: StateText['remedy']): void {
  const button = byId('remedy');
  button.hidden = remedy === null;
  setText(button, remedy?.label ?? '');
  button.dataset['action'] = remedy?.action ?? '';
}

/**
 * The text above the photo finish: that of a state, or a verdict. For a failed page, the result of a race since then.
 */
function mainText(page: PageView, plain: StateText | null, main: OriginView | undefined): string | Verdict {
  if (page.state === 'failed' && main !== undefined) {
    const { race, verdict } = main;
    if (race !== null && race.error === undefined) return verdict;
    return isEmptyErrorResponse(page) && plain !== null ? plain.text : getMessage('popupFailedHost');
  }
  if (plain !== null) return plain.text;
  return main === undefined ? reasonText(page.protocol, page.reason) : main.verdict;
}

function asideOf(page: PageView, plain: StateText | null): string {
  if (page.error !== null) return getMessage('popupFailedError', { error: page.error });
  return plain !== null || page.verdict === null ? '' : asideText(page);
}

/** The link to the explanation of the verdict. */
function renderMeans(main: OriginView | undefined): void {
  const link = byId<HTMLAnchorElement>('verdict-means');
  link.hidden = main === undefined;
  if (main !== undefined) pointToCode(link, main.verdict.code);
}

/**
 * Whether full mode would tell more about the page: which hidden responses came from a cache, or whether an origin
 * advertises HTTP/3.
 */
export function isLimitedByMode({
  mode,
  counts,
  origins,
}: Pick<PageView, 'mode' | 'counts' | 'origins'>): boolean {
  const unseen = ({ verdict }: OriginView) => verdict.findings.some(({ key }) => key === UNSEEN);
  return mode === 'light' && (counts.unknown > 0 || origins.some(unseen));
}

/** Everything above the photo finish. */
export function renderSummary(page: PageView): void {
  const words = stateText(page);
  // A loading page that is already known keeps its verdict.
  const plain = words !== null && page.state === 'loading' && page.verdict !== null ? null : words;
  const main = page.origins.find((view) => view.origin === page.origin);
  renderWho(page, plain);
  renderRemedy(plain?.remedy ?? null);
  const text = mainText(page, plain, main);
  if (typeof text === 'string') setText(byId('verdict'), text);
  else writeVerdict(byId('verdict'), text);
  renderMeans(plain === null || (page.state === 'failed' && page.verdict !== null) ? main : undefined);
  setLine(byId('aside'), asideOf(page, plain));
  // A failed page has no table of origins, where findings are shown otherwise.
  writeFindings(byId('findings'), page.state === 'failed' ? (main ?? null) : null);
  setLine(byId('visits'), plain === null || page.state === 'failed' ? visitsText(page.visits) : '');
  byId('adoption').hidden = plain !== null;
  if (plain === null) renderAdoption(page);
  byId('see-every').hidden = !isLimitedByMode(page) || !isEveryRequestOptional();
}

/** Makes the button beside a page's text perform its remedy. */
export function wireRemedy(run: (action: Remedy) => void): void {
  const button = byId('remedy');
  button.addEventListener('click', () => run(button.dataset['action'] as Remedy));
}

// A verdict's other findings, as a list beneath it.

/**
 * A verdict's other findings, why the origin has no protocol if the verdict does not say so, what its race knew from
 * other machines, and what it left out.
 */
export function findingTexts(view: OriginView): string[] {
  const { verdict, protocol, reason, race } = view;
  const isSaid = reason === null || verdict.findings.some(({ key }) => key === WHY_UNKNOWN[reason]);
  const words = isSaid ? '' : reasonText(protocol, reason);
  return [
    ...otherFindings(verdict).map((finding) => finding.text),
    ...(words === '' ? [] : [words]),
    ...(race === null ? [] : [...sharedInRaceText(race), ...leftOutText(race)]),
  ];
}

/** Writes an origin's findings; null: none. */
export function writeFindings(list: HTMLElement, view: OriginView | null): void {
  const texts = view === null ? [] : findingTexts(view);
  const key = texts.join('\n');
  if (list.dataset['key'] === key) return;
  list.dataset['key'] = key;
  list.hidden = texts.length === 0;
  list.replaceChildren(...texts.map((text) => make('li', '', text)));
}

// Whether and how the page's own origin is steered, and the button that starts or stops it. Firefox only: in other
// browsers the section is hidden.

export interface SteerText {
  readonly text: string;
  /** The button's label, and what a click requests; null: nothing, and the button is shown as disabled. */
  readonly press: { readonly words: string; readonly on: boolean | 'options' | null };
}

const UNDONE: Readonly<Record<NonNullable<SteerView['undone']>, MessageKey>> = {
  network: 'steerUndoneNetwork',
  failed: 'steerUndoneFailed',
  expired: 'steerUndoneExpired',
  changed: 'steerUndoneChanged',
};

function timeOfDay(atMs: number): string {
  return new Intl.DateTimeFormat(catalogLanguage(), { hour: 'numeric', minute: '2-digit' }).format(atMs);
}

/** The text about an origin's steering; null if there is nothing to show. */
export function steerText(steer: SteerView | null): SteerText | null {
  if (steer === null) return null;
  const { enabled, chosen, active, possible, undone } = steer;
  // The button that was pressed for it may still have the focus, which it would lose if it were hidden.
  if (active?.undoing && !chosen)
    return { text: getMessage('steerUndoing'), press: { words: getMessage('steerStop'), on: null } };
  if (!enabled)
    return possible === null
      ? null
      : { text: getMessage('steerOff'), press: { words: getMessage('popupOpenOptions'), on: 'options' } };
  const stop = { words: getMessage('steerStop'), on: false };
  if (active !== null && !active.undoing) {
    const time = timeOfDay(active.untilMs);
    const key = active.direction === 'to-h3' ? 'steerActiveToH3' : 'steerActiveFromH3';
    return { text: getMessage(key, { time }), press: stop };
  }
  if (chosen) return { text: getMessage(undone === null ? 'steerWaiting' : UNDONE[undone]), press: stop };
  if (possible === null) return null;
  const condition = steer.privateRoot === true ? ` ${getMessage('steerPrivateRoot')}` : '';
  return possible === 'to-h3'
    ? {
        text: `${getMessage('steerOfferToH3')}${condition}`,
        press: { words: getMessage('steerStartToH3'), on: true },
      }
    : { text: getMessage('steerOfferFromH3'), press: { words: getMessage('steerStartFromH3'), on: true } };
}

/** The section under the photo finish; `failure` is the browser's message about the last click. */
export function renderSteer({ steer }: Pick<PageView, 'steer'>, failure: string | null): void {
  const words = steerText(steer);
  byId('steer').hidden = words === null;
  if (words === null) return;
  const refused = failure === null ? '' : ` ${getMessage('steerFailed', { message: failure })}`;
  setText(byId('steer-words'), words.text + refused);
  const button = byId<HTMLButtonElement>('steer-press');
  const { words: label, on } = words.press;
  setDisabled(button, on === null);
  button.value = String(on ?? '');
  setText(button, label);
}

/** Calls `press` with what the button requests, or `openOptions` if steering must first be enabled there. */
export function wireSteer(press: (on: boolean) => void, openOptions: () => void): void {
  const button = byId<HTMLButtonElement>('steer-press');
  onClick(button, () => {
    if (button.value === 'options') openOptions();
    else press(button.value === 'true');
  });
}
