// Requests that were counted as unknown and are known after all: counted as what they were, and then shown so.

import { withReveal } from '../../common/page/model.ts';
import type { KeptLedger } from '../../ledger/keeping.ts';
import type { Pages } from '../tab/pages.ts';
import { type Revealed, revealsOf } from './told.ts';

export interface RevealRooms {
  readonly ledger: Pick<KeptLedger, 'reveal'>;
  readonly pages: Pages;
}

/** Rejects when storage fails, and then nothing was counted. */
export async function reveal(revealed: readonly Revealed[], { ledger, pages }: RevealRooms): Promise<void> {
  const [first] = revealed;
  if (first === undefined) return;
  const key = `told:${first.observation.id}`;
  await ledger.reveal({ key, reveals: revealsOf(revealed), nowMs: Date.now() });
  for (const { documentId, observation, protocol } of revealed) {
    const page = documentId === null ? undefined : pages.get(documentId);
    if (page !== undefined) pages.update(withReveal(page, observation, protocol));
  }
}
