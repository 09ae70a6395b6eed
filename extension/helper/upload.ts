// Empties the ledger's outbox into the helper: in order, one message at a time, and a row is forgotten only after
// the helper said that it is durable there. Without a helper the outbox waits, bounded by the ledger.
import type { Observation } from '@photofinish/shared/observation';
import { MAX_OBSERVATIONS } from '@photofinish/shared/wire';
import type { Ledger, OutboxEntry } from '../ledger/ledger.ts';
import { HelperError } from './failure.ts';

export interface UploadDeps {
  readonly ledger: Pick<Ledger, 'outbox' | 'acknowledge'>;
  readonly observed: (observations: readonly Observation[]) => Promise<void>;
}

const ROWS_AT_ONCE = 50;

/** The rows whose observations fit one message together; always at least one row. */
function fitting(rows: readonly OutboxEntry[]): OutboxEntry[] {
  let total = 0;
  return rows.filter((row, i) => {
    total += row.observations.length;
    return i === 0 || total <= MAX_OBSERVATIONS;
  });
}

async function sendRows({ ledger, observed }: UploadDeps, rows: readonly OutboxEntry[]): Promise<void> {
  try {
    await observed(rows.flatMap((row) => row.observations));
  } catch (error) {
    // What the helper can never read would block everything behind it for ever.
    if (!(error instanceof HelperError && error.code === 'bad-message')) throw error;
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
          const rows = fitting(await deps.ledger.outbox(ROWS_AT_ONCE));
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
