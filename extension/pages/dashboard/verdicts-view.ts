// Counts of verdicts: a bar for each, labelled with its meaning; a click shows its origins in the table.

import type { VerdictCode } from '@photofinish/shared/race/verdict-schema';
import { verdictMeans } from '@photofinish/shared/verdict/codes';
import { verdictName } from '@photofinish/shared/verdict/verdict-names';
import { getMessage } from '../../common/catalog.ts';
import { byId, make, setText } from '../ui/elements.ts';
import { percentText } from './labels.ts';

function bar(
  code: VerdictCode,
  count: number,
  all: number,
  chosen: boolean,
  onChoose: () => void,
): HTMLElement {
  const item = make('li');
  const button = make('button', `verdict-bar ${code}`);
  button.type = 'button';
  button.ariaPressed = String(chosen);
  const track = make('span', 'track');
  const fill = make('span', 'fill');
  fill.style.inlineSize = `${(100 * count) / all}%`;
  track.append(fill);
  button.append(
    make('strong', 'name', verdictName(code)),
    track,
    make('span', 'count', getMessage('dashboardVerdictCount', { count, share: percentText(count, all) })),
    make('span', 'meaning', verdictMeans(code)),
  );
  button.addEventListener('click', onChoose);
  item.append(button);
  return item;
}

/** Draws the bars, the most frequent first. `complete`: whether every record was counted. */
export function renderVerdicts(
  counts: ReadonlyMap<VerdictCode, number>,
  complete: boolean,
  chosen: VerdictCode | null,
  choose: (code: VerdictCode | null) => void,
): void {
  const list = byId('verdicts');
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  setText(
    byId('verdict-total'),
    complete ? getMessage('dashboardOriginsTotal', { count: all }) : getMessage('dashboardCounting'),
  );
  list.ariaBusy = String(!complete);
  const focused = list.contains(document.activeElement)
    ? [...list.children].findIndex((item) => item.contains(document.activeElement))
    : -1;
  const bars = complete
    ? [...counts].map(([code, count]) =>
        bar(code, count, all, code === chosen, () => choose(code === chosen ? null : code)),
      )
    : [];
  list.replaceChildren(...bars);
  bars[focused]?.querySelector('button')?.focus({ preventScroll: true });
}
