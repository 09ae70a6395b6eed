// A profile with history: fills the extension's ledger from one of its pages, with the same rows for a seed as in the
// extension's unit tests.
import { join } from 'node:path';
import { build } from 'esbuild';
import { TOP } from '../scratch.ts';
import type { Session } from './session.ts';

const FIXTURE = join(TOP, 'extension/testing/filled-ledger.ts');

/** The amount of data; `extension/testing/filled-ledger.ts` documents each number. */
export interface Filling {
  readonly seed: number;
  readonly origins: number;
  readonly sites: number;
  readonly days: number;
  readonly daysPerOrigin: number;
  readonly raced: number;
}

/** A year of a heavy user. */
export const HEAVY: Filling = {
  seed: 1,
  origins: 100_000,
  sites: 20_000,
  days: 400,
  daysPerOrigin: 4,
  raced: 2000,
};

type RowCounts = Readonly<Record<'records' | 'days' | 'totals' | 'races', number>>;
interface Page {
  readonly filler: { fillLedger(filling: Filling & { readonly nowMs: number }): Promise<RowCounts> };
}

/** Fills a new session's ledger up to the present; returns the number of rows by store. */
export async function fillLedger(session: Session, filling: Filling): Promise<RowCounts> {
  const bundled = await build({
    entryPoints: [FIXTURE],
    bundle: true,
    format: 'iife',
    globalName: 'filler',
    write: false,
    logLevel: 'silent',
  });
  const tab = await session.openPage('popup/popup.html');
  try {
    await tab.inject(`${bundled.outputFiles[0]?.text ?? ''};globalThis.filler = filler;`);
    return await tab.evaluate(
      (given) => (globalThis as unknown as Page).filler.fillLedger({ ...given, nowMs: Date.now() }),
      filling,
    );
  } finally {
    await tab.close();
  }
}
