// The photo finish as data: two lanes on one time axis, derived from a race and drawn elsewhere (SVG, text). Flags may
// be compared only in a `compare` run: a race cancels its loser, so its loser has no finish and no gain.

import { catalogLanguage, getMessage, type SharedMessageKey } from '../language/catalog.ts';
import { formatMs, formatMsTo } from '../language/markup.ts';
import { isAllDisturbed, soundTrials, timedTrials } from '../race/conclusive.ts';
import type { Attempt, OriginRace, Trial } from '../race/outcome.ts';
import { comparisonOf, median, type RacedComparison, wholePairs } from '../race/statistics.ts';
import type { AttemptErrorCode, Mode, TransportName } from '../race/terms.ts';
import { attemptErrorText } from '../verdict/codes.ts';
import { differenceText, gainStepMs, unclearText } from '../verdict/gain.ts';
import { type KnownProtocol, PROTOCOL_NAMES } from '../web/protocol.ts';
import { axisTicks } from './svg.ts';

/** `running` occurs only during a race; `absent`: this transport was never started. */
export type LaneState = 'established' | 'running' | 'cancelled' | 'failed' | 'absent';

/** One transport; times are medians over its trials in milliseconds on the drawing's axis. */
export interface Lane {
  readonly transport: TransportName;
  /** The protocol finally used: TCP and TLS may yield HTTP/1.1. */
  readonly protocol: KnownProtocol;
  readonly state: LaneState;
  readonly startMs: number;
  readonly transportMs: number | null;
  readonly establishedMs: number | null;
  readonly firstByteMs: number | null;
  /** The place value of the last significant figure of `establishedMs`, if a comparison sets it; null: the default. */
  readonly stepMs: number | null;
  /** Where an unfinished lane stops; null if unknown or the lane is established. */
  readonly cutMs: number | null;
  /** When each single trial was established. */
  readonly trialsMs: readonly number[];
  readonly established: number;
  readonly tried: number;
  readonly error: AttemptErrorCode | null;
  /** Whether the race adopted this transport in most trials; always false in `compare`, where nothing is raced. */
  readonly adopted: boolean;
}

/** The result of a `compare` run, in words; only from enough pairs. */
export interface FinishResult {
  /** The transport that is clearly faster; null: no clear difference. */
  readonly winner: TransportName | null;
  /** By how much; null: no clear difference. */
  readonly gain: string | null;
  /** For example "HTTP/3 connects 60.5 ms faster". */
  readonly words: string;
}

export interface PhotoFinish {
  readonly mode: Mode;
  readonly lanes: readonly [Lane, Lane];
  /** Null during a race, for too few pairs, and in every mode but `compare`. */
  readonly result: FinishResult | null;
  /** Long enough for the medians: single trials may be beyond its end. */
  readonly axis: { readonly maxMs: number; readonly ticksMs: readonly number[] };
  /** What the numbers are, for example "median of 3 pairs". */
  readonly caption: string;
  /** The drawing in one sentence, and in full, for screen readers. */
  readonly title: string;
  readonly description: string;
}

/** The drawing of a finished race. A lane shows what happened in most of its trials. */
export function photoFinish(race: OriginRace): PhotoFinish {
  const comparison = comparisonOf(race);
  // Only whole pairs are compared, so they determine the lanes.
  const trials = comparison === null ? drawnTrials(race.trials) : wholePairs(race.trials).flat();
  const stepMs = comparison === null ? null : gainStepMs(comparison);
  const lane = (transport: TransportName) => ({ ...laneOf(trials, transport, race.mode), stepMs });
  const lanes = [lane('h3'), lane('h2')] as const;
  const result = comparison === null ? null : resultOf(comparison, lanes);
  return finishOf(race.mode, lanes, result, captionOf(race));
}

/** Combines lanes into a drawing; also used for lanes that are still moving. */
export function finishOf(
  mode: Mode,
  lanes: readonly [Lane, Lane],
  result: FinishResult | null,
  caption: string,
): PhotoFinish {
  const maxMs = axisEndMs(lanes);
  const beyond = lanes.flatMap((lane) => beyondText(lane, maxMs).times || []);
  return {
    mode,
    lanes,
    result,
    axis: { maxMs, ticksMs: axisTicks(maxMs) },
    caption,
    title:
      result?.words ?? lanes.map((lane) => `${PROTOCOL_NAMES[lane.protocol]} ${laneText(lane)}`).join(', '),
    description: [...lanes.map(laneSentence), ...[...beyond, caption].map(asSentence)].join(' '),
  };
}

/** The length of an axis without data. */
const EMPTY_AXIS_MS = 100;
/** The axis is at most this many times as long as the longest median, to show single trials that took longer. */
const NOT_FAR = 1.25;

function transportOf(protocol: KnownProtocol): TransportName {
  return protocol === 'h3' ? 'h3' : 'h2';
}

