// Reports: sites and format for the period above, generated from the ledger by a worker and saved by the browser.
// Loaded after the first paint, which needs none of it.

import { messageOf } from '@photofinish/shared/web/untrusted';
import { getMessage } from '../../common/catalog.ts';
import { type MadeReport, saveReport } from '../report/export-file.ts';
import { EXPORT_FORMATS, type ExportFormat, FORMATS } from '../report/export-names.ts';
import { setDisabled } from '../ui/disabled-button.ts';
import { byId, leftToRight, make, makeButton, setText } from '../ui/elements.ts';
import { typedHost } from '../ui/format.ts';
import { cross } from './controls.ts';
import type { Period } from './state.ts';

/** Names offered while typing; nobody reads a longer list. */
const OFFERED_SITES = 50;

interface ReportViewDeps {
  readonly period: () => Period;
  /** Every site there is. */
  readonly siteNames: () => readonly string[];
}

function savedText(made: MadeReport | null): string {
  if (made === null) return getMessage('reportCancelled');
  if (made.sites === 0) return getMessage('dashboardReportEmpty');
  return getMessage('dashboardReportSaved', { count: made.sites });
}

/** A chosen site; clicking it removes it. */
function siteChip(site: string, onRemove: () => void): HTMLElement {
  const chip = makeButton('chip', [leftToRight(site), cross()], onRemove);
  chip.ariaLabel = getMessage('dashboardRemoveSite', { site });
  return make('li', '', chip);
}

/** Creates the export section; sites are chosen one by one, none chosen means all. */
export function createReportView({ period, siteNames }: ReportViewDeps): void {
  const input = byId<HTMLInputElement>('report-site');
  const list = byId('report-chosen');
  const words = byId('report-text');
  const chosen = new Set<string>();

  const drawChosen = (): void => {
    const remove = (site: string): void => {
      chosen.delete(site);
      drawChosen();
      input.focus();
    };
    list.replaceChildren(...[...chosen].map((site) => siteChip(site, () => remove(site))));
  };
  const add = (): void => {
    const site = typedHost(input.value);
    if (site === '') return;
    if (!siteNames().includes(site)) {
      setText(words, getMessage('dashboardNoSuchSite', { site }));
      return;
    }
    chosen.add(site);
    input.value = '';
    setText(words, '');
    drawChosen();
  };
  const offer = (): void => {
    const typed = typedHost(input.value);
    const found = siteNames()
      .filter((name) => typed !== '' && name.includes(typed))
      .slice(0, OFFERED_SITES);
    byId('report-site-list').replaceChildren(...found.map((name) => new Option(name, name)));
  };
  const save = async (format: ExportFormat): Promise<void> => {
    setText(words, getMessage('dashboardReportBuilding'));
    for (const button of buttons) setDisabled(button, true);
    try {
      const made = await saveReport({
        selection: { sites: chosen.size === 0 ? null : [...chosen], ...period() },
        format,
        networkNames: byId<HTMLInputElement>('report-names').checked,
      });
      setText(words, savedText(made));
    } catch (error) {
      setText(words, getMessage('dashboardReportFailed', { why: messageOf(error) }));
    } finally {
      for (const button of buttons) setDisabled(button, false);
    }
  };

  const buttons = EXPORT_FORMATS.map((format) => {
    const { name } = FORMATS[format];
    const button = makeButton('button', [name], () => void save(format));
    button.ariaLabel = getMessage('dashboardSaveAs', { format: name });
    return button;
  });
  byId('report-formats').replaceChildren(...buttons);
  input.addEventListener('input', offer);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') add();
  });
  byId('report-site-add').addEventListener('click', add);
}
