// The photo finish as text blocks: what shared/photo-finish says in lanes, drawn on one row of characters each.
// A lane without a finish is cut off, and only a `compare` run has a margin; both are decided there, not here.
import { formatMs } from '@photofinish/shared/markup';
import type { OriginRace } from '@photofinish/shared/outcome';
import { type Lane, laneWords, marginWords, photoFinish } from '@photofinish/shared/photo-finish';
import { PROTOCOL_NAMES } from '@photofinish/shared/protocol';
import { type Paint, paintProtocol } from './text.ts';

const AXIS_COLUMNS = 44;
const LABEL_COLUMNS = 8;
const INDENT = '  ';
/** Where a lane's drawing begins: under it stand legend and margin. */
const AXIS_INDENT = INDENT + ' '.repeat(LABEL_COLUMNS + 2);

const BLOCKS = {
  waiting: '·',
  quic: '▓',
  tcp: '░',
  tls: '▒',
  flag: '⚑',
  request: '─',
  firstByteH3: '●',
  firstByteOld: '○',
  cut: '╳',
} as const;

/** The drawing of one lane on an axis of `maxMs`, blanks at its end left out. */
export function drawLane(lane: Lane, maxMs: number): string {
  if (lane.state === 'absent') return '';
  const column = (ms: number): number => Math.round((ms / maxMs) * (AXIS_COLUMNS - 1));
  const cells: string[] = Array.from({ length: AXIS_COLUMNS }, () => ' ');
  const fill = (fromMs: number, toMs: number, block: string): void => {
    cells.fill(block, column(fromMs), column(toMs));
  };
  const h3 = lane.contender === 'h3';
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
  // Last, so that the flag stays visible where the first byte falls into the same column.
  cells[column(endMs)] = lane.establishedMs === null ? BLOCKS.cut : BLOCKS.flag;
  return cells.join('').trimEnd();
}

function legend(lanes: readonly Lane[]): string {
  const drawn = lanes.filter((lane) => lane.state !== 'absent');
  const entries: readonly (readonly [boolean, string])[] = [
    [drawn.some((lane) => lane.startMs > 0), `${BLOCKS.waiting} start delay`],
    [drawn.some((lane) => lane.contender === 'h3'), `${BLOCKS.quic} QUIC`],
    [drawn.some((lane) => lane.contender === 'h2'), `${BLOCKS.tcp} TCP  ${BLOCKS.tls} TLS`],
    [drawn.some((lane) => lane.establishedMs !== null), `${BLOCKS.flag} established`],
    [
      drawn.some((lane) => lane.firstByteMs !== null),
      `${BLOCKS.firstByteH3} ${BLOCKS.firstByteOld} first byte`,
    ],
    [drawn.some((lane) => lane.establishedMs === null), `${BLOCKS.cut} cut off`],
  ];
  return entries
    .filter(([shown]) => shown)
    .map(([, words]) => words)
    .join('  ');
}

/** The drawing's lines; none when nothing was attempted. */
export function drawPhotoFinish(race: OriginRace, paint: Paint): string[] {
  const finish = photoFinish(race);
  if (finish.lanes.every((lane) => lane.state === 'absent')) return [];
  const lanes = finish.lanes.map((lane) => {
    const label = PROTOCOL_NAMES[lane.protocol].padEnd(LABEL_COLUMNS);
    const drawing = drawLane(lane, finish.axis.maxMs);
    const painted = paintProtocol(paint, lane.protocol, drawing) + ' '.repeat(AXIS_COLUMNS - drawing.length);
    return `${INDENT}${paintProtocol(paint, lane.protocol, label)} ▕${painted}  ${laneWords(lane)}`;
  });
  const end = formatMs(finish.axis.maxMs);
  const axis = `0${end.padStart(AXIS_COLUMNS - 1)}`;
  const margin = marginWords(finish);
  return [
    ...lanes,
    AXIS_INDENT + paint('dim', `${axis}  ${finish.caption}`),
    AXIS_INDENT + paint('dim', legend(finish.lanes)),
    ...(margin === null ? [] : [AXIS_INDENT + paint('bold', margin)]),
  ];
}
