// Export of all data to a file and import from one: `photofinish.data/2`, a JSON document of the browser's name,
// settings, names of networks and rows, streamed so that a heavy user's year does not exhaust a page's memory. The
// helper's cache belongs to the helper and is not included.

import { originParts } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import { BROWSER } from '../common/edition.ts';
import { addNames, loadNames } from '../common/network-names.ts';
import { emptyDay } from '../common/records/fold.ts';
import type { DayTotal } from '../common/records/schema.ts';
import {
  changeSettings,
  loadSettings,
  RACE_TIMES,
  SETTINGS_VERSION,
  type Settings,
} from '../common/settings.ts';
import { siteOfHost } from '../common/site.ts';
import type { Store } from '../common/store/store.ts';
import {
  DATA_VERSION,
  DataError,
  type Piece,
  piecesOf,
  type RowPiece,
  totalSchema,
} from './data-document.ts';
import type { Ledger } from './ledger.ts';
import { NO_ROWS, type RowCounts, SECTIONS, type Section, weight } from './merge.ts';
import { emptyTotal, movedTotal, totalWithout } from './row-changes.ts';

/** Rows imported per transaction: many enough to be fast, few enough that recording continues in between. */
const WRITE_ROWS = 1000;

/** Everything the extension keeps, as one file and a consistent snapshot; nothing is recorded while it is collected. */
export async function exportData(
  ledger: Pick<Ledger, 'snapshot'>,
  store: Pick<Store, 'get'>,
  nowMs: number,
): Promise<Blob> {
  const bodies: Record<Section, Blob[]> = { races: [], days: [], totals: [], records: [] };
  const rows = { ...NO_ROWS };
  const settings = { version: SETTINGS_VERSION, settings: await loadSettings(store) };
  const networkNames = Object.fromEntries(await loadNames(store));
  await ledger.snapshot((section, some) => {
    const before = rows[section] === 0 ? '\n' : ',\n';
    // The browser stores a blob outside the page's heap.
    bodies[section].push(new Blob([before, some.map((row) => JSON.stringify(row)).join(',\n')]));
    rows[section] += some.length;
  });
  const createdAt = new Date(nowMs).toISOString();
  const parts = { schema: DATA_VERSION, createdAt, browser: BROWSER, settings, networkNames };
  const head = JSON.stringify(parts).slice(0, -1);
  const body = SECTIONS.flatMap((section) => [`,\n"${section}":[`, ...bodies[section], ']']);
  const end = `,\n"rows":${JSON.stringify(rows)}}\n`;
  return new Blob([head, ...body, end], { type: 'application/json' });
}

export interface ImportOptions {
  readonly nowMs: number;
  /** Asks which of these, for which the file's options require consent, are granted; a file may require none. */
  readonly consent: (wanted: readonly Consent[], file: Settings) => Promise<ReadonlySet<Consent>>;
  /** Reports how many of the file's rows have been imported. */
  readonly onRows?: (done: number, of: number) => void;
}

/** What was imported. */
export interface ImportResult {
  /** Rows of the file by section, without those left out. */
  readonly rows: RowCounts;
  /** Rows that were left out because they are dated later than tomorrow. */
  readonly future: number;
  /** Rows that were left out because their site is never recorded, and totals of nothing else. */
  readonly excluded: number;
  /** Rows that were left out because they describe what another browser did. */
  readonly foreign: number;
  /** Options for which consent was required and not given; they remain unchanged. */
  readonly refused: number;
}

function isRow(piece: Piece): piece is RowPiece {
  return (SECTIONS as readonly string[]).includes(piece.section);
}

type SiteRow = Exclude<RowPiece, { readonly section: 'totals' }>;

/** The site it was recorded on, unless it is a race, and the origin's own. */
function sitesOfRow({ section, row }: SiteRow): string[] {
  const own = siteOfHost(originParts(row.origin).host);
  return section === 'races' ? [own] : [row.site, own];
}

/**
 * Passes on the rows of a file in its order, without those of sites that are never recorded (null); totals follow the
 * days and are passed on without the days left out, or not at all if they contain nothing else.
 */
function withoutSites(neverRecord: ReadonlySet<string>): (piece: RowPiece) => RowPiece | null {
  // A file may have half a million rows, whose sites need not be found for an empty list.
  if (neverRecord.size === 0) return (piece) => piece;
  const leftOut = new Map<string, DayTotal>();
  return (piece) => {
    if (piece.section === 'totals') {
      const { day, network } = piece.row;
      const part = leftOut.get(`${day} ${network}`);
      if (part === undefined) return piece;
      const row = totalWithout(piece.row, part);
      // A total that does not contain its own rows adds nothing to those imported.
      return v.is(totalSchema, row) && weight(row) > 0 ? { section: 'totals', row } : null;
    }
    if (!sitesOfRow(piece).some((site) => neverRecord.has(site))) return piece;
    if (piece.section === 'days') {
      const { day, site, origin, network } = piece.row;
      const key = `${day} ${network}`;
      const change = { before: emptyDay(day, site, origin, network), after: piece.row };
      leftOut.set(key, movedTotal(leftOut.get(key) ?? emptyTotal(day, network), change));
    }
    return null;
  };
}

