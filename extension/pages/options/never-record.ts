// The sites of which nothing is ever recorded: adding one, taking one off the list, by mouse and by keyboard.

import { getMessage } from '../../common/catalog.ts';
import type { Settings } from '../../common/settings.ts';
import { siteOfUrl } from '../../common/site.ts';
import { byId, make, setText } from '../ui/elements.ts';
import { save } from '../ui/saving.ts';

let sites: readonly string[] = [];

function siteName(site: string): HTMLElement {
  const name = make('bdi', 'name', site);
  name.dir = 'ltr';
  return name;
}

async function remove(button: HTMLElement, site: string): Promise<void> {
  const at = sites.indexOf(site);
  const settings = await save(button, ({ neverRecord }) => ({
    neverRecord: neverRecord.filter((other) => other !== site),
  }));
  if (settings === null) return;
  showNeverRecord(settings);
  // The button is gone: its place in the list keeps the focus, or the field above when none is left.
  const buttons = byId('never-list').querySelectorAll('button');
  (buttons[Math.min(at, buttons.length - 1)] ?? byId('never-site')).focus();
}

function row(site: string): HTMLElement {
  const item = make('li', 'row');
  const button = make('button', 'button', getMessage('optionsNeverRemove'));
  button.type = 'button';
  button.setAttribute('aria-label', getMessage('optionsNeverRemoveSite', { site }));
  button.addEventListener('click', () => void remove(button, site));
  item.append(siteName(site), button);
  return item;
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
  tell(input, site === null ? getMessage('optionsNeverNoSite') : '');
  if (site === null) return;
  // Asked of what is stored by then: the list that is shown may not have one that was entered a moment ago.
  const settings = await save(input, ({ neverRecord }) => {
    if (!neverRecord.includes(site)) return { neverRecord: [...neverRecord, site].toSorted() };
    tell(input, getMessage('optionsNeverAlready', { site }));
    return null;
  });
  if (settings === null) return;
  showNeverRecord(settings);
  // The next one may be on its way already.
  if (input.value === entered) input.value = '';
}

/** Makes the form add what is written. */
export function wireNeverRecord(): void {
  byId('never-form').addEventListener('submit', (event) => {
    event.preventDefault();
    void add();
  });
}

/** The registrable domain that the text means; null when it means none. */
export function siteFromEntry(text: string): string | null {
  const entry = text.trim();
  if (entry === '' || /\s/.test(entry)) return null;
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(entry) ? entry : `https://${entry}`;
  return siteOfUrl(url);
}

// A list whose rows stay the elements that they are while what they stand for is listed, so that neither the focus nor a
// press under way is lost when the list changes elsewhere.

/** What of a list's element is used. */
export interface RowList<Row> {
  readonly children: { readonly [index: number]: unknown };
  insertBefore(row: Row, before: Row | null): unknown;
}

/** Gives the function that makes the list show these keys, in this order. */
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
