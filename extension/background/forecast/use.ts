// What becomes of a navigation's forecasts once they arrive: steering obeys them, the page shows them, the ledger counts
// the look-ups.

import { type Page, withForecasts } from '../../common/page/model.ts';
import type { KeptLedger } from '../../ledger/keeping.ts';
import type { Steering } from '../steer/steering.ts';
import type { Pages } from '../tab/pages.ts';
import type { Navigation } from './forecaster.ts';

export interface ForecastRooms {
  readonly ledger: Pick<KeptLedger, 'countLookups'>;
  readonly pages: Pages;
  readonly steering: Pick<Steering, 'forecast'> | null;
}

/** Puts what has arrived beside the origins of the page that the navigation became, if it became one yet. */
export function attachForecasts(pages: Pages, { documentId, askedAtMs, arrived }: Navigation): void {
  const page = documentId === null ? undefined : pages.get(documentId);
  if (page === undefined) return;
  const asked: Page = { ...page, forecastAskedAtMs: askedAtMs };
  pages.update(arrived.reduce((p, { forecasts, atMs }) => withForecasts(p, forecasts, atMs), asked));
}

/** Uses the newest answer of a navigation. Rejects when rules or ledger fail. */
export async function useForecasts(
  navigation: Navigation,
  { ledger, pages, steering }: ForecastRooms,
  network: string,
): Promise<void> {
  const newest = navigation.arrived.at(-1);
  if (newest === undefined) return;
  // Before anything else: a rule counts for the answer that is on its way.
  await steering?.forecast(newest.forecasts, network, false);
  attachForecasts(pages, navigation);
  await ledger.countLookups(navigation.origin, navigation.site, newest.forecasts, network, Date.now());
}
