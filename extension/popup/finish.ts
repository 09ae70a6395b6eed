// The popup's photo finish: the page's own origin, raced on a click, drawn while it runs and when it is done.

import type { Origin } from '@photofinish/shared/origin';
import type { OriginRace } from '@photofinish/shared/outcome';
import { photoFinish } from '@photofinish/shared/photo-finish';
import { photoFinishSvg } from '@photofinish/shared/photo-finish-svg';
import type { OriginView, PageView } from '../messages.ts';
import { byId, make, setAttribute, setSvg, setText } from '../ui/elements.ts';
import { say } from '../words.ts';
import { writeLine } from './answer.ts';
import { capitalSentence, forecastWords } from './format.ts';
import { type LiveRace, liveFinish } from './live.ts';

/** A race that the user sees running, with what was known when it began. */
export interface Running {
  readonly live: LiveRace;
  /** When the race before it began; a newer one in the page's view is this race's result. */
  readonly beforeMs: number | null;
  readonly cancelling: boolean;
}

/** Races under way, and the last failure, by origin. */
export interface RaceBoard {
  readonly running: ReadonlyMap<Origin, Running>;
  readonly failures: ReadonlyMap<Origin, string>;
}

/** Where there is room for a drawing: the popup's width less its margins. */
const DRAWING_PX = 368;

/** The drawing of a race that runs or has run; empty without one, or when there was nothing to time. */
export function drawing(
  race: OriginRace | null,
  running: Running | undefined,
  id: string,
  widthPx = DRAWING_PX,
): string {
  if (running) return photoFinishSvg(liveFinish(running.live), id, widthPx);
  if (race === null || race.trials.length === 0) return '';
  return photoFinishSvg(photoFinish(race), id, widthPx);
}

/** What stands beside a drawing: what its numbers are, or why there is none. */
export function captionWords(race: OriginRace | null, running: Running | undefined): string {
  if (running) return running.cancelling ? say('popupCancelling') : liveFinish(running.live).caption;
  if (race === null) return say('popupNotRacedYet');
  if (race.trials.length === 0) return say('popupNotRaced');
  return photoFinish(race).caption;
}

/** The race button's words and whether it can be pressed. While a race runs it can: what is switched off loses the focus. */
export function raceButton(
  button: HTMLButtonElement,
  raced: boolean,
  running: Running | undefined,
  helper: PageView['helper'],
): void {
  setText(button, say(running ? 'popupCancel' : raced ? 'popupRaceAgain' : 'popupRaceNow'));
  const disabled = running === undefined && helper.state !== 'ready';
  if (button.disabled !== disabled) button.disabled = disabled;
  setAttribute(button, 'title', disabled ? say('popupNeedsHelper') : '');
}

function writeCaption(view: OriginView, running: Running | undefined): void {
  const caption = byId('finish-caption');
  const forecast = forecastWords(view);
  const words = captionWords(view.race, running);
  const key = `${words}|${forecast.result}|${forecast.text}`;
  if (caption.dataset['key'] === key) return;
  caption.dataset['key'] = key;
  const scored = make('span', `forecast ${forecast.result}`);
  scored.title = forecast.title;
  if (forecast.result === 'none') scored.textContent = say('popupNoForecast');
  else
    scored.append(
      `${say('popupForecast')} `,
      verdictSign(forecast.result),
      make('strong', '', forecast.text),
    );
  caption.replaceChildren(`${words} · `, scored);
}

const SIGNS = {
  right: ['popupRight', '✓ '],
  wrong: ['popupWrong', '✗ '],
  open: ['popupOpen', ''],
} as const;

/** Tick or cross with its word for those who do not see it; only the word while it is open. */
export function verdictSign(result: 'right' | 'wrong' | 'open' | 'none'): HTMLElement {
  const sign = make('span', `sign ${result}`);
  if (result === 'none') return sign;
  const [word, mark] = SIGNS[result];
  const glyph = make('span', '', mark);
  glyph.setAttribute('aria-hidden', 'true');
  sign.append(make('span', 'unseen', `${say(word)} `), glyph);
  return sign;
}

/** The section under the answer; hidden where there is no origin to race. */
export function renderFinish(page: PageView, board: RaceBoard): void {
  const view = page.origins.find((o) => o.origin === page.origin);
  const section = byId('finish');
  section.hidden = view === undefined;
  if (view === undefined) return;
  const running = board.running.get(view.origin);
  section.classList.toggle('racing', running !== undefined);
  section.classList.toggle('asking', !page.complete && view.race === null);
  setSvg(byId('finish-drawing'), drawing(view.race, running, 'finish-svg'));
  const failure = running ? undefined : (board.failures.get(view.origin) ?? view.race?.error?.message);
  writeLine(byId('finish-words'), failure === undefined ? '' : capitalSentence(failure));
  raceButton(byId<HTMLButtonElement>('race'), view.race !== null, running, page.helper);
  writeCaption(view, running);
}
