// One race with its photo finish: the drawing, an explanation of its numbers, and when and how it was run.

import { type Lane, laneWords, photoFinish } from '@photofinish/shared/drawing/photo-finish';
import { photoFinishSvg } from '@photofinish/shared/drawing/photo-finish-svg';
import { formatNumber } from '@photofinish/shared/language/catalog';
import { formatMs } from '@photofinish/shared/language/markup';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { PROTOCOL_NAMES } from '@photofinish/shared/web/protocol';
import { getMessage } from '../../common/catalog.ts';
import { make, setSvg } from '../ui/elements.ts';
import { writeTable } from './figure.ts';
import { instantWords, modeWords, networkWords } from './labels.ts';

const DRAWING_PX = 560;
let drawn = 0;

function laneNumbers(lane: Lane): string[] {
  const ms = (value: number | null) => (value === null ? '–' : formatMs(value));
  return [
    PROTOCOL_NAMES[lane.protocol],
    lane.state === 'established' ? getMessage('dashboardLaneEstablished') : laneWords(lane),
    ms(lane.state === 'absent' ? null : lane.startMs),
    lane.establishedMs === null ? '–' : laneWords(lane),
    ms(lane.firstByteMs),
    `${formatNumber(lane.established)} / ${formatNumber(lane.tried)}`,
    lane.trialsMs.map((ms) => formatMs(ms)).join(', ') || '–',
  ];
}

/** The race as a figure; for a race that could not be run, the reason. */
export function raceFigure(race: OriginRace): HTMLElement {
  const figure = make('figure', 'race');
  const caption = make('figcaption');
  const when = `${instantWords(race.atMs)} · ${modeWords(race.mode)} · ${networkWords(race.network)}`;
  if (race.trials.length === 0) {
    const why = race.error?.message ?? '';
    caption.append(
      make('strong', '', getMessage('dashboardCouldNotRace')),
      make('span', 'what', `${when} ${why}`),
    );
    figure.append(caption);
    return figure;
  }
  const finish = photoFinish(race);
  const drawing = make('div', 'drawing');
  drawing.dir = 'ltr';
  drawn += 1;
  setSvg(drawing, photoFinishSvg(finish, `race-${drawn}`, DRAWING_PX));
  caption.append(
    make(
      finish.result?.winner === null ? 'span' : 'strong',
      '',
      finish.result === null ? finish.caption : `${finish.title}, ${finish.caption}`,
    ),
    make('span', 'what', when),
  );
  const numbers = make('details', 'numbers');
  const scroll = make('div', 'scroll');
  const table = make('table', 'small');
  const head = [
    getMessage('dashboardProtocol'),
    getMessage('dashboardOutcome'),
    getMessage('dashboardStarted'),
    getMessage('dashboardEstablished'),
    getMessage('dashboardFirstByte'),
    getMessage('dashboardFinished'),
    getMessage('dashboardTrials'),
  ];
  writeTable(table, { head, rows: finish.lanes.map(laneNumbers) });
  scroll.append(table);
  scroll.tabIndex = 0;
  scroll.role = 'region';
  scroll.ariaLabel = getMessage('dashboardNumbers');
  numbers.append(make('summary', '', getMessage('dashboardNumbers')), scroll);
  figure.append(drawing, caption, numbers);
  return figure;
}
