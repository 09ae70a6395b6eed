// A race in a report's page: its photo finish beside its numbers.
import { type Lane, laneText, photoFinish } from '../drawing/photo-finish.ts';
import { getMessage } from '../language/catalog.ts';
import { formatMs } from '../language/markup.ts';
import type { OriginRace } from '../race/outcome.ts';
import { PROTOCOL_NAMES } from '../web/protocol.ts';
import { columns, type Figure, type Row, table, text, type Value } from './document.ts';
import { type NetworkNames, networkText } from './report-text.ts';

const TIMES = ['reportStarted', 'reportTransport', 'reportEstablished', 'reportFirstByte'] as const;

function laneRow(lane: Lane): Row {
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

/** One race; `id` is unique on the page. */
export function raceFigure(race: OriginRace, id: string, names: NetworkNames): Figure {
  const at: Value = { kind: 'instant', at: race.atMs };
  const params = { at, network: networkText(race.network, names), mode: race.mode };
  const head: Value = { kind: 'sentence', key: 'reportRaceHead', params };
  const message = race.error?.message;
  if (race.trials.length === 0) {
    const why = getMessage('reportNotRaced', { message: message || getMessage('reportNoTrial') });
    return { kind: 'figure', id, finish: null, lines: [head, why], table: null };
  }
  const finish = photoFinish(race);
  const { result, caption, title } = finish;
  const shown = text(
    result === null ? caption : `${title}, ${caption}`,
    result?.winner === null ? undefined : 'strong',
  );
  const ended = message ? [getMessage('reportEndedEarly', { message })] : [];
  const heads = [
    ...columns('text', getMessage('reportProtocol'), getMessage('reportOutcome')),
    ...columns('number', ...TIMES.map((key) => getMessage(key)), getMessage('reportFinished')),
    ...columns('trials', getMessage('reportTrials')),
  ];
  const numbers = table('lanes', heads, finish.lanes.map(laneRow));
  return { kind: 'figure', id, finish, lines: [shown, head, ...ended], table: numbers };
}
