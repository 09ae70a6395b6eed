// The order of the popup's table of origins: as the background gave it, or by the column that was asked for. Pure.
import { originParts } from '@photofinish/shared/origin';
import { PROTOCOLS } from '@photofinish/shared/protocol';
import { wordsLanguage } from '@photofinish/shared/words';
import type { OriginView } from '../messages.ts';
import { requestsOf } from '../page/order.ts';
import { forecastWords } from './format.ts';

export const SORT_KEYS = ['origin', 'protocol', 'requests', 'forecast', 'race'] as const;
export type SortKey = (typeof SORT_KEYS)[number];
export interface Sorting {
  readonly key: SortKey;
  readonly direction: 'ascending' | 'descending';
}

const FORECAST_ORDER = ['wrong', 'open', 'none', 'right'];

/** What a column sorts by; null: nothing, which comes last in either direction. */
function rank(view: OriginView, key: SortKey): number | string | null {
  switch (key) {
    case 'origin':
      return originParts(view.origin).host;
    case 'protocol':
      return PROTOCOLS.indexOf(view.protocol);
    case 'requests':
      return requestsOf(view);
    case 'forecast':
      return FORECAST_ORDER.indexOf(forecastWords(view).result);
    case 'race':
      return view.race?.summary.gainMs ?? null;
  }
}

/** Origins in the order asked for; without one as the background gave them. Equal ones keep their order. */
export function sortOrigins(origins: readonly OriginView[], sorting: Sorting | null): readonly OriginView[] {
  if (sorting === null) return origins;
  const sign = sorting.direction === 'ascending' ? 1 : -1;
  const { compare } = new Intl.Collator(wordsLanguage());
  return origins
    .map((view) => ({ view, by: rank(view, sorting.key) }))
    .sort((a, b) => {
      if (a.by === null || b.by === null) return Number(a.by === null) - Number(b.by === null);
      return sign * (typeof a.by === 'string' ? compare(a.by, String(b.by)) : a.by - Number(b.by));
    })
    .map(({ view }) => view);
}

/** What a click on a column's header asks for: numbers start with the largest, words with the first. */
export function nextSorting(current: Sorting | null, key: SortKey): Sorting {
  if (current?.key === key)
    return { key, direction: current.direction === 'ascending' ? 'descending' : 'ascending' };
  return { key, direction: key === 'requests' || key === 'race' ? 'descending' : 'ascending' };
}
