// The popup's words and numbers as pure functions: from a PageView to what is written where. No DOM in here.
import {
  type Adoption,
  adoptionByRequest,
  adoptionPercent,
  type ProtocolCounts,
} from '@photofinish/shared/adoption';
import { MARK_LABELS, type Mark, markOf } from '@photofinish/shared/marks';
import { formatMs, plural } from '@photofinish/shared/markup';
import type { Origin } from '@photofinish/shared/origin';
import { originParts } from '@photofinish/shared/origin';
import type { OriginRace } from '@photofinish/shared/outcome';
import { photoFinish } from '@photofinish/shared/photo-finish';
import { PROTOCOL_NAMES, PROTOCOLS, type Protocol, type UnknownReason } from '@photofinish/shared/protocol';
import type { HelperState, OriginView, PageView } from '../messages.ts';

/** An origin as people write it: https is the only scheme and 443 the default, so neither is shown. */
export function originLabel(origin: Origin): string {
  return origin.slice('https://'.length);
}

export interface Piece {
  readonly text: string;
  readonly strong: boolean;
}

/** A verdict's sentence with what HTTP/3 gains, or loses, set apart. */
export function emphasise(text: string): Piece[] {
  return text
    .split(/(\d[\d.e+]* m?s longer)/)
    .map((part, i) => ({ text: part, strong: i % 2 === 1 }))
    .filter((piece) => piece.text !== '');
}

const REASONS: Record<UnknownReason, string> = {
  'no-timing-allow-origin': 'The site hides its protocol: it sends no Timing-Allow-Origin header.',
  'service-worker': 'A service worker answered, so no protocol was seen.',
  missed: 'No observer saw the answer.',
  revalidated:
    'The stored copy was confirmed (304 Not Modified); the browser repeats its old protocol and keeps this answer’s to itself.',
};

/** Why a protocol is not known, as a sentence; empty when it is known. */
export function reasonWords(protocol: Protocol, reason: UnknownReason | null): string {
  if (protocol !== 'unknown') return '';
  return reason === null ? 'Nothing came over the network yet.' : REASONS[reason];
}

/** A protocol in a narrow column; "hidden" when it is the site that hides it. */
export function protocolCell(protocol: Protocol, reason: UnknownReason | null): string {
  if (protocol !== 'unknown') return protocol;
  return reason === 'no-timing-allow-origin' ? 'hidden' : 'unknown';
}

export interface AdoptionWords {
  readonly share: string;
  readonly of: string;
  readonly hidden: string;
  readonly bar: readonly { readonly mark: Mark; readonly count: number }[];
  /** The bar in words. */
  readonly label: string;
}

function barOf(counts: ProtocolCounts): AdoptionWords['bar'] {
  const sums = new Map<Mark, number>();
  for (const protocol of PROTOCOLS) {
    const mark = markOf(protocol);
    sums.set(mark, (sums.get(mark) ?? 0) + counts[protocol]);
  }
  return [...sums].filter(([, count]) => count > 0).map(([mark, count]) => ({ mark, count }));
}

function shareWords(adoption: Adoption): { share: string; of: string } {
  const percent = adoptionPercent(adoption);
  if (percent !== null)
    return { share: `${percent} %`, of: `HTTP/3 of ${plural(adoption.known, 'known request')}` };
  if (adoption.hidden > 0) return { share: 'Share unknown', of: 'no request shows its protocol' };
  return { share: 'No requests', of: 'over the network yet' };
}

/** The page's adoption with its denominator and its hidden part. */
export function adoptionWords(page: Pick<PageView, 'counts' | 'origins'>): AdoptionWords {
  const adoption = adoptionByRequest(page.counts);
  const otherReason = page.origins.some(
    (o) => o.counts.unknown > 0 && o.reason !== null && o.reason !== 'no-timing-allow-origin',
  );
  const bar = barOf(page.counts);
  const hidden =
    adoption.hidden === 0
      ? 'none hidden'
      : otherReason
        ? `${adoption.hidden} unknown`
        : `${adoption.hidden} hidden by their sites`;
  const named = { h3: 'HTTP/3', h2: 'HTTP/2', h1: 'HTTP/1', unknown: 'unknown' };
  return {
    ...shareWords(adoption),
    hidden: adoption.known + adoption.hidden === 0 ? '' : hidden,
    bar,
    label: `Requests by protocol: ${bar.map((b) => `${named[b.mark]} ${b.count}`).join(', ') || 'none'}`,
  };
}

