// *Export report*: a small menu (scope and format), and the file, which the page generates itself.

import { messageOf } from '@photofinish/shared/web/untrusted';
import { getMessage } from '../../common/catalog.ts';
import { EXPORT_FORMATS, type ExportFormat, FORMATS } from '../report/export-names.ts';
import { byId, make, makeButton, setLine, setText } from '../ui/elements.ts';

let shownSite: string | null | undefined;

async function save(site: string | null, format: ExportFormat): Promise<void> {
  const words = byId('export-words');
  setText(words, getMessage('popupExportBuilding'));
  setLine(byId('export-failure'), '');
  try {
    // Firefox gives pages in private windows a separate storage, which is empty.
    if (chrome.extension.inIncognitoContext) throw new Error(getMessage('popupExportPrivate'));
    const { saveReport } = await import('../report/export-file.ts');
    const made = await saveReport({
      selection: { sites: site === null ? null : [site] },
      format,
      networkNames: false,
    });
    if (made === null) setText(words, getMessage('popupExportCancelled'));
    else setText(words, getMessage(made.sites === 0 ? 'popupExportEmpty' : 'popupExportSaved'));
  } catch (error) {
    setText(words, '');
    setLine(byId('export-failure'), getMessage('popupExportFailed', { why: messageOf(error) }));
  }
}

function setOpen(open: boolean): void {
  const menu = byId('export-menu');
  if (menu.hidden === !open) return;
  menu.hidden = !open;
  byId('export').setAttribute('aria-expanded', String(open));
  if (open) menu.querySelector<HTMLElement>('[role=menuitem]')?.focus();
  else if (menu.contains(document.activeElement) || document.activeElement === document.body)
    byId('export').focus();
}

function menuItems(): HTMLElement[] {
  return [...byId('export-menu').querySelectorAll<HTMLElement>('[role=menuitem]')];
}

function moveFocus(step: number): void {
  const items = menuItems();
  const at = items.indexOf(document.activeElement as HTMLElement);
  items.at((at + step) % items.length)?.focus();
}

function onKey(event: KeyboardEvent): void {
  const steps: Record<string, number> = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
  const step = steps[event.key];
  if (event.key === 'Escape') setOpen(false);
  else if (event.key === 'Home') menuItems()[0]?.focus();
  else if (event.key === 'End') menuItems().at(-1)?.focus();
  else if (step !== undefined) moveFocus(step);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function group(label: string, site: string | null): HTMLElement {
  const items = EXPORT_FORMATS.map((format) => {
    const { name } = FORMATS[format];
    const item = makeButton('item', [name], () => {
      setOpen(false);
      void save(site, format);
    });
    item.tabIndex = -1;
    item.setAttribute('role', 'menuitem');
    item.setAttribute('aria-label', getMessage('popupExportAs', { what: label, format: name }));
    return item;
  });
  const element = make('div', 'group', make('span', 'group-label', label), ...items);
  element.setAttribute('role', 'group');
  element.setAttribute('aria-label', label);
  return element;
}

/** The menu's contents for the site in view; without a site only the report of all sites. */
export function renderExport(site: string | null): void {
  if (shownSite === site) return;
  shownSite = site;
  const menu = byId('export-menu');
  const focused = menu.contains(document.activeElement);
  const groups = site === null ? [] : [group(getMessage('popupExportThis'), site)];
  menu.replaceChildren(...groups, group(getMessage('popupExportAll'), null));
  // The menu may be open when the page's site becomes known.
  if (focused) menu.querySelector<HTMLElement>('[role=menuitem]')?.focus();
}

/** Opens and closes the menu. */
export function wireExport(): void {
  const menu = byId('export-menu');
  byId('export').addEventListener('click', () => setOpen(menu.hidden !== false));
  menu.addEventListener('keydown', onKey);
  document.addEventListener('click', (event) => {
    const target = event.target as Node;
    if (!menu.hidden && !menu.contains(target) && !byId('export').contains(target)) setOpen(false);
  });
  menu.addEventListener('focusout', (event) => {
    if (event.relatedTarget instanceof Node && !menu.contains(event.relatedTarget)) setOpen(false);
  });
}
