// The gain of HTTP/3 at an origin, in words: both times, and their difference if there is a clear one, or else its
// range. No figure is finer than the measurements support.

import { getMessage } from '../language/catalog.ts';
import { formatMsTo, shownMs, shownStepMs, steppedMs } from '../language/markup.ts';
import { type Message, message, textOf } from '../language/message.ts';
import {
  areTooFewPairs,
  leastDifferenceMs,
  MIN_DIFFERENCE_MS,
  MIN_DIFFERENCE_SHARE,
  type PairedComparison,
  roundedMs,
} from '../race/statistics.ts';
import { type KnownProtocol, PROTOCOL_NAMES } from '../web/protocol.ts';

/** The part of a comparison that is displayed. */
export type Gain = Pick<PairedComparison, 'pairs' | 'h3Ms' | 'h2Ms' | 'quicker' | 'lowMs' | 'highMs'> & {
  /** The protocol of the other side of the pairs, if that was not HTTP/2. */
  readonly old?: KnownProtocol;
};

const oldName = ({ old = 'h2' }: Gain): string => PROTOCOL_NAMES[old];

/** Times are stored in whole microseconds. */
const FINEST_MS = 0.001;

/** HTTP/2 established minus HTTP/3 established, in milliseconds, whether clear or not. */
export function differenceMsOf({ h3Ms, h2Ms }: Pick<Gain, 'h3Ms' | 'h2Ms'>): number {
  return roundedMs(h2Ms - h3Ms);
}

/** The same, if it is a gain or a loss; null: no clear difference. */
export function gainMsOf(gain: Gain): number | null {
  return gain.quicker === null ? null : differenceMsOf(gain);
}

/** The place value of a number's first significant figure; 0 for 0. */
function firstPlace(value: number): number {
  return 10 ** Math.floor(Math.log10(Math.abs(value)));
}

/**
 * The place value, in milliseconds, of the last figure worth showing of both times and of their difference: one finer
 * than the range's first, and never so coarse that a time or a clear difference has none left.
 */
export function gainStepMs(gain: Gain): number {
  const { h3Ms, h2Ms, lowMs, highMs } = gain;
  const shown = [Math.min(h3Ms, h2Ms), gainMsOf(gain) ?? Number.POSITIVE_INFINITY].map(firstPlace);
  return Math.max(
    FINEST_MS,
    shownStepMs(h3Ms),
    shownStepMs(h2Ms),
    Math.min(firstPlace(highMs - lowMs) / 10, ...shown),
  );
}

/**
 * The clear difference as displayed, in milliseconds, whichever is faster: it matches the subtraction of the displayed
 * times.
 */
function shownDifferenceMs({ h3Ms, h2Ms }: Gain, stepMs: number): number {
  return Math.abs(Math.round(h2Ms / stepMs) - Math.round(h3Ms / stepMs)) * stepMs;
}

/** The gain of HTTP/3 as displayed, in milliseconds, so that an order by it is the order that is seen; 0: none is clear. */
export function shownGainMs(gain: Gain): number {
  if (gain.quicker === null) return 0;
  const differenceMs = shownDifferenceMs(gain, gainStepMs(gain));
  return gain.quicker === 'h3' ? differenceMs : -differenceMs;
}

/** The clear difference in words. Null: there is none. */
export function differenceText(gain: Gain): string | null {
  if (gain.quicker === null) return null;
  const stepMs = gainStepMs(gain);
  return formatMsTo(shownDifferenceMs(gain, stepMs), stepMs);
}

/** Two figures of the larger end, and no finer ones of the other: a range is not known more precisely. */
function rangeStepMs(largerMs: number): number {
  return largerMs === 0 ? 1 : Math.max(FINEST_MS, firstPlace(largerMs) / 10);
}

function sidesMessage(gain: Gain): Message {
  const { lowMs, highMs } = gain;
  const old = oldName(gain);
  const [low, high] = [roundedMs(Math.abs(lowMs)), roundedMs(Math.abs(highMs))];
  const stepMs = rangeStepMs(Math.max(low, high));
  if (lowMs < 0 && highMs > 0) return message('gainRange', { old, h2Ms: low, h3Ms: high, stepMs });
  const protocol = lowMs < 0 ? old : PROTOCOL_NAMES.h3;
  const [nearMs, farMs] = lowMs < 0 ? [high, low] : [low, high];
  return Math.round(nearMs / stepMs) === Math.round(farMs / stepMs)
    ? message('gainRangeOne', { protocol, timeMs: farMs, stepMs })
    : message('gainRangeSide', { protocol, nearMs, farMs, stepMs });
}