export interface Scored {
  /** `right` and `wrong` are drawn as tick and cross. */
  readonly result: 'right' | 'wrong' | 'open' | 'none';
  readonly text: string;
  /** The full sentence. */
  readonly title: string;
}

/** Whether the forecast for an origin came true. */
export function forecastWords(view: Pick<OriginView, 'forecast' | 'forecastRight'>): Scored {
  const { forecast, forecastRight } = view;
  if (forecast === null)
    return { result: 'none', text: '–', title: 'No forecast: the helper was not asked.' };
  const { protocol, basis } = forecast.expected;
  if (basis === 'none' || protocol === 'unknown')
    return { result: 'none', text: '–', title: 'No forecast: this browser had not seen the origin before.' };
  const said = `Forecast ${PROTOCOL_NAMES[protocol]} (${basis} before)`;
  if (forecastRight === null)
    return { result: 'open', text: protocol, title: `${said}; what the browser used was not seen.` };
  return forecastRight
    ? { result: 'right', text: protocol, title: `${said}, and the browser used it.` }
    : { result: 'wrong', text: protocol, title: `${said}, but the browser used something else.` };
}

/** Milliseconds for a narrow column: under one, the third figure is noise and does not fit. */
function shortMs(ms: number): string {
  return formatMs(ms < 1 ? Number(ms.toPrecision(2)) : ms);
}

/** The newest race in a narrow column, and as a sentence. */
export function raceWords(race: OriginRace | null): { text: string; title: string } {
  if (race === null) return { text: '–', title: 'Not raced yet.' };
  if (race.trials.length === 0)
    return { text: 'not raced', title: `Could not be raced: ${race.error?.message ?? 'no trial was run'}.` };
  const finish = photoFinish(race);
  const title = `${finish.title} (${finish.caption}).`;
  if (finish.margin)
    return { text: `${MARK_LABELS[finish.margin.winner]} ${shortMs(finish.margin.ms)}`, title };
  const failed = finish.lanes.filter((lane) => lane.state === 'failed');
  if (failed.length === 2) return { text: 'both failed', title };
  if (failed[0]) return { text: `${MARK_LABELS[failed[0].contender]} failed`, title };
  // Without a margin a time would be read as one: who was first is all a race tells.
  const winner = finish.lanes.find((lane) => lane.adopted);
  return { text: winner ? `${MARK_LABELS[markOf(winner.protocol)]} first` : 'no margin', title };
}

export interface HelperWords {
  readonly dot: 'on' | 'waiting' | 'off';
  readonly label: string;
  readonly title: string;
  /** What is wrong and what to do; null when nothing is. */
  readonly help: { readonly what: string; readonly command: string } | null;
}

const WITHOUT = 'Recording goes on; races and forecasts need the helper.';

/** The helper's state in words, with the command that mends it. */
export function helperWords(helper: HelperState): HelperWords {
  switch (helper.state) {
    case 'ready': {
      const version = /\d+(\.\d+)*/.exec(helper.program)?.[0];
      return {
        dot: 'on',
        label: version ? `helper ${version}` : helper.program,
        title: `${helper.program} is running; network ${helper.network}.`,
        help: null,
      };
    }
    case 'connecting':
      return { dot: 'waiting', label: 'helper starting', title: 'The helper is being started.', help: null };
    case 'missing':
      return {
        dot: 'off',
        label: 'no helper',
        title: 'The browser found no helper.',
        help: {
          what: `The browser found no helper. ${WITHOUT} Run this in the folder that Photofinish was built in, then try again:`,
          command: 'npx photofinish install',
        },
      };
    case 'crashed':
      return {
        dot: 'off',
        label: 'helper stopped',
        title: helper.message,
        help: {
          what: `The helper stopped: ${sentence(helper.message)} ${WITHOUT} It is started again after a pause. In the folder that Photofinish was built in, this finds out why:`,
          command: 'npx photofinish doctor',
        },
      };
    case 'incompatible':
      return {
        dot: 'off',
        label: 'helper does not fit',
        title: helper.message,
        help: {
          what: `Helper and extension do not fit together: ${sentence(helper.message)} ${WITHOUT} Update the older one, then run this in its folder:`,
          command: 'npx photofinish install',
        },
      };
  }
}

