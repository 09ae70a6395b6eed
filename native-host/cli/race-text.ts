// A race document for people: one table over all origins, then each origin's photo finish and verdict. The photo finish
// is in block characters: the lanes of shared/drawing/photo-finish.ts, drawn on one row each. Whether a lane is cut off,
// and whether there is a margin (only for `compare`), is decided there.

import {
  type FinishResult,
  type Lane,
  laneText,
  type PhotoFinish,
  photoFinish,
} from '@photofinish/shared/drawing/photo-finish';
import { formatMs, formatMsTo } from '@photofinish/shared/language/markup';
import type {
  AttemptError,
  CacheUse,
  OriginRace,
  RaceDocument,
  Trial,
} from '@photofinish/shared/race/outcome';
import { comparisonOf, wholePairs } from '@photofinish/shared/race/statistics';
import { wholePercent } from '@photofinish/shared/report/adoption';
import { gainStepMs, resultText } from '@photofinish/shared/verdict/gain';
import {
  leftOutText,
  otherFindings,
  sharedInRaceText,
  verdictText,
} from '@photofinish/shared/verdict/verdict-text';
import { PROTOCOL_NAMES } from '@photofinish/shared/web/protocol';
import { commandLine, withOwnCommand } from '../install/own-command.ts';
import { codeHint, codeToExplain } from './codes.ts';
import {
  type Cell,
  columnsOf,
  LINE_COLUMNS,
  milliseconds,
  type NetworkNames,
  NO_NAMES,
  networkLabel,
  type Paint,
  paintProtocol,
  printable,
  table,
  wrapped,
} from './text.ts';

const INDENT = '  ';

const ONE_TRIAL = columnsOf(
  ['ORIGIN', 'ADOPTED', 'ESTABLISHED', 'FIRST BYTE', ''],
  ['ESTABLISHED', 'FIRST BYTE'],
);
const COUNTS = ['TRIALS', 'HTTP/3', 'HTTP/2', 'HTTP/1.1', 'FAILED', 'MEDIAN', 'P95', 'MAX'];
const MANY_TRIALS = columnsOf(['ORIGIN', ...COUNTS], COUNTS);
/** A comparison has one time per protocol, never one for both. */
const PAIRS = columnsOf(
  ['ORIGIN', 'PAIRS', 'FAILED', 'HTTP/3', 'TCP + TLS', 'HTTP/3 VS TCP'],
  ['PAIRS', 'FAILED', 'HTTP/3', 'TCP + TLS'],
);

function remarkOf(trial: Trial): string {
  if (trial.cacheHit) return 'from the host cache';
  if (trial.lateH3) return 'HTTP/3 was late';
  return '';
}

function oneTrialRow(race: OriginRace, paint: Paint): Cell[] {
  const [trial] = race.trials;
  const adopted = trial?.adopted ?? null;
  return [
    race.origin,
    adopted === null
      ? { text: 'nothing', paint: (text) => paint('red', text) }
      : { text: PROTOCOL_NAMES[adopted], paint: (text) => paintProtocol(paint, adopted, text) },
    milliseconds(trial?.establishedMs),
    milliseconds(trial?.firstByteMs),
    trial === undefined ? '' : remarkOf(trial),
  ];
}

/** A number of trials, in colour unless it is 0. */
function count(value: number, paint: (text: string) => string): Cell {
  return value === 0 ? '0' : { text: String(value), paint };
}

function manyTrialsRow(race: OriginRace, paint: Paint): Cell[] {
  const { adoption, failed, establishedMs, trials } = race.summary;
  return [
    race.origin,
    String(trials),
    ...(['h3', 'h2', 'http/1.1'] as const).map((protocol) =>
      count(adoption[protocol], (text) => paintProtocol(paint, protocol, text)),
    ),
    count(failed, (text) => paint('red', text)),
    milliseconds(establishedMs?.median),
    milliseconds(establishedMs?.p95),
    milliseconds(establishedMs?.max),
  ];
}

function pairsRow(race: OriginRace, paint: Paint): Cell[] {
  const { failed } = race.summary;
  const comparison = comparisonOf(race);
  const stepMs = comparison === null ? null : gainStepMs(comparison);
  const time = (ms: number | undefined): string =>
    ms === undefined || stepMs === null ? milliseconds(null) : formatMsTo(ms, stepMs);
  const result = comparison === null ? '' : resultText(comparison);
  return [
    race.origin,
    String(wholePairs(race.trials).length),
    count(failed, (text) => paint('red', text)),
    time(comparison?.h3Ms),
    time(comparison?.h2Ms),
    comparison?.quicker ? { text: result, paint: (text) => paint('bold', text) } : result,
  ];
}

