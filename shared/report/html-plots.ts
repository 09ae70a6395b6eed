// Plots of the HTML page as SVG without a view box: positions in percent, sizes in pixels, so that a bar is as wide as
// its column and its text is never stretched. Digits and textures convey what colours do.
import { axisTicks, element, tip } from '../drawing/svg.ts';
import { formatNumber, getMessage } from '../language/catalog.ts';
import { escapeMarkup, formatMs } from '../language/markup.ts';
import { MARK_LABELS, type Mark, protocolName } from '../web/protocol.ts';
import type { GainAxis, PageValue } from './document.ts';
import { type Counts, PROTOCOL_COLUMNS, totalOf } from './report.ts';

/** Minimum share of a bar that has room for its digit. */
const ROOM_FOR_FIGURE = 0.03;
/** The narrowest bar, in a window of 320 pixels, and what a text takes of it: a part of a number is a wrong number. */
const [NARROWEST_PX, MARGINS_PX, CHAR_PX] = [256, 12, 8];

function percent(share: number): string {
  return `${Math.round(share * 100_000) / 1000}%`;
}

function plot(name: string, height: number, title: string, ...content: readonly string[]): string {
  return element('svg', { class: name, role: 'img', width: '100%', height }, tip(title), ...content);
}

function across(name: string, from: string, to: string, y: number): string {
  return element('line', { class: name, x1: from, x2: to, y1: y, y2: y });
}

function upright(name: string, x: string, from: number, to: number): string {
  return element('line', { class: name, x1: x, x2: x, y1: from, y2: to });
}

function texture(mark: Mark, from: string, to: string): string {
  if (mark === 'h2') return across('hatch', from, to, 3.5) + across('hatch', from, to, 16.5);
  return mark === 'h1' ? across('stripes', from, to, 10) : '';
}

function label(mark: Mark, count: number, share: number): string {
  if (share < ROOM_FOR_FIGURE) return '';
  const figure = mark === 'unknown' ? '?' : mark.slice(1);
  const counted = `${MARK_LABELS[mark]} · ${formatNumber(count)}`;
  return share * NARROWEST_PX < MARGINS_PX + CHAR_PX * counted.length ? figure : counted;
}

/** All network answers by protocol; its accessible name contains the counts. */
export function protocolBar(counts: Counts): string {
  const parts = PROTOCOL_COLUMNS.filter(([, key]) => counts[key] > 0);
  const words = parts.map(([, key]) => `${protocolName(key)} ${formatNumber(counts[key])}`).join(', ');
  const total = totalOf(counts);
  let before = 0;
  const drawn = parts.map(([mark, key]) => {
    const share = counts[key] / total;
    const x = percent(before);
    before += share;
    const area = element('rect', { class: `part-${mark}`, x, width: percent(share), height: 20 });
    const text = escapeMarkup(label(mark, counts[key], share));
    const written = text && element('text', { class: `on-${mark}`, x, dx: 8, y: 14 }, text);
    return area + texture(mark, x, percent(before)) + written;
  });
  return plot('bar', 20, words || getMessage('reportNoRequests'), ...drawn);
}

/** A plain bar of a share between 0 and 1; decorative, beside its number. */
export function shareBar(share: number): string {
  const area = element('rect', { class: 'part-plain', width: percent(share), height: 12 });
  return element('svg', { class: 'bar', 'aria-hidden': 'true', width: '100%', height: 12 }, area);
}

/** A position on the axis in percent, with some margin at both ends; values beyond it are at its end. */
function placeOn({ fromMs, toMs }: GainAxis, ms: number): string {
  const share = (Math.min(toMs, Math.max(fromMs, ms)) - fromMs) / (toMs - fromMs);
  return `${Math.round((4 + 92 * share) * 100) / 100}%`;
}

/** The axis above the strips. */
export function gainAxis(axis: GainAxis): string {
  const ticks = axisTicks(Math.max(-axis.fromMs, axis.toMs));
  const shown = [...ticks.slice(1).map((ms) => -ms), ...ticks].filter(
    (ms) => ms >= axis.fromMs && ms <= axis.toMs,
  );
  const drawn = shown.map((ms, i) => {
    const x = placeOn(axis, ms);
    const label = i === shown.length - 1 ? getMessage('milliseconds', { value: ms }) : formatNumber(ms);
    const words = element('text', { class: 'tick-label', x, y: 12 }, escapeMarkup(label));
    return upright('tick', x, 16, 22) + words;
  });
  return plot('strip', 22, getMessage('reportGainAxis'), ...drawn);
}

/** The gain in each pair of a comparison, with a dot at the difference of the medians. */
export function gainStrip(strip: Extract<PageValue, { kind: 'gain-strip' }>): string {
  const { axis, gainsMs, medianMs, clear } = strip;
  const dot = !clear ? 'unclear' : medianMs >= 0 ? 'gains' : 'loses';
  const title = getMessage('reportGainPairs', { times: gainsMs.map((ms) => formatMs(ms)).join(', ') });
  return plot(
    'strip',
    24,
    title,
    upright('zero-line', placeOn(axis, 0), 0, 24),
    ...gainsMs.map((ms) => upright('pair', placeOn(axis, ms), 5, 19)),
    element('circle', { class: `flag ${dot}`, cx: placeOn(axis, medianMs), cy: 12, r: 4.5 }),
  );
}
