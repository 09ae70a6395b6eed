// All data: its export and import, done by the page itself, so that a large file never crosses a port, and its deletion.

import { messageOf } from '@photofinish/shared/web/untrusted';
import { getMessage, type MessageKey } from '../../common/catalog.ts';
import { IMPORT_CHANNEL, type PopupEvent } from '../../common/messages.ts';
import type { PopupRequest } from '../../common/popup-requests.ts';
import { pageStore } from '../../common/store/page-store.ts';
import { DataError, type DataErrorCode } from '../../ledger/data-document.ts';
import { openLedger } from '../../ledger/ledger.ts';
import { CONSENTS, type Consent, exportData, type ImportResult, importData } from '../../ledger/transfer.ts';
import { isDisabled, onClick, setDisabled } from '../ui/disabled-button.ts';
import { byId, saveFile, setText } from '../ui/elements.ts';
import { saved } from '../ui/saving.ts';

const REFUSALS: Readonly<Record<DataErrorCode, MessageKey>> = {
  'not-data': 'optionsImportNotData',
  newer: 'optionsImportNewer',
  damaged: 'optionsImportDamaged',
  'bad-row': 'optionsImportBadRow',
};
/** The file's name, with the day in the user's time zone. */
export function dataFileName(now: Date): string {
  const [year, month, day] = [now.getFullYear(), now.getMonth() + 1, now.getDate()];
  const two = (part: number) => String(part).padStart(2, '0');
  return `photofinish-data-${year}-${two(month)}-${two(day)}.json`;
}

/** Why a file was not imported, in words. */
export function importFailure(error: unknown): string {
  const message = messageOf(error);
  return getMessage(error instanceof DataError ? REFUSALS[error.code] : 'optionsImportFailed', { message });
}

/** Runs export or import with both buttons shown as disabled, and announces start and end. */
async function run(begun: string, work: () => Promise<string>): Promise<void> {
  const buttons = ['export', 'import'].map((id) => byId(id));
  for (const button of buttons) setDisabled(button, true);
  setText(byId('transfer-result'), begun);
  setText(byId('transfer-result'), await work());
  setText(byId('transfer-progress'), '');
  for (const button of buttons) setDisabled(button, false);
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

/** What was imported, and what was left out and why. */
export function importedText({ rows, future, excluded, foreign, refused }: ImportResult): string {
  return [
    foreign === 0
      ? getMessage('optionsImported', { count: rows.records })
      : getMessage('optionsImportedRaces', { count: rows.races }),
    ...(foreign === 0 ? [] : [getMessage('optionsImportForeign', { count: foreign })]),
    ...(future === 0 ? [] : [getMessage('optionsImportFuture', { count: future })]),
    ...(excluded === 0 ? [] : [getMessage('optionsImportExcluded', { count: excluded })]),
    ...(refused === 0 ? [] : [getMessage('optionsImportKept', { count: refused })]),
  ].join(' ');
}

async function imported(file: File): Promise<string> {
  try {
    await saved();
    const result = await importData(openLedger(), pageStore, file, {
      nowMs: Date.now(),
      consent: (wanted, { retentionDays }) => askConsents(wanted, retentionDays),
      onRows: (done, of) => setText(byId('transfer-progress'), getMessage('optionsImportRows', { done, of })),
    });
    return importedText(result);
  } catch (error) {
    return importFailure(error);
  }
}

/** Makes both buttons work; `onImported` is called after each import, which may have ended halfway. */
export function wireTransfer(onImported: () => void): void {
  const input = byId<HTMLInputElement>('import-file');
  onClick(byId('export'), () => void run(getMessage('optionsExporting'), exported));
  onClick(byId('import'), () => input.click());
  input.addEventListener('change', () => {
    const [file] = input.files ?? [];
    // Allows the same file to be chosen again.
    if (file !== undefined)
      void run(getMessage('optionsImporting'), () => imported(file)).then(() => {
        input.value = '';
        new BroadcastChannel(IMPORT_CHANNEL).postMessage(null);
        onImported();
      });
  });
}

// Asks for consent, one by one, to what an imported file would switch on. The default answer changes nothing.

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
  // When closed with the keyboard, the dialog returns the previous value.
  dialog.returnValue = '';
  byId<HTMLButtonElement>('consent-yes').value = consent;
  dialog.showModal();
  return answer;
}

/** What the user consents to of what the file requires; its retention is `retentionDays`. */
async function askConsents(wanted: readonly Consent[], retentionDays: number): Promise<ReadonlySet<Consent>> {
  const given = new Set<Consent>();
  for (const consent of CONSENTS)
    if (wanted.includes(consent) && (await ask(consent, retentionDays))) given.add(consent);
  return given;
}

// Deleting everything: asks for confirmation, and then reports what was deleted, including at the helper.

type WipeResult = Extract<PopupEvent, { type: 'wiped' }>;

/** The result, in words. */
export function wipedText({ helperRecords, trouble }: WipeResult): string {
  if (trouble !== null) return getMessage('optionsWipeFailed', { message: trouble });
  if (helperRecords === null) return getMessage('optionsWipedWithoutHelper');
  return getMessage('optionsWiped', { count: helperRecords });
}

function finish(words: string): void {
  setDisabled(byId('wipe'), false);
  setText(byId('wipe-result'), words);
}

/** Shows the result. */
export function showWiped(wiped: WipeResult): void {
  finish(wipedText(wiped));
}

/** The background was terminated before it answered. */
export function loseWipe(): void {
  if (isDisabled(byId('wipe'))) finish(getMessage('optionsWipeUnanswered'));
}

/** Makes the button open the dialog, and the dialog's button delete. */
export function wireWipe(send: (request: PopupRequest) => boolean): void {
  const dialog = byId<HTMLDialogElement>('wipe-dialog');
  const button = byId('wipe');
  onClick(button, () => {
    setText(byId('wipe-result'), '');
    dialog.showModal();
  });
  byId('wipe-cancel').addEventListener('click', () => dialog.close());
  byId('wipe-confirm').addEventListener('click', () => {
    dialog.close();
    setDisabled(button, true);
    if (send({ type: 'wipe' })) setText(byId('wipe-result'), getMessage('optionsWiping'));
    else loseWipe();
  });
}
