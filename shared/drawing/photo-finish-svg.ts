// The photo finish as SVG text: no script, no style sheet, no event handler; colours are custom properties with the
// light theme as fallback, so that the same string follows a page's theme and also works alone.

import { formatNumber, getMessage } from '../language/catalog.ts';
import { formatMs } from '../language/markup.ts';
import { MARK_LABELS, markOf } from '../web/protocol.ts';
import { beyondText, type Lane, laneText, type PhotoFinish } from './photo-finish.ts';
import {
  drawing,
  element,
  FONT_PX,
  halo,
  INK,
  LINE,
  line,
  MUTED,
  markPaint,
  ON_MARK,
  px,
  text,
  tip,
  WASH,
} from './svg.ts';

/** The drawing's layout, in pixels. */
const LABEL_WIDTH = 32;
const RIGHT_ROOM = 64;
const BAR_HEIGHT = 20;
const BAR_TOPS = [16, 68] as const;
const GAIN_Y = 53;
const STROKES_HEIGHT = 5;
const AXIS_Y = 100;
const HEIGHT = 118;
/** Where the axis' grid lines are drawn: not across the lanes, where they would strike through the text. */
const GRID = [
  [6, BAR_TOPS[0] - 2],
  [BAR_TOPS[0] + BAR_HEIGHT + 2, BAR_TOPS[1] - 2],
  [BAR_TOPS[1] + BAR_HEIGHT + 2, AXIS_Y],
] as const;
/** Average advance of a character in the fonts to be expected, as a fraction of the font size. */
const ADVANCE = 0.62;

/** How the end of a lane is marked: if nothing was decided, there is no flag and nothing bold. */
type Flag = 'filled' | 'open' | 'none';

interface Frame {
  readonly width: number;
  readonly maxMs: number;
  readonly x: (ms: number) => number;
}

function textWidth(text: string, bold = false): number {
  return text.length * FONT_PX * (bold ? ADVANCE * 1.1 : ADVANCE);
}

function segment(x1: number, x2: number, y: number, paint: string, opacity: string, words: string): string {
  const size = { width: Math.max(1, x2 - x1), height: BAR_HEIGHT, rx: 2.5 };
  return element('rect', { x: x1, y, ...size, fill: paint, 'fill-opacity': opacity }, tip(words));
}

function inside(x1: number, x2: number, y: number, label: string, fill: string): string {
  if (x2 - x1 < textWidth(label) + 8) return '';
  return text((x1 + x2) / 2, y + 14, label, { fill, 'text-anchor': 'middle', 'pointer-events': 'none' });
}

function flag(x: number, y: number, paint: string, filled: boolean): string {
  const top = y - 9;
  const pole = line(`M${px(x)} ${y + BAR_HEIGHT + 2}V${top}`, paint, 1.5);
  const pennant = { fill: filled ? paint : 'none', 'stroke-linejoin': 'round' };
  return pole + line(`M${px(x)} ${top}l9 3.75l-9 3.75z`, paint, 1.5, pennant);
}

function establishedLane(lane: Lane, y: number, frame: Frame, flagged: Flag): string {
  const paint = markPaint(markOf(lane.protocol));
  const start = frame.x(lane.startMs);
  const done = frame.x(lane.establishedMs ?? 0);
  const first = lane.firstByteMs === null ? done : frame.x(lane.firstByteMs);
  const time = formatMs(lane.establishedMs ?? 0);
  const parts: string[] = [];
  if (first > done) {
    const words = getMessage('finishFirstByteAfter', { time: formatMs(lane.firstByteMs ?? 0) });
    parts.push(
      segment(done, first, y, paint, '0.18', words),
      element('circle', { cx: first, cy: y + BAR_HEIGHT / 2, r: 2.5, fill: paint }),
    );
  }
  if (lane.transport === 'h2' && lane.transportMs !== null) {
    const tcp = frame.x(lane.transportMs);
    const tcpText = getMessage('finishTcp', { time: formatMs(lane.transportMs) });
    parts.push(
      segment(start, tcp - 0.75, y, paint, '0.42', tcpText),
      segment(tcp + 0.75, done, y, paint, '1', getMessage('finishTls', { time })),
      inside(start, tcp, y, 'TCP', INK),
      inside(tcp, done, y, 'TLS', ON_MARK),
    );
  } else {
    const name = lane.transport === 'h3' ? 'QUIC' : 'TCP + TLS';
    const words = getMessage('finishHandshake', { name, time });
    parts.push(segment(start, done, y, paint, '1', words), inside(start, done, y, name, ON_MARK));
  }
  if (flagged !== 'none') parts.push(flag(done, y, paint, flagged === 'filled'));
  const value = laneText(lane);
  const bold = flagged !== 'none';
  const room = textWidth(value, bold) + 12;
  const labelX = first - done > room ? done + 6 : first + 7;
  parts.push(text(labelX, y + 14, value, { fill: INK, 'font-weight': bold ? 600 : null }));
  const firstByte = getMessage('finishFirstByte');
  if (first - done > room + textWidth(firstByte) + 12)
    parts.push(text(first - 8, y + 14, firstByte, { 'text-anchor': 'end' }));
  return parts.join('');
}

