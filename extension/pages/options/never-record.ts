// The sites that are never recorded: adding and removing them by mouse and by keyboard.

import { getMessage } from '../../common/catalog.ts';
import type { Settings } from '../../common/settings.ts';
import { isPublicSuffix, siteOfUrl } from '../../common/site.ts';
import { byId, leftToRight, make, makeButton, setText } from '../ui/elements.ts';
import { save } from '../ui/saving.ts';

let sites: readonly string[] = [];

async function remove(button: HTMLElement, site: string): Promise<void> {
  const at = sites.indexOf(site);
  const settings = await save(button, ({ neverRecord }) => ({
    neverRecord: neverRecord.filter((other) => other !== site),
  }));
  if (settings === null) return;
  showNeverRecord(settings);
  // The button is gone: focus moves to its position in the list, or to the field above if the list is empty.
  const buttons = byId('never-list').querySelectorAll('button');
  (buttons[Math.min(at, buttons.length - 1)] ?? byId('never-site')).focus();
}

function row(site: string): HTMLElement {
  const words = getMessage('optionsNeverRemove');
  const button = makeButton('button', [words], () => void remove(button, site));
  button.setAttribute('aria-label', getMessage('optionsNeverRemoveSite', { site }));
  return make('li', 'row', leftToRight(site, 'name'), button);
}

const showRows = keepRows(() => byId('never-list') as RowList<HTMLElement>, row);

/** Shows the list in force. */
export function showNeverRecord({ neverRecord }: Settings): void {
  sites = neverRecord;
  byId('never-none').hidden = sites.length > 0;
  showRows(sites);
}

function tell(input: HTMLInputElement, error: string): void {
  setText(byId('never-error'), error);
  input.setAttribute('aria-invalid', String(error !== ''));
}

async function add(): Promise<void> {
  const input = byId<HTMLInputElement>('never-site');
  const entered = input.value;
  const site = siteFromEntry(entered);
  if (site === null) return tell(input, getMessage('optionsNeverNoSite'));
  // Names below it are sites of their own, which it would not exclude. An address means its host alone, which may serve
  // pages itself.
  const isAddress = /^\s*https?:\/\/(?!\*)/i.test(entered);
  if (!isAddress && isPublicSuffix(site))
    return tell(input, getMessage('optionsNeverSuffix', { suffix: site }));
  tell(input, '');
  // Applied to the stored list: the displayed one may lack a site added a moment ago.
  const settings = await save(input, ({ neverRecord }) => {
    if (!neverRecord.includes(site)) return { neverRecord: [...neverRecord, site].toSorted() };
    tell(input, getMessage('optionsNeverAlready', { site }));
    return null;
  });
  if (settings === null) return;
  showNeverRecord(settings);
  // The next entry may have been started already.
  if (input.value === entered) input.value = '';
}

/** Makes the form add what was entered. */
export function wireNeverRecord(): void {
  byId('never-form').addEventListener('submit', (event) => {
    event.preventDefault();
    void add();
  });
}

/** The registrable domain that the text refers to, with or without `*.` before a host; null if there is none. */
export function siteFromEntry(text: string): string | null {
  const entry = text.trim().replace(/^([a-z][a-z0-9+.-]*:\/\/)?\*\./i, '$1');
  // Browsers differ in whether a host may contain an asterisk.
  if (entry === '' || /\s|^[^/?#]*(?:\/\/[^/?#]*)?\*/.test(entry)) return null;
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(entry) ? entry : `https://${entry}`;
  return siteOfUrl(url);
}

// A list that keeps its rows' elements as long as the items are listed, so that neither focus nor a click in progress
// is lost when the list changes elsewhere.

/** The part of a list's element that is used. */
export interface RowList<Row> {
  readonly children: { readonly [index: number]: unknown };
  insertBefore(row: Row, before: Row | null): unknown;
}

/** Returns the function that makes the list show these keys, in this order. */
export function keepRows<Row extends { remove(): void }>(
  list: () => RowList<Row>,
  make: (key: string) => Row,
): (keys: readonly string[]) => void {
  const rows = new Map<string, Row>();
  return (keys) => {
    const wanted = new Set(keys);
    for (const [key, row] of rows) {
      if (wanted.has(key)) continue;
      row.remove();
      rows.delete(key);
    }
    const { children } = list();
    for (const [i, key] of keys.entries()) {
      const row = rows.get(key) ?? make(key);
      rows.set(key, row);
      if (children[i] !== row) list().insertBefore(row, (children[i] as Row | undefined) ?? null);
    }
  };
}
