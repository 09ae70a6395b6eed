// Requests that were counted as unknown and are known after all: counted as what they were, and then shown so.

import { withBackfill } from '../../common/page/model.ts';
import type { KeptLedger } from '../../ledger/keeping.ts';
import type { Pages } from '../tab/pages.ts';
import { type BackfilledObservation, backfillsOf } from './devtools-feed.ts';

export interface BackfillRooms {
  readonly ledger: Pick<KeptLedger, 'backfill'>;
  readonly pages: Pages;
}

/** Rejects when storage fails, and then nothing was counted. */
export async function backfill(
  backfilled: readonly BackfilledObservation[],
  { ledger, pages }: BackfillRooms,
): Promise<void> {
  const [first] = backfilled;
  if (first === undefined) return;
  const key = `told:${first.observation.id}`;
  await ledger.backfill({ key, backfills: backfillsOf(backfilled), nowMs: Date.now() });
  for (const { documentId, observation, protocol } of backfilled) {
    const page = documentId === null ? undefined : pages.get(documentId);
    if (page !== undefined) pages.update(withBackfill(page, observation, protocol));
  }
}
