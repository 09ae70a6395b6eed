// The panel's texts for totals, requests and empty states. Pure.

import { formatNumber } from '@photofinish/shared/language/catalog';
import { type Protocol, protocolName } from '@photofinish/shared/web/protocol';
import { getMessage, type MessageKey } from '../../common/catalog.ts';
import { BROWSER } from '../../common/edition.ts';
import type { InspectedRequest } from '../../common/inspected/request.ts';
import type { PageView } from '../../common/messages.ts';
import { NETWORK_UNKNOWN } from '../../common/records/schema.ts';
import { stateWords } from '../ui/origin-state-words.ts';
import { type Group, protocolOf, type Sum } from './groups.ts';

/** How much of a page's traffic was HTTP/3, in parts shown side by side. */
export function summaryWords({ h3, known, unknown, elsewhere }: Sum): { share: string; rest: string[] } {
  return {
    share: getMessage('devtoolsSummary', { h3, count: known }),
    rest: [
      unknown === 0 ? getMessage('devtoolsNoneHidden') : getMessage('devtoolsUnknown', { count: unknown }),
      ...(elsewhere === 0 ? [] : [getMessage('devtoolsElsewhere', { count: elsewhere })]),
    ],
  };
}

/** "h3 12 · h2 3"; a single protocol without its number, which is in the next column. */
export function protocolsWords({ protocols }: Group): string {
  const [only, ...others] = protocols;
  if (only === undefined) return getMessage('devtoolsNone');
  if (others.length === 0) return shortName(only.protocol);
  return protocols.map(({ protocol, count }) => `${shortName(protocol)} ${formatNumber(count)}`).join(' · ');
}

function shortName(protocol: Protocol): string {
  return protocol === 'unknown' ? protocolName(protocol) : protocol;
}

/** The protocol of one request; a dash if no protocol carried it. */
export function protocolWords(request: InspectedRequest): string {
  const protocol = protocolOf(request);
  return protocol === null ? getMessage('devtoolsNone') : shortName(protocol);
}

const DELIVERIES: Record<InspectedRequest['delivery'], MessageKey> = {
  network: 'devtoolsOverNetwork',
  // Firefox does not say which of the two it was.
  'http-cache': BROWSER === 'firefox' ? 'devtoolsStored' : 'devtoolsCache',
  'service-worker': 'devtoolsWorker',
  prefetch: 'devtoolsPrefetched',
};

/** Where a request's answer came from. */
export function deliveryWords({ delivery, status }: InspectedRequest): string {
  return getMessage(delivery === 'network' && status === 304 ? 'devtoolsConfirmed' : DELIVERIES[delivery]);
}

/** Site, browser and network, as far as each is known. */
export function conditionsWords(page: PageView | null, browser: string): string[] {
  if (page === null) return [browser];
  const { helper } = page;
  const where =
    helper.state !== 'ready' || helper.network === NETWORK_UNKNOWN
      ? getMessage('devtoolsNoHelper')
      : getMessage('devtoolsNetwork', { network: helper.networkName ?? helper.network });
  return [...(page.site === null ? [] : [page.site]), browser, where];
}

/** What to show while there are no requests, and whether reloading the page or the options would help. */
export function emptyWords(
  inspected: boolean,
  tabId: number | null,
  page: PageView | null,
): { text: string; reload: boolean; options: boolean } {
  const neither = { reload: false, options: false };
  if (tabId === null) return { text: getMessage('devtoolsNoTab'), ...neither };
  if (!inspected) return { text: getMessage('devtoolsClosed'), ...neither };
  const state = page === null ? null : stateWords(page.state);
  const reload = page === null || ['recorded', 'loading', 'not-recorded'].includes(page.state);
  if (state !== null && !reload)
    return { text: state.text, reload: false, options: state.remedy?.action === 'options' };
  return { text: getMessage('devtoolsReload'), reload: true, options: false };
}
