// All data out to a file and in from one: the page does it itself, so that a large file never crosses a port.

import { getMessage, type MessageKey } from '../../common/catalog.ts';
import { pageStore } from '../../common/store/page-store.ts';
import { CONSENTS, type Consent } from '../../ledger/consents.ts';
import { DataError, type DataErrorCode } from '../../ledger/data-document.ts';
import { openLedger } from '../../ledger/ledger.ts';
import { exportData, importData } from '../../ledger/transfer.ts';
import { byId, saveFile, setText } from '../ui/elements.ts';
import { messageOf, saved } from '../ui/saving.ts';

const REFUSALS: Readonly<Record<DataErrorCode, MessageKey>> = {
  'not-data': 'optionsImportNotData',
  newer: 'optionsImportNewer',
  damaged: 'optionsImportDamaged',
  'bad-row': 'optionsImportBadRow',
  'future-date': 'optionsImportFuture',
};
/** The file's name: the day is the user's own. */
export function dataFileName(now: Date): string {
  const [year, month, day] = [now.getFullYear(), now.getMonth() + 1, now.getDate()];
  const two = (part: number) => String(part).padStart(2, '0');
  return `photofinish-data-${year}-${two(month)}-${two(day)}.json`;
}

/** Why a file was not brought in, in words. */
export function importFailure(error: unknown): string {
  const message = messageOf(error);
  return getMessage(error instanceof DataError ? REFUSALS[error.code] : 'optionsImportFailed', { message });
}

/** Runs one of the two with both buttons off, and says its beginning and its end. */
async function run(begun: string, work: () => Promise<string>): Promise<void> {
  const buttons = ['export', 'import'].map((id) => byId<HTMLButtonElement>(id));
  for (const button of buttons) button.disabled = true;
  setText(byId('transfer-result'), begun);
  setText(byId('transfer-result'), await work());
  setText(byId('transfer-progress'), '');
  for (const button of buttons) button.disabled = false;
}

async function exported(): Promise<string> {
  const name = dataFileName(new Date());
  try {
    await saved();
    saveFile(await exportData(openLedger(), pageStore, Date.now()), name);
    return getMessage('optionsExported', { file: name });
  } catch (error) {
    return getMessage('optionsExportFailed', { message: messageOf(error) });
  }
}

async function imported(file: File): Promise<string> {
  try {
    await saved();
    const { rows, refused } = await importData(openLedger(), pageStore, file, {
      nowMs: Date.now(),
      consent: (wanted, { retentionDays }) => askConsents(wanted, retentionDays),
      onRows: (done, of) => setText(byId('transfer-progress'), getMessage('optionsImportRows', { done, of })),
    });
    const words = getMessage('optionsImported', { count: rows.records });
    return refused === 0 ? words : `${words} ${getMessage('optionsImportKept', { count: refused })}`;
  } catch (error) {
    return importFailure(error);
  }
}

/** Makes both buttons work. */
export function wireTransfer(): void {
  const input = byId<HTMLInputElement>('import-file');
  byId('export').addEventListener('click', () => void run(getMessage('optionsExporting'), exported));
  byId('import').addEventListener('click', () => input.click());
  input.addEventListener('change', () => {
    const [file] = input.files ?? [];
    // The same file may be chosen again.
    if (file !== undefined)
      void run(getMessage('optionsImporting'), () => imported(file)).then(() => {
        input.value = '';
      });
  });
}

// Asks, one by one, for what an imported file would switch on. The answer that changes nothing is the one at hand.

const QUESTIONS: Record<Consent, MessageKey> = {
  races: 'optionsImportAskRaces',
  'first-visit-races': 'optionsImportAskFirstVisit',
  'private-windows': 'optionsImportAskPrivate',
  steering: 'optionsImportAskSteering',
  retention: 'optionsImportAskRetention',
};

function ask(consent: Consent, retentionDays: number): Promise<boolean> {
  const dialog = byId<HTMLDialogElement>('consent-dialog');
  setText(byId('consent-what'), getMessage(QUESTIONS[consent], { count: retentionDays }));
  const answer = new Promise<boolean>((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === consent), { once: true });
  });
  // Closed by the keyboard it gives what was set before.
  dialog.returnValue = '';
  byId<HTMLButtonElement>('consent-yes').value = consent;
  dialog.showModal();
  return answer;
}

/** What the user consents to of what the file wants; its retention is `retentionDays`. */
async function askConsents(wanted: readonly Consent[], retentionDays: number): Promise<ReadonlySet<Consent>> {
  const given = new Set<Consent>();
  for (const consent of CONSENTS)
    if (wanted.includes(consent) && (await ask(consent, retentionDays))) given.add(consent);
  return given;
}