function present(values: readonly (number | null | undefined)[]): number[] {
  return values.filter((ms): ms is number => typeof ms === 'number');
}

function mostCommon<T>(values: readonly T[]): T | null {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}

interface Run {
  readonly attempt: Attempt;
  readonly trial: Trial;
}

function stateOf(attempt: Attempt): LaneState {
  if (attempt.establishedMs !== null) return 'established';
  return attempt.outcome === 'failed' ? 'failed' : 'cancelled';
}

/**
 * One transport's best attempt of a trial: of several addresses, the one that got furthest. A fresh attempt is drawn
 * from the start of the one that it joined: until then the transport was not waiting, but trying.
 */
function bestRun(trial: Trial, transport: TransportName): Run[] {
  const attempts = trial.attempts.filter((a) => transportOf(a.protocol) === transport);
  const first = attempts.toSorted(
    (a, b) => (a.establishedMs ?? Number.POSITIVE_INFINITY) - (b.establishedMs ?? Number.POSITIVE_INFINITY),
  )[0];
  if (first?.fresh !== true) return first ? [{ attempt: first, trial }] : [];
  const joined = attempts.find((a) => !a.fresh && a.address === first.address && a.port === first.port);
  return [{ attempt: { ...first, startedMs: joined?.startedMs ?? first.startedMs }, trial }];
}

/** A lane in which nothing has happened. */
export function absentLane(transport: TransportName): Lane {
  return {
    transport,
    protocol: transport,
    state: 'absent',
    startMs: 0,
    transportMs: null,
    establishedMs: null,
    firstByteMs: null,
    stepMs: null,
    cutMs: null,
    trialsMs: [],
    established: 0,
    tried: 0,
    error: null,
    adopted: false,
  };
}

function laneOf(trials: readonly Trial[], transport: TransportName, mode: Mode): Lane {
  const runs = trials.flatMap((trial) => bestRun(trial, transport));
  if (runs.length === 0) return absentLane(transport);
  // Draws what happened most often: a loser cancelled in 18 of 20 trials has no finish to show.
  const state = mostCommon(runs.map((r) => stateOf(r.attempt))) ?? 'absent';
  const drawn = runs.filter((r) => stateOf(r.attempt) === state).map((r) => r.attempt);
  const startMs = median(drawn.map((a) => a.startedMs)) ?? 0;
  const transportMs = median(present(drawn.map((a) => a.transportMs)));
  const finished = runs.filter((r) => r.attempt.establishedMs !== null).map((r) => r.attempt);
  // The loser is cancelled at the moment the winner is established.
  const cancelledMs = median(present(runs.map((r) => r.trial.establishedMs)));
  const cutMs = state === 'cancelled' ? Math.max(cancelledMs ?? 0, transportMs ?? 0, startMs) : transportMs;
  return {
    transport,
    protocol: mostCommon(drawn.map((a) => a.protocol)) ?? transport,
    state,
    startMs,
    transportMs,
    establishedMs: state === 'established' ? median(present(drawn.map((a) => a.establishedMs))) : null,
    firstByteMs: state === 'established' ? median(present(drawn.map((a) => a.firstByteMs))) : null,
    stepMs: null,
    cutMs: state === 'established' ? null : cutMs,
    trialsMs: present(finished.map((a) => a.establishedMs)),
    established: finished.length,
    tried: runs.length,
    error: mostCommon(drawn.flatMap((a) => (a.error ? [a.error.code] : []))),
    adopted:
      mode !== 'compare' && runs.filter((r) => r.attempt.outcome === 'adopted').length * 2 > runs.length,
  };
}

function establishedText({ establishedMs, stepMs }: Lane): string {
  return stepMs === null ? formatMs(establishedMs ?? 0) : formatMsTo(establishedMs ?? 0, stepMs);
}

/** The lane's outcome in a few words; for a finished one its time. */
export function laneText(lane: Lane): string {
  switch (lane.state) {
    case 'established':
      return establishedText(lane);
    case 'running':
      return getMessage('finishRacing');
    case 'cancelled':
      return getMessage('finishCancelled');
    case 'failed':
      return lane.error === null ? getMessage('finishFailed') : attemptErrorText(lane.error);
    case 'absent':
      return getMessage('finishAbsent');
  }
}

/** The columns of a table of a race's numbers. */
export const LANE_COLUMNS = [
  'reportProtocol',
  'reportOutcome',
  'reportStarted',
  'reportTransport',
  'reportEstablished',
  'reportFirstByte',
  'reportFinished',
  'reportTrials',
] as const satisfies readonly SharedMessageKey[];

