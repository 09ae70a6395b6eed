// *Export report*: a small menu (what, in which format), the request to the background, and the file.
import type { Report } from '@photofinish/shared/report';
import { byId, make, setText } from '../ui/elements.ts';
import { say } from '../words.ts';
import { EXPORT_FORMATS, type ExportFormat, exportName, FORMAT_NAMES } from './export-names.ts';

interface Wanted {
  readonly site: string | null;
  readonly format: ExportFormat;
}

/** Reports asked for and not yet answered, by the number of the request; answers may overtake each other. */
const wanted = new Map<number, Wanted>();
let asked = 0;
let shownSite: string | null | undefined;

/** Answers the request with a file. */
export async function saveReport(id: number, report: Report): Promise<void> {
  const next = wanted.get(id);
  if (next === undefined) return;
  try {
    const { download } = await import('./export-file.ts');
    download(exportName(next.site, report.createdAt, next.format), report, next.format);
  } catch (error) {
    failReport(id, error instanceof Error ? error.message : String(error));
    return;
  }
  wanted.delete(id);
  setText(byId('export-words'), say(report.sites.length === 0 ? 'popupExportEmpty' : 'popupExportSaved'));
}

function showFailure(words: string): void {
  const failure = byId('export-failure');
  setText(failure, words);
  failure.hidden = words === '';
}

/** Says that and why the request gives no file. */
export function failReport(id: number, message: string): void {
  if (!wanted.delete(id)) return;
  setText(byId('export-words'), '');
  showFailure(say('popupExportFailed', { why: message }));
}

/** The port broke and is open again: what was not answered is asked for anew. */
export function resumeExports(ask: Ask): void {
  for (const [id, { site }] of wanted) ask(id, site);
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

function moveFocus(step: number): void {
  const items = Array.from(byId('export-menu').querySelectorAll<HTMLElement>('[role=menuitem]'));
  const at = items.indexOf(document.activeElement as HTMLElement);
  items.at((at + step) % items.length)?.focus();
}

function onKey(event: KeyboardEvent): void {
  const steps: Record<string, number> = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
  const step = steps[event.key];
  if (event.key === 'Escape') setOpen(false);
  else if (step !== undefined) moveFocus(step);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

type Ask = (id: number, site: string | null) => void;

function group(label: string, site: string | null, ask: Ask): HTMLElement {
  const element = make('div', 'group');
  element.setAttribute('role', 'group');
  element.setAttribute('aria-label', label);
  element.append(make('span', 'group-label', label));
  for (const format of EXPORT_FORMATS) {
    const name = FORMAT_NAMES[format];
    const item = make('button', 'item', name);
    item.type = 'button';
    item.tabIndex = -1;
    item.setAttribute('role', 'menuitem');
    item.setAttribute('aria-label', say('popupExportAs', { what: label, format: name }));
    item.addEventListener('click', () => {
      setOpen(false);
      asked += 1;
      wanted.set(asked, { site, format });
      setText(byId('export-words'), say('popupExportBuilding'));
      showFailure('');
      ask(asked, site);
    });
    element.append(item);
  }
  return element;
}

/** The menu's contents for the site in view; without a site only the report of all. */
export function renderExport(site: string | null, ask: Ask): void {
  if (shownSite === site) return;
  shownSite = site;
  const groups = site === null ? [] : [group(say('popupExportThis'), site, ask)];
  byId('export-menu').replaceChildren(...groups, group(say('popupExportAll'), null, ask));
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