/** Text closed by a full stop, whatever it ended in. */
export function sentence(text: string): string {
  return /[.?]$/.test(text) ? text : `${text}.`;
}

/** A message of another program as a sentence of ours. */
export function capitalSentence(text: string): string {
  return sentence(text.charAt(0).toUpperCase() + text.slice(1));
}

/** What to say when nothing comes from the background at all. */
export const NO_ANSWER =
  'The background of Photofinish does not answer. Reload the extension on the browser’s page of extensions.';

/** What to say where there is no record to show; null when there is one. */
export function stateWords(state: PageView['state']): { title: string; text: string } | null {
  switch (state) {
    case 'recorded':
      return null;
    case 'loading':
      return { title: 'Loading', text: 'The page is on its way; its protocol shows with its first answer.' };
    case 'failed':
      return {
        title: 'No page',
        text: 'The page could not be loaded, so it has no protocol; the browser says why in the page.',
      };
    case 'not-https':
      return {
        title: 'Not an https page',
        text: 'HTTP/3 exists over https only, so on this page there is nothing to record or to race.',
      };
    case 'browser-page':
      return {
        title: 'A page of the browser',
        text: 'It does not come over the network. Open an https page to see which protocol it uses.',
      };
    case 'not-recorded':
      return {
        title: 'Not recorded',
        text: 'Private windows are never recorded. A page opened before Photofinish started is recorded once you reload it.',
      };
  }
}

const DELIVERIES: Record<PageView['delivery'], string> = {
  network: '',
  'http-cache': 'This time the page came from the HTTP cache, not over the network.',
  'service-worker': 'This time a service worker answered for the page.',
  prefetch: 'This time the page had been prefetched.',
};

/**
 * What else to know of the page: that it did not come over the network, although its origin's protocol is known. Of one
 * that is not known the verdict says why.
 */
export function asideWords(page: Pick<PageView, 'delivery' | 'protocol'>): string {
  return page.protocol === 'unknown' ? '' : DELIVERIES[page.delivery];
}

export const SORT_KEYS = ['origin', 'protocol', 'requests', 'forecast', 'race'] as const;
export type SortKey = (typeof SORT_KEYS)[number];
export interface Sorting {
  readonly key: SortKey;
  readonly direction: 'ascending' | 'descending';
}

/** Network answers of one origin. */
export function requestsOf(view: Pick<OriginView, 'counts'>): number {
  return PROTOCOLS.reduce((sum, protocol) => sum + view.counts[protocol], 0);
}

const FORECAST_ORDER = ['wrong', 'open', 'none', 'right'];

function rank(view: OriginView, key: SortKey): number | string {
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
      // Unmeasured origins come last in ascending order.
      return view.race?.summary.gainMs ?? Number.MAX_VALUE;
  }
}

/** Origins in the order asked for; without one as the background gave them. Equal ones keep their order. */
export function sortOrigins(origins: readonly OriginView[], sorting: Sorting | null): readonly OriginView[] {
  if (sorting === null) return origins;
  const sign = sorting.direction === 'ascending' ? 1 : -1;
  return origins.toSorted((a, b) => {
    const [x, y] = [rank(a, sorting.key), rank(b, sorting.key)];
    return sign * (typeof x === 'string' ? x.localeCompare(String(y)) : x - Number(y));
  });
}

/** What a click on a column's header asks for: numbers start with the largest, words with the first. */
export function nextSorting(current: Sorting | null, key: SortKey): Sorting {
  if (current?.key === key)
    return { key, direction: current.direction === 'ascending' ? 'descending' : 'ascending' };
  return { key, direction: key === 'requests' ? 'descending' : 'ascending' };
}

export const EXPORT_FORMATS = ['html', 'json', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A file name for a report, without characters that file systems refuse; the day is UTC as in the report. */
export function exportName(site: string | null, createdAt: string, format: ExportFormat): string {
  const name = (site ?? 'all-sites').replace(/[^a-zA-Z0-9.-]+/g, '-').slice(0, 120);
  return `photofinish-${name}-${createdAt.slice(0, 10)}.${format}`;
}
