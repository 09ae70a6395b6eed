// Races in the HTML report: each as a photo finish beside its numbers, and what all comparisons gained, pair by pair.

import { axisTicks, type Lane, laneWords, photoFinish } from '../drawing/photo-finish.ts';
import { photoFinishSvg } from '../drawing/photo-finish-svg.ts';
import { escapeMarkup as esc, formatMs } from '../language/markup.ts';
import { say, sayNumber } from '../language/words.ts';
import type { OriginRace } from '../race/outcome.ts';
import { pairGains } from '../race/race-pairs.ts';
import { median } from '../race/statistics.ts';
import { gainCellWords } from '../verdict/gain.ts';
import { PROTOCOL_NAMES } from '../web/protocol.ts';
import type { Report } from './report.ts';
import { type Compared, newestComparison } from './report-compare.ts';
import { hostMarkup, instant } from './report-page.ts';
import { type NetworkNames, networkWords } from './report-words.ts';

const DRAWING_PX = 560;
const COMPARISONS_DRAWN = 40;
/** An axis shows pairs that lie so many times as far from the median as half of them do. */
const NOT_FAR = 5;

function laneRow(lane: Lane): string {
  const ms = (value: number | null) => `<td class="n">${value === null ? '–' : formatMs(value)}</td>`;
  const trials = lane.trialsMs.map((ms) => formatMs(ms)).join(', ') || '–';
  const outcome = lane.state === 'established' ? say('reportEstablishedState') : laneWords(lane);
  const finished = say('countOf', { part: lane.established, whole: lane.tried });
  return `<tr><th scope="row">${PROTOCOL_NAMES[lane.protocol]}</th><td>${esc(outcome)}</td>${ms(lane.state === 'absent' ? null : lane.startMs)}${ms(lane.transportMs)}<td class="n">${lane.establishedMs === null ? '–' : laneWords(lane)}</td>${ms(lane.firstByteMs)}<td class="n">${finished}</td><td class="trials">${trials}</td></tr>`;
}

const LANE_COLUMNS = [
  ['reportProtocol', ''],
  ['reportOutcome', ''],
  ['reportStarted', ' class="n"'],
  ['reportTransport', ' class="n"'],
  ['reportEstablished', ' class="n"'],
  ['reportFirstByte', ' class="n"'],
  ['reportFinished', ' class="n"'],
  ['reportTrials', ''],
] as const;

/** One race; `id` must be unique on the page. */
export function raceFigure(race: OriginRace, id: string, names: NetworkNames): string {
  const head = say('reportRaceHead', {
    at: instant(race.atMs),
    network: esc(networkWords(race.network, names)),
    mode: race.mode,
  });
  const message = race.error ? esc(race.error.message) : '';
  if (race.trials.length === 0)
    return `<figure><figcaption>${head}</figcaption><p>${say('reportNotRaced', { message: message || say('reportNoTrial') })}</p></figure>`;
  const finish = photoFinish(race);
  const result =
    finish.result === null ? esc(finish.caption) : `${esc(finish.title)}, ${esc(finish.caption)}`;
  const ended = message ? `<br>${say('reportEndedEarly', { message })}` : '';
  const heads = LANE_COLUMNS.map(([key, n]) => `<th scope="col"${n}>${say(key)}</th>`).join('');
  return `<figure>${photoFinishSvg(finish, id, DRAWING_PX)}<figcaption>${finish.result?.winner === null ? result : `<b>${result}</b>`}<br>${head}${ended}</figcaption><div class="scroll"><table class="small"><thead><tr>${heads}</tr></thead><tbody>${finish.lanes.map(laneRow).join('')}</tbody></table></div></figure>`;
}

/** A comparison with what each of its pairs gained, and the difference of its medians. */
interface Drawn extends Compared {
  readonly gains: readonly number[];
  readonly medianMs: number;
}

