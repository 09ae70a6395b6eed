// The photo finish in block characters: the lanes of shared/photo-finish, drawn on one row each. Whether a lane is cut
// off, and whether there is a margin (only for `compare`), is decided there.
import {
  type FinishResult,
  type Lane,
  laneText,
  type PhotoFinish,
  photoFinish,
} from '@photofinish/shared/drawing/photo-finish';
import { formatMs } from '@photofinish/shared/language/markup';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { PROTOCOL_NAMES } from '@photofinish/shared/web/protocol';
import { LINE_COLUMNS, type Paint, paintProtocol, wrapped } from './text.ts';

/** Shorter if the words after the lanes are long. */
const MOST_AXIS_COLUMNS = 44;
const LABEL_COLUMNS = 8;
const INDENT = '  ';
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
  const columns = Math.min(MOST_AXIS_COLUMNS, LINE_COLUMNS - AXIS_INDENT.length - GAP.length - words);
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
