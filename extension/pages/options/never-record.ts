// The sites that are never recorded: adding and removing them by mouse and by keyboard.

import { getMessage } from '../../common/catalog.ts';
import type { Settings } from '../../common/settings.ts';
import { isPublicSuffix, siteOfUrl } from '../../common/site.ts';
import { arrange, byId, leftToRight, make, makeButton, setText } from '../ui/elements.ts';
import { save } from '../ui/saving.ts';

let sites: readonly string[] = [];
/** As long as a site is listed its row stays, so that neither focus nor a click in progress is lost. */
const rows = new Map<string, HTMLElement>();

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

function rowOf(site: string): HTMLElement {
  const known = rows.get(site);
  if (known !== undefined) return known;
  const words = getMessage('optionsNeverRemove');
  const button = makeButton('button', [words], () => void remove(button, site));
  button.setAttribute('aria-label', getMessage('optionsNeverRemoveSite', { site }));
  const row = make('li', 'row', leftToRight(site, 'name'), button);
  rows.set(site, row);
  return row;
}

/** Shows the list in force. */
export function showNeverRecord({ neverRecord }: Settings): void {
  sites = neverRecord;
  byId('never-none').hidden = sites.length > 0;
  for (const site of rows.keys()) if (!sites.includes(site)) rows.delete(site);
  arrange(byId('never-list'), 'li', sites.map(rowOf));
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