interface Axis {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Those of a comparison's pairs that its median says enough about to be on the axis. */
function nearMedian(gains: readonly number[]): number[] {
  const middle = median(gains) ?? 0;
  const half = median(gains.map((ms) => Math.abs(ms - middle))) ?? 0;
  return gains.filter((ms) => Math.abs(ms - middle) <= NOT_FAR * half);
}

/** The axis always holds 0, for a gain is nothing without where it begins, and all medians. */
function axisOf(drawn: readonly Drawn[]): Axis {
  const shown = drawn.flatMap(({ gains, medianMs }) => [medianMs, ...nearMedian(gains)]);
  const [fromMs, toMs] = [Math.min(0, ...shown), Math.max(0, ...shown)];
  return toMs > fromMs ? { fromMs, toMs } : { fromMs: -1, toMs: 1 };
}

/** A place on the axis in percent, with some room at both ends; what lies beyond stands at its end. */
function placeOn({ fromMs, toMs }: Axis, ms: number): string {
  const share = (Math.min(toMs, Math.max(fromMs, ms)) - fromMs) / (toMs - fromMs);
  return `${Math.round((4 + 92 * share) * 100) / 100}%`;
}

function axisSvg(axis: Axis): string {
  const ticks = [
    ...axisTicks(Math.max(-axis.fromMs, axis.toMs))
      .slice(1)
      .map((ms) => -ms)
      .toReversed(),
    ...axisTicks(Math.max(-axis.fromMs, axis.toMs)),
  ].filter((ms) => ms >= axis.fromMs && ms <= axis.toMs);
  const drawn = ticks.map((ms) => {
    const x = placeOn(axis, ms);
    return `<line class="tick" x1="${x}" x2="${x}" y1="16" y2="22"/><text class="tick-label" x="${x}" y="12">${sayNumber(ms)}</text>`;
  });
  return `<svg class="strip" role="img" width="100%" height="22"><title>${say('reportGainAxis')}</title>${drawn.join('')}</svg>`;
}

function stripSvg({ gains, medianMs, comparison }: Drawn, axis: Axis): string {
  const dot = comparison.quicker === null ? 'unclear' : medianMs >= 0 ? 'gains' : 'loses';
  const strokes = gains.map((ms) => {
    const x = placeOn(axis, ms);
    return `<line class="pair" x1="${x}" x2="${x}" y1="5" y2="19"/>`;
  });
  const [zero, flag] = [placeOn(axis, 0), placeOn(axis, medianMs)];
  const title = esc(say('reportGainPairs', { times: gains.map((ms) => formatMs(ms)).join(', ') }));
  return `<svg class="strip" role="img" width="100%" height="24"><title>${title}</title><line class="zero-line" x1="${zero}" x2="${zero}" y1="0" y2="24"/>${strokes.join('')}<circle class="flag ${dot}" cx="${flag}" cy="12" r="4.5"/></svg>`;
}

/** The newest comparison of each origin on each network, newest first. */
function comparisons(report: Report): Compared[] {
  const newest = new Map<string, Compared>();
  for (const { origins } of report.sites)
    for (const origin of origins) {
      const compared = newestComparison(origin);
      if (compared !== undefined) newest.set(`${compared.race.origin} ${compared.race.network}`, compared);
    }
  return [...newest.values()].toSorted((a, b) => b.race.atMs - a.race.atMs);
}

/** What HTTP/3 gained in every comparison, pair by pair on one axis; empty when there is none. */
export function gainsSection(report: Report): string {
  const all = comparisons(report);
  if (all.length === 0) return '';
  const drawn = all.slice(0, COMPARISONS_DRAWN).map(({ race, comparison }): Drawn => {
    const medianMs = comparison.h2Ms - comparison.h3Ms;
    return { race, comparison, medianMs, gains: pairGains(race.trials) };
  });
  const axis = axisOf(drawn);
  const beyond = drawn.flatMap(({ gains }) => gains).filter((ms) => ms > axis.toMs || ms < axis.fromMs);
  const rows = drawn.map((each) => {
    const { race, comparison, gains } = each;
    const words = esc(gainCellWords(comparison));
    return `<tr><th scope="row">${hostMarkup(race.origin)}</th><td>${esc(networkWords(race.network, report.networkNames))}</td><td class="plot">${stripSvg(each, axis)}</td><td class="n">${comparison.quicker === null ? words : `<b>${words}</b>`}</td><td class="n">${sayNumber(gains.length)}</td></tr>`;
  });
  const notes = [
    ...(beyond.length > 0 ? [say('reportGainsBeyond', { count: beyond.length })] : []),
    ...(all.length > drawn.length ? [say('reportGainsMore', { count: all.length - drawn.length })] : []),
  ];
  const note = notes.length === 0 ? '' : `<p class="what">${notes.join(' ')}</p>`;
  return `<section aria-labelledby="gains"><h2 id="gains">${say('reportGains')}</h2><p class="what">${say('reportGainsWhat')}</p><div class="scroll"><table class="gains"><thead><tr><th scope="col">${say('reportOrigin')}</th><th scope="col">${say('reportNetwork')}</th><th scope="col" class="plot">${axisSvg(axis)}</th><th scope="col" class="n">${say('reportMedianGain')}</th><th scope="col" class="n">${say('reportPairs')}</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>${note}</section>`;
}