/** A torn edge: the lane was stopped and did not finish. */
function tornLane(lane: Lane, y: number, frame: Frame): string {
  const paint = markPaint(markOf(lane.protocol));
  const start = frame.x(lane.startMs);
  const cut = Math.max(frame.x(lane.cutMs ?? lane.startMs), start + 6);
  const teeth = [0, 1, 2, 3, 4].map((i) => `L${px(cut - (i % 2 === 0 ? 0 : 4))} ${y + (i * BAR_HEIGHT) / 4}`);
  const shape = `M${px(start)} ${y}${teeth.join('')}L${px(start)} ${y + BAR_HEIGHT}z`;
  const words = getMessage(lane.state === 'running' ? 'finishRacing' : 'finishCancelledHere');
  const area = element('path', { d: shape, fill: paint, 'fill-opacity': '.42' }, tip(words));
  return area + text(cut + 6, y + 14, laneText(lane));
}

function failedLane(lane: Lane, y: number, frame: Frame): string {
  const paint = markPaint(markOf(lane.protocol));
  const start = frame.x(lane.startMs);
  const end = lane.cutMs === null ? start : frame.x(lane.cutMs);
  const middle = y + BAR_HEIGHT / 2;
  const bar = end > start ? segment(start, end, y, paint, '0.42', getMessage('finishAnsweredFailed')) : '';
  const cross = end + 9;
  const sign = line(`M${px(cross - 4)} ${middle - 4}l8 8m0-8l-8 8`, INK, 2, { 'stroke-linecap': 'round' });
  return bar + sign + text(cross + 10, y + 14, laneText(lane), { fill: INK });
}

function laneBody(lane: Lane, y: number, frame: Frame, flagged: Flag): string {
  if (lane.state === 'established') return establishedLane(lane, y, frame, flagged);
  if (lane.state === 'failed') return failedLane(lane, y, frame);
  if (lane.state === 'absent')
    return text(frame.x(0) + 6, y + 14, laneText(lane), { 'font-style': 'italic' });
  return tornLane(lane, y, frame);
}

/**
 * Marks where each trial was established, so that the median is never shown without its spread; those beyond the axis
 * are counted at its end.
 */
function strokes(lane: Lane, y: number, frame: Frame): string {
  if (lane.trialsMs.length < 2) return '';
  const top = y + BAR_HEIGHT + 3;
  const path = lane.trialsMs
    .map((ms) => `M${px(frame.x(Math.min(ms, frame.maxMs)))} ${top}v${STROKES_HEIGHT}`)
    .join('');
  const words = getMessage('finishTrials', { times: lane.trialsMs.map((ms) => formatMs(ms)).join(', ') });
  const stroke = { stroke: markPaint(markOf(lane.protocol)), 'stroke-opacity': '.6', 'stroke-width': '1.25' };
  return beyondSvg(lane, top, frame) + element('path', { d: path, ...stroke, fill: 'none' }, tip(words));
}

/** Shows at the end of the axis how many trials are beyond it. */
function beyondSvg(lane: Lane, top: number, frame: Frame): string {
  const { few, times } = beyondText(lane, frame.maxMs);
  if (few === '') return '';
  const [x, middle] = [frame.x(frame.maxMs), top + STROKES_HEIGHT / 2];
  const arrow = element('path', { d: `M${px(x + 3)} ${middle - 3}l4 3l-4 3z`, fill: MUTED });
  return element('g', {}, tip(times), arrow, text(x + 10, middle + 4, few));
}