function isOneSided({ lowMs, highMs }: Gain): boolean {
  return lowMs > 0 || highMs < 0;
}

/**
 * Whether only the number of pairs keeps a side from being named: all agree, because of so few the range is that of all,
 * and the difference is large enough to matter.
 */
function lacksPairs(gain: Gain): boolean {
  const { h3Ms, h2Ms, pairs, quicker } = gain;
  const matters = Math.abs(h2Ms - h3Ms) >= leastDifferenceMs(h3Ms, h2Ms);
  return quicker === null && matters && isOneSided(gain) && areTooFewPairs(pairs);
}

/** The range, and if it is on one side of 0, what keeps that side from being named. */
function rangeMessage(gain: Gain): Message {
  const { h3Ms, h2Ms, pairs } = gain;
  const range = sidesMessage(gain);
  if (lacksPairs(gain)) return message('gainRangeAll', { range, pairs });
  const leastMs = leastDifferenceMs(h3Ms, h2Ms);
  if (!isOneSided(gain) || Math.abs(h2Ms - h3Ms) >= leastMs) return range;
  const least =
    leastMs > MIN_DIFFERENCE_MS
      ? message('percent', { value: 100 * MIN_DIFFERENCE_SHARE })
      : message('milliseconds', { value: MIN_DIFFERENCE_MS });
  return message('gainRangeClose', { range, least });
}

/** An undecided result in a few words. */
function undecidedText(gain: Gain): string {
  return getMessage(lacksPairs(gain) ? 'finishTooFewShort' : 'finishUnclearShort');
}

/** An undecided result with its range, not yet a sentence: "No clear difference: from HTTP/2 1.2 ms faster to …". */
export function unclearText(gain: Gain): string {
  return getMessage(lacksPairs(gain) ? 'finishTooFewToTell' : 'finishUnclear', { range: rangeText(gain) });
}

/** The range of the difference, pair by pair: "from HTTP/2 1.2 ms faster to HTTP/3 3.4 ms faster". */
export function rangeText(gain: Gain): string {
  return textOf(rangeMessage(gain));
}

/** Both times and their difference as a sentence; `differenceMs`, if there is a clear one, is the part to emphasise. */
export function gainMessage(gain: Gain): Message {
  const stepMs = gainStepMs(gain);
  const times = { old: oldName(gain), h3Ms: gain.h3Ms, h2Ms: gain.h2Ms, stepMs };
  if (gain.quicker === null) {
    const key = lacksPairs(gain) ? 'verdictTooFewPairs' : 'verdictUnclear';
    return message(key, { ...times, pairs: gain.pairs, range: rangeMessage(gain) });
  }
  const differenceMs = roundedMs(shownDifferenceMs(gain, stepMs));
  return message(gain.quicker === 'h3' ? 'verdictSaves' : 'verdictLoses', { ...times, differenceMs });
}

/** The comparison's result for HTTP/3 in a few words: "12 ms faster", or that no difference is clear. */
export function resultText(gain: Gain): string {
  const difference = differenceText(gain);
  return difference === null
    ? undecidedText(gain)
    : getMessage(gain.quicker === 'h3' ? 'gainFaster' : 'gainSlower', { difference });
}

/** The content of a table cell: both times if they clearly differ, and the older protocol if it was not HTTP/2. */
export function gainCellText(gain: Gain): string {
  const result = gain.quicker === null ? undecidedText(gain) : timesText(gain);
  return gain.old === undefined ? result : getMessage('gainCellOlder', { result, old: oldName(gain) });
}

/** The time to connect with HTTP/2, then with HTTP/3: "5.0 → 2.4 ms". */
export function timesText(gain: Gain): string {
  const { h3Ms, h2Ms } = gain;
  const stepMs = gainStepMs(gain);
  const h3 = formatMsTo(h3Ms, stepMs);
  // The unit is written once if both times have the same one.
  const h2 =
    Math.max(shownMs(h2Ms), shownMs(h3Ms)) < 1000 ? steppedMs(h2Ms, stepMs) : formatMsTo(h2Ms, stepMs);
  return getMessage('gainTimes', { h2, h3 });
}
