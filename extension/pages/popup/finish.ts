// The popup's photo finish: the page's own origin, raced on a click, drawn while it runs and when it is done.

import {
  absentLane,
  finishOf,
  type Lane,
  type PhotoFinish,
  photoFinish,
} from '@photofinish/shared/drawing/photo-finish';
import { photoFinishSvg } from '@photofinish/shared/drawing/photo-finish-svg';
import type { Progress } from '@photofinish/shared/port/wire';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { median } from '@photofinish/shared/race/statistics';
import type { TransportName } from '@photofinish/shared/race/terms';
import type { Origin } from '@photofinish/shared/web/origin';
import { getMessage } from '../../common/catalog.ts';
import type { OriginView, PageView } from '../../common/messages.ts';
import { byId, make, setSvg, setText } from '../ui/elements.ts';
import { capitalSentence, forecastText, raceErrorText, unmeasuredText } from '../ui/format.ts';
import { type RaceFailure, raceButton } from '../ui/origin.ts';

/** A running race shown to the user, with what was known when it began. */
export interface RaceInView {
  readonly live: LiveRace;
  /** When the race before it began; a newer one in the page's view is this race's result. */
  readonly beforeMs: number | null;
  readonly cancelling: boolean;
}

/** Running races, queued races, and the last failure, by origin. */
export interface RaceBoard {
  readonly running: ReadonlyMap<Origin, RaceInView>;
  readonly waiting: ReadonlySet<Origin>;
  readonly failures: ReadonlyMap<Origin, RaceFailure>;
}

/** The width available for a drawing: the popup's width less its margins. */
const DRAWING_PX = 488;
const MARGINS_PX = 32;

let availablePx = DRAWING_PX;

/**
 * Fits drawings to a browser tab that shows the popup and may be narrower; `onChange` is called when they have to be
 * redrawn. Observed, because asking the document for its width would lay it out in the middle of every update.
 */
export function fitDrawings(onChange: () => void): void {
  new ResizeObserver(([page]) => {
    const before = availablePx;
    if (page !== undefined) availablePx = Math.min(DRAWING_PX, page.contentRect.width - MARGINS_PX);
    if (availablePx !== before) onChange();
  }).observe(document.documentElement);
}

/** The width of a drawing with this inset. */
export function widthOf(insetPx = 0): number {
  return availablePx - insetPx;
}

/** The state of an origin's race; null: none was requested. */
export function raceState({ running, waiting }: RaceBoard, origin: Origin): 'racing' | 'waiting' | null {
  if (waiting.has(origin)) return 'waiting';
  return running.has(origin) ? 'racing' : null;
}

/** The drawing of a running or completed race; empty without one, or if there was nothing to time. */
export function drawing(
  race: OriginRace | null,
  running: RaceInView | undefined,
  id: string,
  widthPx: number,
): string {
  if (running) return photoFinishSvg(liveFinish(running.live), id, widthPx);
  if (race === null || race.trials.length === 0) return '';
  return photoFinishSvg(photoFinish(race), id, widthPx);
}

/** The text beside the race button: what a drawing's numbers are, or what a race would show. */
export function captionText(view: OriginView, running: RaceInView | undefined, waits: boolean): string {
  const { race } = view;
  if (waits) return getMessage('popupRaceWaits');
  if (running) return running.cancelling ? getMessage('popupCancelling') : liveFinish(running.live).caption;
  const unmeasured = unmeasuredText(view);
  if (race === null) return unmeasured || getMessage('popupNotRacedYet');
  if (race.trials.length === 0) return getMessage('popupNotRaced');
  const { caption } = photoFinish(race);
  return unmeasured === '' ? caption : `${unmeasured} (${caption})`;
}

/** Why an origin's last race produced no result; undefined: it produced one, or another one is running. */
function failureOf(view: OriginView, { running, failures }: RaceBoard): RaceFailure | undefined {
  if (running.has(view.origin)) return undefined;
  const message = view.race === null ? null : raceErrorText(view.race);
  return failures.get(view.origin) ?? (message === null ? undefined : { message, byOptions: false });
}

/**
 * Writes why there was no race, with a button to the options if they forbid it; returns whether there is anything to
 * show.
 */
export function writeFailure(
  words: HTMLElement,
  options: HTMLElement,
  view: OriginView,
  board: RaceBoard,
): boolean {
  const failure = failureOf(view, board);
  options.hidden = failure?.byOptions !== true;
  if (failure !== undefined) setText(words, capitalSentence(failure.message));
  return failure !== undefined;
}