/**
 * Imports a file's data, except rows dated later than tomorrow and those of sites that are never recorded. Of another
 * browser's file only the races are imported, because the other rows would be shown as what this browser did. The whole
 * file is validated first; a DataError says why it is rejected, and then nothing has changed. Settings are taken from
 * the file as far as consent was given, and networks that have a name here keep it. Rows are merged: of two rows with
 * one key the one that counted more is kept (see `merge.ts`), so importing a file again changes nothing, and completes
 * an interrupted import.
 */
export async function importData(
  ledger: Pick<Ledger, 'merge'>,
  store: Pick<Store, 'get' | 'replace'>,
  file: Blob,
  { nowMs, consent, onRows = () => {} }: ImportOptions,
): Promise<ImportResult> {
  let settings: Settings | null = null;
  // Files from before they named their browser count as this one's.
  let browser = BROWSER;
  let networkNames: Readonly<Record<string, string>> = {};
  const rows = { ...NO_ROWS };
  let future = 0;
  for await (const pieces of piecesOf(file, nowMs))
    for (const piece of pieces)
      if (piece.section === 'settings') settings = piece.row;
      else if (piece.section === 'browser') browser = piece.row;
      else if (piece.section === 'networkNames') networkNames = piece.row;
      else if (piece.section === 'future') future += 1;
      else rows[piece.section] += 1;
  if (settings === null) throw new DataError('damaged', 'the file has no settings');
  const imported = settings;
  const wanted = consentsWanted(await loadSettings(store), imported);
  const given = wanted.length === 0 ? new Set<Consent>() : await consent(wanted, imported);
  // Options may have changed while the user was asked.
  await changeSettings(store, (now) => withConsents(now, imported, given));
  await addNames(store, networkNames);
  const recordable = withoutSites(new Set((await loadSettings(store)).neverRecord));

  const of = SECTIONS.reduce((sum, section) => sum + rows[section], 0);
  let excluded = 0;
  let foreign = 0;
  let done = 0;
  let waiting: RowPiece[] = [];
  const write = async (): Promise<void> => {
    const bySection = Map.groupBy(waiting, ({ section }) => section);
    waiting = [];
    // The file's sections are ordered by dependency, and this keeps their order.
    for (const [section, some] of bySection) {
      await ledger.merge(section, some.map(({ row }) => row) as never);
      done += some.length;
      onRows(done, of);
    }
  };
  for await (const pieces of piecesOf(file, nowMs))
    for (const piece of pieces) {
      if (!isRow(piece)) continue;
      const isForeign = browser !== BROWSER && piece.section !== 'races';
      const kept = isForeign ? null : recordable(piece);
      if (kept === null) {
        if (isForeign) foreign += 1;
        else excluded += 1;
        done += 1;
        rows[piece.section] -= 1;
      } else waiting.push(kept);
      if (waiting.length >= WRITE_ROWS) await write();
    }
  await write();
  return { rows, future, excluded, foreign, refused: wanted.filter((each) => !given.has(each)).length };
}

// Which options of an imported file are not adopted unless the user agrees to each: those that let programs act or look
// where they previously did not, and those that delete data. A file sent by somebody else could otherwise switch them
// on silently. Pure.

export const CONSENTS = ['races', 'first-visit-races', 'private-windows', 'steering', 'retention'] as const;
export type Consent = (typeof CONSENTS)[number];

/** What the file's options require consent for, given the current ones. */
export function consentsWanted(now: Settings, file: Settings): Consent[] {
  const more = RACE_TIMES.indexOf(file.raceWhen) > RACE_TIMES.indexOf(now.raceWhen);
  const wanted: Record<Consent, boolean> = {
    races: more && file.raceWhen === 'click',
    'first-visit-races': more && file.raceWhen === 'first-visit',
    'private-windows': file.privateWindows && !now.privateWindows,
    steering: file.steering && !now.steering,
    retention: file.retentionDays < now.retentionDays,
  };
  return CONSENTS.filter((consent) => wanted[consent]);
}

/** The options after the import: the file's, except where consent was required and not given. */
export function withConsents(now: Settings, file: Settings, given: ReadonlySet<Consent>): Settings {
  const refused = new Set(consentsWanted(now, file).filter((consent) => !given.has(consent)));
  const races = refused.has('races') || refused.has('first-visit-races');
  return {
    ...file,
    raceWhen: races ? now.raceWhen : file.raceWhen,
    privateWindows: refused.has('private-windows') ? now.privateWindows : file.privateWindows,
    steering: refused.has('steering') ? now.steering : file.steering,
    retentionDays: refused.has('retention') ? now.retentionDays : file.retentionDays,
    // Sites excluded in either set of options remain excluded.
    neverRecord: [...new Set([...now.neverRecord, ...file.neverRecord])].toSorted(),
    welcomed: now.welcomed,
  };
}
