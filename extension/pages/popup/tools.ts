// What is above a long table: a filter by host, and races of all displayed origins, with their progress.
import type { Origin } from '@photofinish/shared/web/origin';
import { getMessage } from '../../common/catalog.ts';
import type { PageView, RaceAsked } from '../../common/messages.ts';
import { byId, setAttribute, setText } from '../ui/elements.ts';
import { MANY_ORIGINS } from './lines.ts';
import { filtered } from './origins.ts';

export interface ToolHandlers {
  readonly onFilter: (text: string) => void;
  readonly onRaceAll: (origins: readonly Origin[]) => void;
  readonly onStop: () => void;
}

let racing = false;

/** Wires the filter field and the buttons. */
export function wireTools({ onFilter, onRaceAll, onStop }: ToolHandlers): void {
  const field = byId<HTMLInputElement>('filter');
  field.addEventListener('input', () => onFilter(field.value));
  byId('race-all').addEventListener('click', () => {
    if (racing) onStop();
    else onRaceAll(filtered().map(({ origin }) => origin));
  });
}

function renderProgress(here: readonly RaceAsked[]): void {
  const done = here.filter(({ state }) => state === 'over').length;
  racing = done < here.length;
  byId('race-progress').hidden = !racing;
  if (!racing) return;
  const bar = byId<HTMLProgressElement>('race-bar');
  bar.max = here.length;
  bar.value = done;
  setText(byId('race-count'), getMessage('popupRaceProgress', { done, count: here.length }));
}

/** The tools above the table of this page; `asked` are the requested races, here and elsewhere. */
export function renderTools(page: PageView, asked: readonly RaceAsked[]): void {
  const { origins, helper } = page;
  byId('tools').hidden = origins.length < MANY_ORIGINS;
  const own = new Set(origins.map(({ origin }) => origin));
  renderProgress(asked.filter(({ origin }) => own.has(origin)));
  const shown = filtered().length;
  setText(
    byId('filter-count'),
    shown === origins.length ? '' : getMessage('popupFilterCount', { shown, count: origins.length }),
  );
  byId('no-match').hidden = shown > 0;
  const button = byId<HTMLButtonElement>('race-all');
  const possible = racing || (helper.state === 'ready' && shown > 0);
  setText(button, getMessage(racing ? 'popupRaceStop' : 'popupRaceAll'));
  setAttribute(
    button,
    'title',
    getMessage(helper.state === 'ready' ? 'popupRaceAllTitle' : 'popupNeedsHelper'),
  );
  if (button.disabled === possible) button.disabled = !possible;
}
