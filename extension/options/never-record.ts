// The sites of which nothing is ever recorded: adding one, taking one off the list, by mouse and by keyboard.
import type { Settings } from '../settings.ts';
import { byId, make, setText } from '../ui/elements.ts';
import { say } from '../words.ts';
import { save } from './saving.ts';
import { siteFromEntry } from './site-entry.ts';

let sites: readonly string[] = [];

function siteName(site: string): HTMLElement {
  const name = make('bdi', 'name', site);
  name.dir = 'ltr';
  return name;
}

async function remove(button: HTMLElement, site: string): Promise<void> {
  const at = sites.indexOf(site);
  const settings = await save(button, { neverRecord: sites.filter((other) => other !== site) });
  if (settings === null) return;
  showNeverRecord(settings);
  // The button is gone: its place in the list keeps the focus, or the field above when none is left.
  const buttons = byId('never-list').querySelectorAll('button');
  (buttons[Math.min(at, buttons.length - 1)] ?? byId('never-site')).focus();
}

function row(site: string): HTMLElement {
  const item = make('li', 'row');
  const button = make('button', 'button', say('optionsNeverRemove'));
  button.type = 'button';
  button.setAttribute('aria-label', say('optionsNeverRemoveSite', { site }));
  button.addEventListener('click', () => void remove(button, site));
  item.append(siteName(site), button);
  return item;
}

/** Shows the list in force. */
export function showNeverRecord({ neverRecord }: Settings): void {
  const changed = neverRecord.length !== sites.length || neverRecord.some((site, i) => site !== sites[i]);
  sites = neverRecord;
  byId('never-none').hidden = sites.length > 0;
  if (changed) byId('never-list').replaceChildren(...sites.map(row));
}

async function add(onAdded: (site: string) => void): Promise<void> {
  const input = byId<HTMLInputElement>('never-site');
  const entered = input.value;
  const site = siteFromEntry(entered);
  const known = site !== null && sites.includes(site);
  const error = site === null ? say('optionsNeverNoSite') : known ? say('optionsNeverAlready', { site }) : '';
  setText(byId('never-error'), error);
  input.setAttribute('aria-invalid', String(error !== ''));
  if (site === null || known) return;
  const settings = await save(input, { neverRecord: [...sites, site].toSorted() });
  if (settings === null) return;
  showNeverRecord(settings);
  // The next one may be on its way already.
  if (input.value === entered) input.value = '';
  onAdded(site);
}

/** Makes the form add what is written; `onAdded` is told each site that came to the list. */
export function wireNeverRecord(onAdded: (site: string) => void): void {
  byId('never-form').addEventListener('submit', (event) => {
    event.preventDefault();
    void add(onAdded);
  });
}
