// Races in the HTML report: each as a photo finish beside its numbers, and what all comparisons gained, pair by pair.
import { escapeMarkup as esc, formatMs } from './markup.ts';
import type { OriginRace } from './outcome.ts';
import { axisTicks, type Lane, laneWords, photoFinish } from './photo-finish.ts';
import { photoFinishSvg } from './photo-finish-svg.ts';
import { PROTOCOL_NAMES } from './protocol.ts';
import type { Report } from './report.ts';
import { newestGain, pairGains } from './report-compare.ts';
import { hostMarkup, instant } from './report-page.ts';
import { type NetworkNames, networkWords } from './report-words.ts';
import { percentile } from './statistics.ts';
import { say, sayNumber } from './words.ts';

const DRAWING_PX = 560;
const COMPARISONS_DRAWN = 40;
/** An axis shows nearly all pairs; it goes further where the others are not far beyond. */
const NEARLY_ALL = 0.95;
const NOT_FAR = 2;

function laneRow(lane: Lane): string {
  const ms = (value: number | null) => `<td class="n">${value === null ? '–' : formatMs(value)}</td>`;
  const trials = lane.trialsMs.map(formatMs).join(', ') || '–';
  const outcome = lane.state === 'established' ? say('reportEstablishedState') : laneWords(lane);
  const finished = say('countOf', { part: lane.established, whole: lane.tried });
  return `<tr><th scope="row">${PROTOCOL_NAMES[lane.protocol]}</th><td>${esc(outcome)}</td>${ms(lane.state === 'absent' ? null : lane.startMs)}${ms(lane.transportMs)}${ms(lane.establishedMs)}${ms(lane.firstByteMs)}<td class="n">${finished}</td><td class="trials">${trials}</td></tr>`;
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
    finish.margin === null ? esc(finish.caption) : `${esc(finish.title)}, ${esc(finish.caption)}`;
  const ended = message ? `<br>${say('reportEndedEarly', { message })}` : '';
  const heads = LANE_COLUMNS.map(([key, n]) => `<th scope="col"${n}>${say(key)}</th>`).join('');
  return `<figure>${photoFinishSvg(finish, id, DRAWING_PX)}<figcaption><b>${result}</b><br>${head}${ended}</figcaption><div class="scroll"><table class="small"><thead><tr>${heads}</tr></thead><tbody>${finish.lanes.map(laneRow).join('')}</tbody></table></div></figure>`;
}

interface Axis {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Where the axis of these differences ends on one side of 0. */
function endOf(values: readonly number[]): number {
  if (values.length === 0) return 0;
  const sorted = values.toSorted((a, b) => a - b);
  return Math.min(percentile(sorted, 1), NOT_FAR * percentile(sorted, NEARLY_ALL));
}

/** The axis always holds 0, for a gain is nothing without where it begins. */
function axisOf(gains: readonly number[]): Axis {
  const toMs = endOf(gains.filter((ms) => ms > 0));
  const fromMs = 0 - endOf(gains.filter((ms) => ms < 0).map((ms) => -ms));
  return toMs - fromMs > 0 ? { fromMs, toMs } : { fromMs: -1, toMs: 1 };
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

function stripSvg(gains: readonly number[], medianMs: number, axis: Axis): string {
  const strokes = gains.map((ms) => {
    const x = placeOn(axis, ms);
    return `<line class="pair" x1="${x}" x2="${x}" y1="5" y2="19"/>`;
  });
  const [zero, flag] = [placeOn(axis, 0), placeOn(axis, medianMs)];
  const title = esc(say('reportGainPairs', { times: gains.map(formatMs).join(', ') }));
  return `<svg class="strip" role="img" width="100%" height="24"><title>${title}</title><line class="zero-line" x1="${zero}" x2="${zero}" y1="0" y2="24"/>${strokes.join('')}<circle class="flag ${medianMs >= 0 ? 'gains' : 'loses'}" cx="${flag}" cy="12" r="4.5"/></svg>`;
}

/** The newest comparison of each origin on each network, newest first. */
function comparisons(report: Report): OriginRace[] {
  const newest = new Map<string, OriginRace>();
  for (const { origins } of report.sites)
    for (const origin of origins) {
      const race = newestGain(origin);
      if (race !== undefined) newest.set(`${race.origin} ${race.network}`, race);
    }
  return [...newest.values()].toSorted((a, b) => b.atMs - a.atMs);
}

/** What HTTP/3 gained in every comparison, pair by pair on one axis; empty when there is none. */
export function gainsSection(report: Report): string {
  const all = comparisons(report);
  if (all.length === 0) return '';
  const drawn = all.slice(0, COMPARISONS_DRAWN).map((race) => ({ race, gains: pairGains(race) }));
  const axis = axisOf(drawn.flatMap(({ gains }) => gains));
  const beyond = drawn.flatMap(({ gains }) => gains).filter((ms) => ms > axis.toMs || ms < axis.fromMs);
  const rows = drawn.map(({ race, gains }) => {
    const gainMs = race.summary.gainMs ?? 0;
    return `<tr><th scope="row">${hostMarkup(race.origin)}</th><td>${esc(networkWords(race.network, report.networkNames))}</td><td class="plot">${stripSvg(gains, gainMs, axis)}</td><td class="n"><b>${formatMs(gainMs)}</b></td><td class="n">${sayNumber(gains.length)}</td></tr>`;
  });
  const notes = [
    ...(beyond.length > 0 ? [say('reportGainsBeyond', { count: beyond.length })] : []),
    ...(all.length > drawn.length ? [say('reportGainsMore', { count: all.length - drawn.length })] : []),
  ];
  const note = notes.length === 0 ? '' : `<p class="what">${notes.join(' ')}</p>`;
  return `<section aria-labelledby="gains"><h2 id="gains">${say('reportGains')}</h2><p class="what">${say('reportGainsWhat')}</p><div class="scroll"><table class="gains"><thead><tr><th scope="col">${say('reportOrigin')}</th><th scope="col">${say('reportNetwork')}</th><th scope="col" class="plot">${axisSvg(axis)}</th><th scope="col" class="n">${say('reportMedianGain')}</th><th scope="col" class="n">${say('reportPairs')}</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>${note}</section>`;
}
