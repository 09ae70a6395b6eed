// Reports: which sites, in which format, over the period above; made here from the ledger and given to the browser to
// save. Loaded after the first paint, which needs none of it.

import { download } from '../popup/export-file.ts';
import { EXPORT_FORMATS, type ExportFormat, exportName, FORMAT_NAMES } from '../popup/export-names.ts';
import type { ReportedLedger } from '../report/collect.ts';
import { makeReport } from '../report/make.ts';
import { byId, make, setText } from '../ui/elements.ts';
import { say } from '../words.ts';
import type { Period } from './state.ts';

/** Names offered while one is typed; more would be a list nobody reads. */
const OFFERED_SITES = 50;

interface Needs {
  readonly ledger: ReportedLedger;
  readonly period: () => Period;
  /** Every site there is. */
  readonly siteNames: () => readonly string[];
}

/** Makes the export; sites are chosen one by one, none chosen means all. */
export function createReportView({ ledger, period, siteNames }: Needs): void {
  const input = byId<HTMLInputElement>('report-site');
  const list = byId('report-chosen');
  const words = byId('report-words');
  const chosen = new Set<string>();

  const drawChosen = (): void => {
    const items = [...chosen].map((site) => {
      const item = make('li');
      const chip = make('button', 'chip');
      chip.type = 'button';
      const name = make('bdi', '', site);
      name.dir = 'ltr';
      const cross = make('span', 'cross', '×');
      cross.ariaHidden = 'true';
      chip.append(name, cross);
      chip.ariaLabel = say('dashboardRemoveSite', { site });
      chip.addEventListener('click', () => {
        chosen.delete(site);
        drawChosen();
        input.focus();
      });
      item.append(chip);
      return item;
    });
    list.replaceChildren(...items);
  };
  const add = (): void => {
    const site = input.value.trim().toLowerCase();
    if (site === '') return;
    if (!siteNames().includes(site)) {
      setText(words, say('dashboardNoSuchSite', { site }));
      return;
    }
    chosen.add(site);
    input.value = '';
    setText(words, '');
    drawChosen();
  };
  const offer = (): void => {
    const typed = input.value.trim().toLowerCase();
    const found = siteNames()
      .filter((name) => typed !== '' && name.includes(typed))
      .slice(0, OFFERED_SITES);
    byId('report-site-list').replaceChildren(...found.map((name) => new Option(name, name)));
  };
  const save = async (format: ExportFormat): Promise<void> => {
    setText(words, say('dashboardReportBuilding'));
    const sites = chosen.size === 0 ? null : [...chosen];
    const report = await makeReport(ledger, { sites, ...period() });
    const [first] = chosen;
    download(
      exportName(chosen.size === 1 && first !== undefined ? first : null, report.createdAt, format),
      report,
      format,
    );
    const count = report.sites.length;
    setText(words, count === 0 ? say('dashboardReportEmpty') : say('dashboardReportSaved', { count }));
  };

  const buttons = EXPORT_FORMATS.map((format) => {
    const button = make('button', 'button', FORMAT_NAMES[format]);
    button.type = 'button';
    button.ariaLabel = say('dashboardSaveAs', { format: FORMAT_NAMES[format] });
    button.addEventListener('click', () => {
      save(format).catch((error) => {
        setText(
          words,
          say('dashboardReportFailed', { why: error instanceof Error ? error.message : String(error) }),
        );
      });
    });
    return button;
  });
  byId('report-formats').replaceChildren(...buttons);
  input.addEventListener('input', offer);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') add();
  });
  byId('report-site-add').addEventListener('click', add);
}
