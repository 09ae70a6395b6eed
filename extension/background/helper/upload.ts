// Empties the ledger's outbox into the helper: in order, one message at a time, and a row is forgotten only after
// the helper said that it is durable there. Without a helper the outbox waits, bounded by the ledger.

import { MAX_INBOUND_BYTES, MAX_OBSERVATIONS } from '@photofinish/shared/port/wire';
import type { Observation } from '@photofinish/shared/web/observation';
import { HelperError } from '../../common/helper/state.ts';
import type { Ledger, OutboxEntry } from '../../ledger/ledger.ts';

export interface UploadDeps {
  readonly ledger: Pick<Ledger, 'outbox' | 'acknowledge'>;
  readonly observed: (observations: readonly Observation[]) => Promise<void>;
  /** Whether what was recorded of this site may still be told. */
  readonly mayRecord: (subject: { site: string }) => boolean;
}

const ROWS_AT_ONCE = 50;
/** The helper ends at a frame over MAX_INBOUND_BYTES; a character is three bytes at most, and the frame has a rim. */
const MAX_MESSAGE_CHARS = Math.floor(MAX_INBOUND_BYTES / 3) - 1024;

/** In order, in as few messages as the helper's limits allow: by number, and by size, which servers can blow up. */
function messagesOf(observations: readonly Observation[]): Observation[][] {
  const messages: Observation[][] = [];
  let chars = 0;
  for (const observation of observations) {
    const size = JSON.stringify(observation).length + 1;
    const last = messages.at(-1);
    if (last !== undefined && last.length < MAX_OBSERVATIONS && chars + size <= MAX_MESSAGE_CHARS) {
      last.push(observation);
      chars += size;
    } else {
      messages.push([observation]);
      chars = size;
    }
  }
  return messages;
}

async function sendRows(
  { ledger, observed, mayRecord }: UploadDeps,
  rows: readonly OutboxEntry[],
): Promise<void> {
  const told = rows.flatMap((row) => row.observations.filter(({ site }) => mayRecord({ site })));
  for (const message of messagesOf(told)) {
    try {
      await observed(message);
    } catch (error) {
      // What the helper can never read would block everything behind it for ever.
      if (!(error instanceof HelperError && error.code === 'bad-message')) throw error;
    }
  }
  await ledger.acknowledge(rows.map((row) => row.key));
}

/** Gives `upload`, which sends all there is; a call while one runs makes that one look again before it ends. */
export function createUpload(deps: UploadDeps): () => Promise<void> {
  let running: Promise<void> | null = null;
  let again = false;

  const run = async (): Promise<void> => {
    try {
      do {
        again = false;
        for (;;) {
          const rows = await deps.ledger.outbox(ROWS_AT_ONCE);
          if (rows.length === 0) break;
          await sendRows(deps, rows);
        }
      } while (again);
    } finally {
      running = null;
    }
  };

  return () => {
    again = true;
    running ??= run();
    return running;
  };
}