/** A lane's numbers, by column. */
export function laneNumbers(lane: Lane): string[] {
  const ms = (value: number | null) => (value === null ? '–' : formatMs(value));
  return [
    PROTOCOL_NAMES[lane.protocol],
    lane.state === 'established' ? getMessage('reportEstablishedState') : laneText(lane),
    ms(lane.state === 'absent' ? null : lane.startMs),
    ms(lane.transportMs),
    lane.establishedMs === null ? '–' : laneText(lane),
    ms(lane.firstByteMs),
    getMessage('countOf', { part: lane.established, whole: lane.tried }),
    lane.trialsMs.map((each) => formatMs(each)).join(', ') || '–',
  ];
}

function laneSentence(lane: Lane): string {
  const events: string[] = [];
  if (lane.startMs > 0) events.push(getMessage('finishStarted', { time: formatMs(lane.startMs) }));
  if (lane.transport === 'h2' && lane.transportMs !== null)
    events.push(getMessage('finishTcp', { time: formatMs(lane.transportMs) }));
  if (lane.establishedMs !== null)
    events.push(getMessage('finishEstablished', { time: establishedText(lane) }));
  else events.push(laneText(lane));
  if (lane.firstByteMs !== null)
    events.push(getMessage('finishFirstByteAfter', { time: formatMs(lane.firstByteMs) }));
  const { established, tried } = lane;
  const partly =
    established > 0 && established < tried
      ? ` ${getMessage('finishPartly', { established, count: tried })}`
      : '';
  return `${getMessage('finishLane', { protocol: PROTOCOL_NAMES[lane.protocol], events: events.join(', ') })}${partly}`;
}

function resultOf(comparison: RacedComparison, lanes: readonly Lane[]): FinishResult {
  const winner = lanes.find((lane) => lane.transport === comparison.quicker);
  const gain = differenceText(comparison);
  if (winner === undefined || gain === null)
    return { winner: null, gain: null, words: unclearText(comparison) };
  const words = getMessage('finishSooner', { protocol: PROTOCOL_NAMES[winner.protocol], time: gain });
  return { winner: winner.transport, gain, words };
}

function compareCaption(race: OriginRace): string {
  const count = Math.floor(race.trials.length / 2);
  const whole = wholePairs(race.trials).length;
  if (whole === 0) return getMessage('finishPairsNone', { count });
  const all = whole > 1 ? 'finishPairsMedian' : 'finishPairs';
  const some = whole > 1 ? 'finishPairsMedianSome' : 'finishPairsSome';
  const caption = getMessage(whole === count ? all : some, { whole, count });
  return comparisonOf(race) === null ? getMessage('finishTooFew', { caption }) : caption;
}

function plainCaption(race: OriginRace): string {
  if (race.mode === 'compare') return compareCaption(race);
  const count = race.trials.length;
  if (race.mode === 'race') return getMessage(count > 1 ? 'finishRaceMedian' : 'finishRace', { count });
  return getMessage(count > 1 ? 'finishModeMedian' : 'finishMode', { mode: race.mode, count });
}

/** What the numbers are, and whether any trials were left out; if all were, the verdict itself says so. */
function captionOf(race: OriginRace): string {
  const caption = plainCaption(race);
  const count = race.trials.length;
  const busy = count - timedTrials(race.trials).length;
  return busy === 0 || isAllDisturbed(race.trials)
    ? caption
    : getMessage('finishDisturbed', { caption, busy, count });
}

/** The trials to draw: those that are evidence, or all of them if none is. */
function drawnTrials(trials: readonly Trial[]): readonly Trial[] {
  return [timedTrials(trials), soundTrials(trials)].find(({ length }) => length > 0) ?? trials;
}

/** A phrase as a sentence. */
function asSentence(phrase: string): string {
  return `${phrase.slice(0, 1).toLocaleUpperCase(catalogLanguage())}${phrase.slice(1)}.`;
}

/** How many single trials of a lane are beyond the end of the axis, and their times in words; empty if none are. */
export function beyondText(
  { trialsMs }: Lane,
  maxMs: number,
): { readonly few: string; readonly times: string } {
  const beyond = trialsMs.filter((ms) => ms > maxMs);
  if (beyond.length === 0) return { few: '', times: '' };
  return {
    few: getMessage('finishBeyond', { count: beyond.length }),
    times: getMessage('finishBeyondTimes', { times: beyond.map((ms) => formatMs(ms)).join(', ') }),
  };
}

function axisEndMs(lanes: readonly Lane[]): number {
  const drawn = lanes.flatMap((lane) => [
    lane.startMs,
    lane.firstByteMs,
    lane.establishedMs,
    lane.cutMs,
    lane.transportMs,
  ]);
  const mediansMs = Math.max(0, ...present(drawn));
  const near = lanes.flatMap(({ trialsMs }) => trialsMs).filter((ms) => ms <= NOT_FAR * mediansMs);
  return Math.max(mediansMs, ...near) || EMPTY_AXIS_MS;
}
