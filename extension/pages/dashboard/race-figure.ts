// One race with its photo finish: the drawing, what its numbers are, and when and how it was run.

import { type Lane, laneWords, photoFinish } from '@photofinish/shared/drawing/photo-finish';
import { photoFinishSvg } from '@photofinish/shared/drawing/photo-finish-svg';
import { formatMs } from '@photofinish/shared/language/markup';
import { sayNumber } from '@photofinish/shared/language/words';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { PROTOCOL_NAMES } from '@photofinish/shared/web/protocol';
import { say } from '../../common/words.ts';
import { make, setSvg } from '../ui/elements.ts';
import { writeTable } from './figure.ts';
import { instantWords, modeWords, networkWords } from './labels.ts';

const DRAWING_PX = 560;
let drawn = 0;

function laneNumbers(lane: Lane): string[] {
  const ms = (value: number | null) => (value === null ? '–' : formatMs(value));
  return [
    PROTOCOL_NAMES[lane.protocol],
    lane.state === 'established' ? say('dashboardLaneEstablished') : laneWords(lane),
    ms(lane.state === 'absent' ? null : lane.startMs),
    lane.establishedMs === null ? '–' : laneWords(lane),
    ms(lane.firstByteMs),
    `${sayNumber(lane.established)} / ${sayNumber(lane.tried)}`,
    lane.trialsMs.map((ms) => formatMs(ms)).join(', ') || '–',
  ];
}

/** The race as a figure; a race that could not be run says why. */
export function raceFigure(race: OriginRace): HTMLElement {
  const figure = make('figure', 'race');
  const caption = make('figcaption');
  const when = `${instantWords(race.atMs)} · ${modeWords(race.mode)} · ${networkWords(race.network)}`;
  if (race.trials.length === 0) {
    const why = race.error?.message ?? '';
    caption.append(make('strong', '', say('dashboardCouldNotRace')), make('span', 'what', `${when} ${why}`));
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
    say('dashboardProtocol'),
    say('dashboardOutcome'),
    say('dashboardStarted'),
    say('dashboardEstablished'),
    say('dashboardFirstByte'),
    say('dashboardFinished'),
    say('dashboardTrials'),
  ];
  writeTable(table, { head, rows: finish.lanes.map(laneNumbers) });
  scroll.append(table);
  scroll.tabIndex = 0;
  scroll.role = 'region';
  scroll.ariaLabel = say('dashboardNumbers');
  numbers.append(make('summary', '', say('dashboardNumbers')), scroll);
  figure.append(drawing, caption, numbers);
  return figure;
}