function share(part: number, whole: number): string {
  return whole === 0 ? '' : ` (${wholePercent(part, whole)} %)`;
}

/** Hit ratio and accuracy, which are different measures; nothing for a single trial, whose row contains it. */
function cacheText({ lookups, hits, scored, right }: CacheUse): string | null {
  if (lookups < 2) return null;
  const hit = `Host cache: ${hits} of ${lookups} lookups hit${share(hits, lookups)}`;
  return scored === 0
    ? `${hit}.`
    : `${hit}; the remembered protocol was adopted in ${right} of ${scored}${share(right, scored)}.`;
}

export function unracedText({ code, message }: AttemptError): string {
  const remedy = code === 'blocked' ? ' Allow it with --allow-private.' : '';
  return `Not raced (${code}): ${printable(message)}.${remedy}`;
}

/** Whether the verdict lacks evidence because the mode tries only a part. */
function leavesUntried({ mode, verdict }: OriginRace): boolean {
  return verdict.code === 'unknown' && ['v3', 'alt-svc', 'h3', 'h2'].includes(mode);
}

function details(race: OriginRace, paint: Paint): string[] {
  const head = ['', paint('bold', race.origin)];
  if (race.error !== undefined && race.trials.length === 0)
    return [...head, ...wrapped(unracedText(race.error), INDENT)];
  const { verdict } = race;
  const cache = race.summary.cache === undefined ? null : cacheText(race.summary.cache);
  return [
    ...head,
    ...drawPhotoFinish(race, paint),
    ...(cache === null ? [] : wrapped(cache, INDENT)),
    ...[...sharedInRaceText(race), ...leftOutText(race)].flatMap((words) => wrapped(words, INDENT)),
    ...wrapped(printable(withOwnCommand(verdictText(verdict))), INDENT),
    ...otherFindings(verdict).flatMap((finding) =>
      wrapped(`Also: ${printable(withOwnCommand(finding.text))}`, INDENT),
    ),
    // Not wrapped, so that the commands can be copied.
    paint('dim', `${INDENT}What this means: ${codeHint(codeToExplain(verdict, race))}`),
    ...(leavesUntried(race)
      ? [`${INDENT}For the whole picture: ${commandLine('explain', race.origin)}`]
      : []),
  ];
}

/** Where outcomes were stored, so that users find them in the host cache. */
function networkLines({ memory, races }: RaceDocument, paint: Paint, names: NetworkNames): string[] {
  const networks = [
    ...new Set(races.filter(({ trials }) => trials.length > 0).map(({ network }) => network)),
  ];
  if (memory !== 'full' || networks.length === 0) return [];
  const labels = networks.map((network) => networkLabel(network, names)).join(', ');
  return ['', paint('dim', `On network ${labels}.`)];
}

/** The whole text, without a final line break. */
export function raceText(document: RaceDocument, paint: Paint, names: NetworkNames = NO_NAMES): string {
  const many = document.races.some((race) => race.trials.length > 1);
  const [columns, row] =
    document.mode === 'compare'
      ? [PAIRS, pairsRow]
      : many
        ? [MANY_TRIALS, manyTrialsRow]
        : [ONE_TRIAL, oneTrialRow];
  const rows = document.races.map((race) => row(race, paint));
  return [
    ...table(columns, rows, paint),
    ...document.races.flatMap((race) => details(race, paint)),
    ...networkLines(document, paint, names),
  ].join('\n');
}

/** Shorter if the words after the lanes are long. */
const MAX_AXIS_COLUMNS = 44;
const LABEL_COLUMNS = 8;
const GAP = '  ';
/** Where a lane's drawing begins; legend and margin are aligned with it. */
const AXIS_INDENT = INDENT + ' '.repeat(LABEL_COLUMNS + 2);

const BLOCKS = {
  waiting: '·',
  quic: '▓',
  tcp: '░',
  tls: '▒',
  flag: '⚑',
  done: '│',
  request: '─',
  firstByteH3: '●',
  firstByteOld: '○',
  cut: '╳',
} as const;

/** The mark at the end of a handshake: an undecided comparison has no flag. */
function endMark({ mode, result }: PhotoFinish): string {
  return mode === 'compare' && (result === null || result.winner === null) ? BLOCKS.done : BLOCKS.flag;
}

