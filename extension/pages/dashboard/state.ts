// The dashboard's state in the URL: every choice is in the fragment, so that a reload, a bookmark and navigating back
// restore it. `?site=example.org`, as in the popup's links, selects a site.

import { VERDICT_CODES } from '@photofinish/shared/race/verdict-schema';
import { siteSchema } from '@photofinish/shared/web/origin';
import { MARKS } from '@photofinish/shared/web/protocol';
import * as v from 'valibot';
import { DAY_MS, dayOf } from '../../common/records/schema.ts';
import { dayStartMs } from '../charts/days.ts';
import { ORIGIN_KEYS, SITE_KEYS } from './table-model.ts';

export const PERIODS = [7, 30, 90, 400] as const;
export const BASES = ['request', 'origin', 'navigation'] as const;
export type Basis = (typeof BASES)[number];
const MAX_PERIOD_DAYS = 400;

const day = v.pipe(v.string(), v.isoDate());
const text = v.pipe(v.string(), v.maxLength(300));

const stateSchema = v.object({
  /** Days up to today; null: `from` and `to` define the period. */
  period: v.fallback(v.nullable(v.pipe(v.number(), v.picklist(PERIODS))), 30),
  from: v.fallback(v.nullable(day), null),
  to: v.fallback(v.nullable(day), null),
  /** The helper's label of a network; null: all. */
  network: v.fallback(v.nullable(text), null),
  by: v.fallback(v.picklist(BASES), 'request'),
  group: v.fallback(v.picklist(['origin', 'site']), 'origin'),
  query: v.fallback(text, ''),
  site: v.fallback(v.nullable(siteSchema), null),
  mark: v.fallback(v.nullable(v.picklist(MARKS)), null),
  verdict: v.fallback(v.nullable(v.picklist(VERDICT_CODES)), null),
  sort: v.fallback(v.picklist([...ORIGIN_KEYS, ...SITE_KEYS]), 'seen'),
  direction: v.fallback(v.picklist(['ascending', 'descending']), 'descending'),
  /** Counted from 1. */
  page: v.fallback(v.pipe(v.number(), v.integer(), v.minValue(1)), 1),
});
export type State = v.InferOutput<typeof stateSchema>;

export const FIRST_STATE: State = v.parse(stateSchema, {});

/** A column that the table does not have cannot be sorted by. */
function withFittingSort(state: State): State {
  const keys: readonly string[] = state.group === 'site' ? SITE_KEYS : ORIGIN_KEYS;
  return keys.includes(state.sort) ? state : { ...state, sort: 'seen', direction: 'descending' };
}

/** Whether these texts are the days of a custom period: complete, in order and no longer than the ledger's retention. */
export function isCustomPeriod(from: string | null, to: string | null): boolean {
  if (!v.is(day, from) || !v.is(day, to)) return false;
  const days = (dayStartMs(to) - dayStartMs(from)) / DAY_MS + 1;
  return days >= 1 && days <= MAX_PERIOD_DAYS;
}

/** A custom period; otherwise the default one. */
function withFittingPeriod(state: State): State {
  if (state.period !== null) return { ...state, from: null, to: null };
  if (isCustomPeriod(state.from, state.to)) return state;
  return { ...state, period: FIRST_STATE.period, from: null, to: null };
}

/** The state that a URL asks for; invalid values get their defaults. */
export function readState(search: string, hash: string): State {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  const found: Record<string, unknown> = {};
  const site = new URLSearchParams(search).get('site');
  if (site !== null) found['site'] = site;
  for (const [key, value] of given) {
    if (key === 'page') found[key] = Number(value);
    else if (key === 'period') found[key] = value === 'custom' ? null : Number(value);
    // An empty value says that nothing is chosen, overriding the search.
    else if (key === 'site') found[key] = value === '' ? null : value;
    else found[key] = value;
  }
  return withFittingPeriod(withFittingSort(v.parse(stateSchema, found)));
}

/** The fragment that restores the state together with the given search; empty for the initial state. */
export function writeState(search: string, state: State): string {
  const first = readState(search, '');
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(state)) {
    if (value === first[key as keyof State]) continue;
    if (key === 'period') params.set(key, value === null ? 'custom' : String(value));
    else params.set(key, value === null ? '' : String(value));
  }
  const written = params.toString();
  return written === '' ? '' : `#${written}`;
}

export interface Period {
  readonly fromDay: string;
  readonly toDay: string;
}

/** The UTC days that a state selects, as of now. */
export function periodOf({ period, from, to }: State, nowMs: number): Period {
  if (period === null && from !== null && to !== null) return { fromDay: from, toDay: to };
  const days = period ?? PERIODS[1];
  return { fromDay: dayOf(nowMs - (days - 1) * DAY_MS), toDay: dayOf(nowMs) };
}