function writeCaption(page: PageView, view: OriginView, board: RaceBoard): void {
  const caption = byId('finish-caption');
  const forecast = forecastText(view);
  const words = captionText(view, board.running.get(view.origin), board.waiting.has(view.origin));
  const key = `${page.state}|${words}|${forecast.result}|${forecast.title}`;
  if (caption.dataset['key'] === key) return;
  caption.dataset['key'] = key;
  const sign = [verdictSign(forecast.result, ''), make('strong', '', forecast.text)];
  const scoring =
    forecast.result === 'none'
      ? [getMessage('popupNoForecast')]
      : [`${getMessage('popupForecast')} `, ...sign];
  const scored = make('span', `forecast ${forecast.result}`, ...scoring);
  scored.title = forecast.title;
  caption.replaceChildren(...(page.state === 'failed' ? [words] : [`${words} · `, scored]));
}

const SIGNS = { right: 'popupRight', wrong: 'popupWrong', open: 'popupOpen' } as const;

/** Tick, cross or ring, from the style sheet; the meaning and the forecast protocol are for screen readers. */
export function verdictSign(result: 'right' | 'wrong' | 'open' | 'none', protocol: string): HTMLElement {
  if (result === 'none') return make('span', `sign ${result}`, protocol);
  const foretold = make('span', 'foretold', protocol);
  return make('span', `sign ${result}`, make('span', 'unseen', `${getMessage(SIGNS[result])} `, foretold));
}

/** The section below the summary; hidden if there is no origin to race. */
export function renderFinish(page: PageView, board: RaceBoard): void {
  const view = page.origins.find((o) => o.origin === page.origin);
  const section = byId('finish');
  section.hidden = view === undefined;
  if (view === undefined) return;
  const running = board.running.get(view.origin);
  section.classList.toggle('racing', raceState(board, view.origin) === 'racing');
  section.classList.toggle('asking', !page.complete && view.race === null);
  const live = board.waiting.has(view.origin) ? undefined : running;
  setSvg(byId('finish-drawing'), drawing(view.race, live, 'finish-svg', widthOf()));
  byId('finish-failure').hidden = !writeFailure(byId('finish-words'), byId('finish-options'), view, board);
  const first = page.state === 'failed' ? 'popupRaceHost' : 'popupRaceNow';
  raceButton(byId<HTMLButtonElement>('race'), view.race !== null, running !== undefined, page.helper, first);
  writeCaption(page, view, board);
}

// A running race, drawn like its eventual result: progress events folded into two lanes.

interface LiveAttempt {
  readonly trial: number;
  readonly establishedMs: number | null;
  readonly firstByteMs: number | null;
  readonly ended: 'failed' | 'cancelled' | null;
}

export interface LiveRace {
  readonly trial: number;
  readonly trials: number;
  readonly attempts: Readonly<Record<TransportName, readonly LiveAttempt[]>>;
}

export const NO_PROGRESS: LiveRace = { trial: 0, trials: 0, attempts: { h3: [], h2: [] } };

function advanced(attempt: LiveAttempt, progress: Progress): LiveAttempt {
  switch (progress.event) {
    case 'established':
      return { ...attempt, establishedMs: attempt.establishedMs ?? progress.atMs };
    case 'first-byte':
      return { ...attempt, firstByteMs: attempt.firstByteMs ?? progress.atMs };
    case 'failed':
    case 'cancelled':
      return { ...attempt, ended: progress.event };
    case 'started':
    case 'adopted':
      return attempt;
  }
}

/** Folds in one more event; several addresses of one transport in one trial count as one attempt. */
export function progressed(live: LiveRace, progress: Progress): LiveRace {
  const { contender: transport, trial } = progress;
  const before = live.attempts[transport];
  const found = before.find((a) => a.trial === trial);
  const fresh = { trial, establishedMs: null, firstByteMs: null, ended: null };
  const after = advanced(found ?? fresh, progress);
  const attempts = found ? before.map((a) => (a === found ? after : a)) : [...before, after];
  return {
    trial: Math.max(live.trial, trial),
    trials: progress.trials,
    attempts: { ...live.attempts, [transport]: attempts },
  };
}

function liveLane(transport: TransportName, attempts: readonly LiveAttempt[]): Lane {
  if (attempts.length === 0) return absentLane(transport);
  const done = attempts.flatMap((a) => a.establishedMs ?? []);
  const first = attempts.flatMap((a) => a.firstByteMs ?? []);
  const ended = attempts.at(-1)?.ended ?? null;
  return {
    ...absentLane(transport),
    state: done.length > 0 ? 'established' : (ended ?? 'running'),
    establishedMs: median(done),
    firstByteMs: median(first),
    trialsMs: done,
    established: done.length,
    tried: attempts.length,
  };
}

/**
 * The lanes so far: medians of the trials already done, never a margin. A comparison has two trials per pair, and as
 * many pairs as it needs.
 */
export function liveFinish(live: LiveRace): PhotoFinish {
  const pair = { pair: Math.ceil(live.trial / 2), pairs: live.trials / 2 };
  const caption = live.trials === 0 ? getMessage('popupRacing') : getMessage('popupRacingPair', pair);
  const lanes = [liveLane('h3', live.attempts.h3), liveLane('h2', live.attempts.h2)] as const;
  return finishOf('compare', lanes, null, caption);
}