/** The drawing of one lane with this many columns, without trailing blanks. */
function drawLane(lane: Lane, finish: PhotoFinish, columns: number): string {
  if (lane.state === 'absent') return '';
  const { maxMs } = finish.axis;
  const column = (ms: number): number => Math.round((ms / maxMs) * (columns - 1));
  const cells: string[] = Array.from({ length: columns }, () => ' ');
  const fill = (fromMs: number, toMs: number, block: string): void => {
    cells.fill(block, column(fromMs), column(toMs));
  };
  const h3 = lane.transport === 'h3';
  fill(0, lane.startMs, BLOCKS.waiting);
  const endMs = lane.establishedMs ?? lane.cutMs ?? lane.startMs;
  const tcpMs = Math.min(lane.transportMs ?? endMs, endMs);
  if (h3) fill(lane.startMs, endMs, BLOCKS.quic);
  else {
    fill(lane.startMs, tcpMs, BLOCKS.tcp);
    fill(tcpMs, endMs, BLOCKS.tls);
  }
  if (lane.establishedMs !== null && lane.firstByteMs !== null) {
    fill(lane.establishedMs, lane.firstByteMs, BLOCKS.request);
    cells[column(lane.firstByteMs)] = h3 ? BLOCKS.firstByteH3 : BLOCKS.firstByteOld;
  }
  // Last, so that the flag stays visible if the first byte is in the same column.
  cells[column(endMs)] = lane.establishedMs === null ? BLOCKS.cut : endMark(finish);
  return cells.join('').trimEnd();
}

/** Explains the marks, on as many lines as necessary. */
function legend(finish: PhotoFinish): string[] {
  const drawn = finish.lanes.filter((lane) => lane.state !== 'absent');
  const entries: readonly (readonly [boolean, string])[] = [
    [drawn.some((lane) => lane.startMs > 0), `${BLOCKS.waiting} waiting`],
    [drawn.some((lane) => lane.transport === 'h3'), `${BLOCKS.quic} QUIC`],
    [drawn.some((lane) => lane.transport === 'h2'), `${BLOCKS.tcp} TCP  ${BLOCKS.tls} TLS`],
    [drawn.some((lane) => lane.establishedMs !== null), `${endMark(finish)} established`],
    [
      drawn.some((lane) => lane.firstByteMs !== null),
      `${BLOCKS.firstByteH3} ${BLOCKS.firstByteOld} first byte`,
    ],
    [drawn.some((lane) => lane.establishedMs === null), `${BLOCKS.cut} cut off`],
  ];
  const lines: string[] = [];
  for (const [shown, words] of entries) {
    if (!shown) continue;
    const longer = lines.length === 0 ? words : lines.at(-1) + GAP + words;
    if (AXIS_INDENT.length + longer.length > LINE_COLUMNS) lines.push(words);
    else lines[Math.max(0, lines.length - 1)] = longer;
  }
  return lines;
}

/** Bold only for a clear result. */
function resultLines({ words, winner }: FinishResult, paint: Paint): string[] {
  const lines = wrapped(words, AXIS_INDENT);
  return winner === null ? lines : lines.map((line) => AXIS_INDENT + paint('bold', line.trimStart()));
}

/** The lines of the drawing; none if nothing was attempted. */
export function drawPhotoFinish(race: OriginRace, paint: Paint): string[] {
  const finish = photoFinish(race);
  if (finish.lanes.every((lane) => lane.state === 'absent')) return [];
  const words = Math.max(...finish.lanes.map((lane) => laneText(lane).length));
  const columns = Math.min(MAX_AXIS_COLUMNS, LINE_COLUMNS - AXIS_INDENT.length - GAP.length - words);
  const lanes = finish.lanes.map((lane) => {
    const label = PROTOCOL_NAMES[lane.protocol].padEnd(LABEL_COLUMNS);
    const drawing = drawLane(lane, finish, columns);
    const painted = paintProtocol(paint, lane.protocol, drawing) + ' '.repeat(columns - drawing.length);
    return `${INDENT}${paintProtocol(paint, lane.protocol, label)} ▕${painted}${GAP}${laneText(lane)}`;
  });
  const end = formatMs(finish.axis.maxMs);
  const axis = `0${end.padStart(columns - 1)}`;
  const beside = `${axis}${GAP}${finish.caption}`;
  const dim = (text: string): string => AXIS_INDENT + paint('dim', text);
  const { result } = finish;
  return [
    ...lanes,
    ...(beside.length + AXIS_INDENT.length > LINE_COLUMNS ? [axis, finish.caption] : [beside]).map(dim),
    ...legend(finish).map(dim),
    ...(result === null ? [] : resultLines(result, paint)),
  ];
}
