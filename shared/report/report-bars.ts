// Bars of the HTML report as SVG without a view box: places in percent, sizes in pixels, so that a bar is as wide as
// its column and its text is never stretched. Figure and texture say what colour says.
import { MARK_LABELS, type Mark, markSvg } from '../drawing/marks.ts';
import { escapeMarkup as esc } from '../language/markup.ts';
import { say, sayNumber } from '../language/words.ts';
import { protocolName } from '../web/protocol.ts';
import type { ReportOrigin } from './report.ts';

export type Counts = ReportOrigin['protocols'];

/** The columns of every table of protocols and the order of every bar. */
export const PROTOCOL_COLUMNS: readonly (readonly [Mark, keyof Counts])[] = [
  ['h3', 'h3'],
  ['h2', 'h2'],
  ['h1', 'http/1.1'],
  ['unknown', 'unknown'],
];

const MARK_PX = 16;
/** Shares of a bar that have room for its figure, and for figure and count. */
const ROOM_FOR_FIGURE = 0.03;
const ROOM_FOR_COUNT = 0.16;

export function addProtocols(origins: readonly Pick<ReportOrigin, 'protocols'>[]): Counts {
  const sum = { h3: 0, h2: 0, 'http/1.1': 0, unknown: 0 };
  for (const { protocols } of origins) for (const [, key] of PROTOCOL_COLUMNS) sum[key] += protocols[key];
  return sum;
}

export function totalOf(counts: Counts): number {
  return PROTOCOL_COLUMNS.reduce((sum, [, key]) => sum + counts[key], 0);
}

function percent(share: number): string {
  return `${Math.round(share * 100_000) / 1000}%`;
}

function texture(mark: Mark, from: string, to: string): string {
  const line = (y: number) => `<line class="hatch" x1="${from}" x2="${to}" y1="${y}" y2="${y}"/>`;
  if (mark === 'h2') return line(3.5) + line(16.5);
  if (mark === 'h1') return `<line class="stripes" x1="${from}" x2="${to}" y1="10" y2="10"/>`;
  return '';
}

function label(mark: Mark, count: number, share: number): string {
  if (share < ROOM_FOR_FIGURE) return '';
  const figure = mark === 'unknown' ? '?' : mark.slice(1);
  return share < ROOM_FOR_COUNT ? figure : `${MARK_LABELS[mark]} · ${sayNumber(count)}`;
}

/** All network answers by protocol; its name is the counts in words. */
export function protocolBar(counts: Counts): string {
  const parts = PROTOCOL_COLUMNS.filter(([, key]) => counts[key] > 0);
  const words = parts.map(([, key]) => `${protocolName(key)} ${sayNumber(counts[key])}`).join(', ');
  const total = totalOf(counts);
  let before = 0;
  const drawn = parts.map(([mark, key]) => {
    const share = counts[key] / total;
    const from = percent(before);
    before += share;
    const text = label(mark, counts[key], share);
    const written = text === '' ? '' : `<text class="on-${mark}" x="${from}" dx="8" y="14">${text}</text>`;
    return `<rect class="part-${mark}" x="${from}" width="${percent(share)}" height="20"/>${texture(mark, from, percent(before))}${written}`;
  });
  return `<svg class="bar" role="img" width="100%" height="20"><title>${esc(words || say('reportNoRequests'))}</title>${drawn.join('')}</svg>`;
}

/** A plain bar of a share between 0 and 1; decoration beside its number. */
export function shareBar(share: number): string {
  return `<svg class="bar" aria-hidden="true" width="100%" height="12"><rect class="part-plain" width="${percent(share)}" height="12"/></svg>`;
}

export function protocolLegend(): string {
  const entries = PROTOCOL_COLUMNS.map(
    ([mark, key]) => `<span>${markSvg(mark, MARK_PX)} ${protocolName(key)}</span>`,
  );
  return `<p class="legend">${entries.join('')}</p>`;
}

/** The heads of the columns that `countCells` fills. */
export function countHeads(): string {
  return PROTOCOL_COLUMNS.map(
    ([mark, key]) => `<th scope="col" class="n">${markSvg(mark, 12)}&nbsp;${protocolName(key)}</th>`,
  ).join('');
}

export function countCells(counts: Counts): string {
  return PROTOCOL_COLUMNS.map(
    ([, key]) => `<td class="n${counts[key] === 0 ? ' zero' : ''}">${sayNumber(counts[key])}</td>`,
  ).join('');
}
