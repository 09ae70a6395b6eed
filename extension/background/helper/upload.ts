// Empties the ledger's outbox into the helper: in order, one message at a time. A row is deleted only after the helper
// confirmed that it is durable there. Without a helper the outbox waits, bounded by the ledger.

import { MAX_INBOUND_BYTES, MAX_OBSERVATIONS } from '@photofinish/shared/port/wire';
import type { Observation } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { HelperError } from '../../common/helper/state.ts';
import type { Ledger, OutboxEntry } from '../../ledger/ledger.ts';

export interface UploadDeps {
  readonly ledger: Pick<Ledger, 'outbox' | 'acknowledge'>;
  readonly observed: (observations: readonly Observation[]) => Promise<void>;
  /** Whether what was recorded of this origin on this site may still be sent. */
  readonly mayRecord: (subject: { site: string; origin: Origin }) => boolean;
}

const ROWS_AT_ONCE = 50;
/**
 * The helper exits on a frame over MAX_INBOUND_BYTES; a character is at most three bytes, and the envelope needs some
 * too.
 */
const MAX_MESSAGE_CHARS = Math.floor(MAX_INBOUND_BYTES / 3) - 1024;

/** In order, in as few messages as the helper's limits allow: by count, and by size, which servers can inflate. */
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
  const recordable = rows.flatMap((row) =>
    row.observations.filter(({ site, origin }) => mayRecord({ site, origin })),
  );
  for (const message of messagesOf(recordable)) {
    try {
      await observed(message);
    } catch (error) {
      // What the helper can never read would block everything behind it forever.
      if (!(error instanceof HelperError && error.code === 'bad-message')) throw error;
    }
  }
  await ledger.acknowledge(rows.map((row) => row.key));
}

/** Whether the helper could only keep the rows in memory, if at all. */
async function isRefused(deps: UploadDeps, rows: readonly OutboxEntry[]): Promise<boolean> {
  try {
    await sendRows(deps, rows);
    return false;
  } catch (error) {
    if (error instanceof HelperError && error.code === 'cache-unavailable') return true;
    throw error;
  }
}

/**
 * Returns `upload`, which sends everything there is; a call while one is running makes that one check again before it
 * ends. To a helper that can store nothing, each upload offers the oldest rows again, the others only once.
 */
export function createUpload(deps: UploadDeps): () => Promise<void> {
  let running: Promise<void> | null = null;
  let again = false;
  /** The key of the last row that was refused; 0: none. */
  let refused = 0;

  const run = async (): Promise<void> => {
    try {
      do {
        again = false;
        for (let above = 0; ; ) {
          const rows = await deps.ledger.outbox(ROWS_AT_ONCE, above);
          const last = rows.at(-1);
          if (last === undefined) break;
          if (await isRefused(deps, rows)) above = refused = Math.max(refused, last.key);
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
