// The line of a site whose origins are folded into it: what they have in common, and how many they are.
import { sayNumber } from '@photofinish/shared/language/words';
import { say } from '../../common/words.ts';
import { make, setAttribute, setText } from '../ui/elements.ts';
import { writeHost } from '../ui/host.ts';
import { type LineParts, makeLine, writeCells } from './cells.ts';
import type { RaceBoard } from './finish.ts';
import { raceState } from './finish.ts';
import type { SiteLine } from './lines.ts';
import type { SiteSummary } from './site-summary.ts';

export interface SiteRow extends LineParts {
  readonly count: HTMLElement;
}

/** A row for a site; `onToggle` is told when its user opens or closes it. */
export function makeSiteRow(site: string, onToggle: () => void): SiteRow {
  const line = makeLine();
  const { body, main, opener, host } = line;
  body.dataset['site'] = site;
  body.classList.add('site');
  writeHost(host, site, site);
  const twist = make('span', 'twist');
  twist.setAttribute('aria-hidden', 'true');
  host.before(twist);
  const count = make('span', 'tag count');
  opener.after(count);
  main.addEventListener('click', onToggle);
  return { ...line, count };
}

function raceCell({ views, raced }: SiteSummary, board: RaceBoard): string {
  const states = new Set(views.map(({ origin }) => raceState(board, origin)));
  if (states.has('racing')) return say('popupRacing');
  if (states.has('waiting')) return say('popupRaceWaiting');
  return raced === 0 ? '–' : say('popupSiteRaced', { count: raced });
}

/** Writes what is known of the site now. */
export function updateSiteRow(row: SiteRow, { summary, open }: SiteLine, board: RaceBoard): void {
  const { protocol, reason, counts, requests, forecast, views, site } = summary;
  const origins = say('popupSiteOrigins', { count: views.length });
  setText(row.count, sayNumber(views.length));
  setAttribute(row.count, 'title', origins);
  setAttribute(row.opener, 'aria-label', `${site}, ${origins}`);
  setAttribute(row.opener, 'aria-expanded', String(open));
  const scored = { result: forecast, text: forecast === 'none' ? '–' : '', title: '' } as const;
  const race = { text: raceCell(summary, board), title: '' };
  writeCells(row.cells, { protocol, reason, counts, requests, forecast: scored, race });
}