/** The wait from the start of the race to the start of a lane that began later. */
function waitSvg(lane: Lane, y: number, frame: Frame): string {
  if (lane.startMs <= 0 || lane.state === 'absent') return '';
  const d = `M${px(frame.x(0))} ${y + BAR_HEIGHT / 2}H${px(frame.x(lane.startMs))}`;
  const stroke = { stroke: MUTED, 'stroke-width': 1.5, 'stroke-dasharray': '1.5 2.5' };
  const words = getMessage('finishStarted', { time: formatMs(lane.startMs) });
  return element('path', { d, fill: 'none', ...stroke }, tip(words));
}

function laneSvg(lane: Lane, y: number, frame: Frame, flagged: Flag): string {
  const mark = markOf(lane.protocol);
  const label = text(0, y + 14, MARK_LABELS[mark], { fill: markPaint(mark), 'font-weight': 700 });
  const body = laneBody(lane, y, frame, flagged);
  return element('g', {}, label, waitSvg(lane, y, frame), strokes(lane, y, frame), body);
}

function axisSvg(finish: PhotoFinish, frame: Frame): string {
  const { ticksMs } = finish.axis;
  return ticksMs
    .map((ms, i) => {
      const x = frame.x(ms);
      const label = i === ticksMs.length - 1 ? getMessage('milliseconds', { value: ms }) : formatNumber(ms);
      const grid = line(GRID.map(([from, to]) => `M${px(x)} ${from}V${to}`).join(''), LINE, 1);
      return grid + text(x, AXIS_Y + 14, label, { 'text-anchor': 'middle' });
    })
    .join('');
}

/** The distance between the two flags, drawn between the lanes like a dimension line. */
function gainSvg(finish: PhotoFinish, frame: Frame): string {
  const label = finish.result?.gain ?? null;
  if (label === null) return '';
  const [a, b] = finish.lanes.map((lane) => frame.x(lane.establishedMs ?? 0)) as [number, number];
  const left = Math.min(a, b);
  const right = Math.max(a, b);
  const half = textWidth(label, true) / 2 + 4;
  const fits = right - left > 2 * half + 12;
  const ends = `M${px(left)} ${GAIN_Y - 4}v8M${px(right)} ${GAIN_Y - 4}v8`;
  const middle = (left + right) / 2;
  const measure = fits
    ? `M${px(left)} ${GAIN_Y}H${px(middle - half)}M${px(middle + half)} ${GAIN_Y}H${px(right)}`
    : `M${px(left)} ${GAIN_Y}H${px(right)}`;
  const beside = right + 6 + 2 * half <= frame.width;
  const place = fits
    ? { x: middle, anchor: 'middle' }
    : beside
      ? { x: right + 6, anchor: 'start' }
      : { x: left - 6, anchor: 'end' };
  const drop = `M${px(a)} ${BAR_TOPS[0] + BAR_HEIGHT + 2}V${GAIN_Y}`;
  const bold = { fill: INK, 'font-weight': 700, 'text-anchor': place.anchor, ...halo(WASH) };
  return element(
    'g',
    {},
    tip(finish.title),
    line(drop, MUTED, 1, { 'stroke-dasharray': '2 2' }),
    line(`${ends}${measure}`, INK, 1.25),
    text(place.x, GAIN_Y + 4, label, bold),
  );
}

function flagOf({ mode, result }: PhotoFinish, lane: Lane): Flag {
  if (mode !== 'compare') return lane.adopted ? 'filled' : 'open';
  if (result === null || result.winner === null) return 'none';
  return result.winner === lane.transport ? 'filled' : 'open';
}

/**
 * The drawing as one SVG element, `widthPx` wide. `id` must be unique on the page and is escaped like every other
 * string; title and description are for screen readers.
 */
export function photoFinishSvg(finish: PhotoFinish, id: string, widthPx: number): string {
  const right = widthPx - RIGHT_ROOM;
  const frame: Frame = {
    width: widthPx,
    maxMs: finish.axis.maxMs,
    x: (ms) => LABEL_WIDTH + ((right - LABEL_WIDTH) * ms) / finish.axis.maxMs,
  };
  const lanes = finish.lanes.map((lane, i) => {
    return laneSvg(lane, BAR_TOPS[i] ?? 0, frame, flagOf(finish, lane));
  });
  const { title, description } = finish;
  const named = { id, widthPx, heightPx: HEIGHT, title, description };
  return drawing('photo-finish', named, axisSvg(finish, frame), ...lanes, gainSvg(finish, frame));
}
