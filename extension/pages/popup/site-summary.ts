// The summary of all origins of a folded site. Pure.
import { NO_REQUESTS, type ProtocolCounts } from '@photofinish/shared/report/adoption';
import { KNOWN_PROTOCOLS, PROTOCOLS, type Protocol } from '@photofinish/shared/web/protocol';
import type { OriginView } from '../../common/messages.ts';
import { requestsOf } from '../../common/page/delta.ts';
import { type ForecastScore, forecastWords } from '../ui/format.ts';

export interface SiteSummary {
  readonly site: string;
  readonly views: readonly OriginView[];
  readonly counts: ProtocolCounts;
  readonly requests: number;
  /** The one that carried the most requests; `unknown` if none is known. */
  readonly protocol: Protocol;
  readonly reason: OriginView['reason'];
  /** The worst of its forecasts: a wrong one deserves attention. */
  readonly forecast: ForecastScore['result'];
  readonly raced: number;
}

const WORST_FIRST: readonly ForecastScore['result'][] = ['wrong', 'right', 'open', 'none'];

function sumOf(views: readonly OriginView[]): ProtocolCounts {
  const sum = { ...NO_REQUESTS };
  for (const { counts } of views) for (const protocol of PROTOCOLS) sum[protocol] += counts[protocol];
  return sum;
}

/** The row of a site, from these of its origins. */
export function summaryOf(site: string, views: readonly OriginView[]): SiteSummary {
  const counts = sumOf(views);
  const most = KNOWN_PROTOCOLS.reduce((best, each) => (counts[each] > counts[best] ? each : best));
  const results = new Set(views.map((view) => forecastWords(view).result));
  return {
    site,
    views,
    counts,
    requests: views.reduce((sum, view) => sum + requestsOf(view), 0),
    protocol: counts[most] > 0 ? most : 'unknown',
    reason: views.find(({ reason }) => reason !== null)?.reason ?? null,
    forecast: WORST_FIRST.find((result) => results.has(result)) ?? 'none',
    raced: views.filter(({ race }) => race !== null).length,
  };
}
