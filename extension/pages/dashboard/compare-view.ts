// Two report files compared: which origins changed, how, and why. The files are read in the page and never leave it.

import { DIFF_FORMATS } from '@photofinish/shared/report/formats';
import { futureInstantOf, type Report, reportDocumentSchema } from '@photofinish/shared/report/report';
import { compareReports } from '@photofinish/shared/report/report-compare';
import {
  modesOfBoth,
  modesOfSide,
  type OriginDiff,
  type ReportDiff,
} from '@photofinish/shared/report/report-diff';
import {
  changesText,
  conditionTexts,
  shareCountsText,
  shareText,
  summaryText,
} from '@photofinish/shared/report/report-text';
import { verdictText } from '@photofinish/shared/verdict/verdict-text';
import { lightNote } from '@photofinish/shared/web/observation';
import { messageOf, printableDeep } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { getMessage, type MessageKey } from '../../common/catalog.ts';
import { FORMATS } from '../report/export-names.ts';
import { byId, make, makeButton, saveFile, setText } from '../ui/elements.ts';
import { headCell, hostName, scrollBox } from './controls.ts';

/** Lines drawn; a comparison of everything can have a hundred thousand. */
const MAX_LINES = 300;

/** The formats in which a comparison can be saved. */
const SAVED = ['html', 'markdown', 'csv'] as const;

type Side = 'before' | 'after';
type ReadResult =
  | { readonly ok: true; readonly report: Report }
  | { readonly ok: false; readonly why: string };

/** A file's report, or why it is not one. */
export function readReport(text: string): ReadResult {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return { ok: false, why: getMessage('dashboardNotJson') };
  }
  const parsed = v.safeParse(reportDocumentSchema, document, { abortEarly: true });
  if (parsed.success) {
    const late = futureInstantOf(parsed.output, Date.now());
    return late === null
      ? { ok: true, report: printableDeep(parsed.output) }
      : { ok: false, why: getMessage('dashboardReportFuture', { where: late }) };
  }
  const [issue] = parsed.issues;
  return { ok: false, why: getMessage('dashboardNotReport', { where: v.getDotPath(issue) ?? 'schema' }) };
}

/** Why: the current verdict, and the previous one if it was different. */
export function whyText({ verdict: { before, after } }: Pick<OriginDiff, 'verdict'>): string {
  if (after === null) return before === null ? '' : verdictText(before);
  if (before === null || before.code === after.code) return verdictText(after);
  return getMessage('dashboardWhyChanged', { before: verdictText(before), after: verdictText(after) });
}

function listOf(sentences: readonly string[]): HTMLElement {
  return make('ul', '', ...sentences.map((sentence) => make('li', '', sentence)));
}

/** What makes the comparison unfair, or that nothing does, and what else differs. */
export function conditionList(diff: ReportDiff): HTMLElement {
  const box = make('div');
  const { unfair, others } = conditionTexts(diff);
  if (unfair.length === 0) box.append(make('p', 'what', getMessage('diffFair')));
  else {
    box.append(make('p', 'unfair', getMessage('diffUnfair')), listOf(unfair));
    if (others.length > 0) box.append(make('p', 'what', getMessage('dashboardDiffersToo')));
  }
  if (others.length > 0) box.append(listOf(others));
  const light = lightNote(modesOfBoth(diff));
  if (light !== null) box.append(make('p', 'what', light));
  return box;
}

function lineOf(site: string, origin: OriginDiff): HTMLTableRowElement {
  const share = (side: Side) => {
    const adoption = origin.adoption[side];
    if (adoption === null) return make('td', 'number', getMessage('diffAbsent'));
    return make('td', 'number', shareCountsText(adoption, modesOfSide(origin, side)));
  };
  return make(
    'tr',
    '',
    headCell('row', '', hostName(origin.origin.slice('https://'.length))),
    make('td', '', hostName(site)),
    make('td', '', changesText(origin)),
    share('before'),
    share('after'),
    make('td', 'why', whyText(origin)),
  );
}

function changesTable(diff: ReportDiff): HTMLElement {
  const titles: readonly (readonly [MessageKey, string])[] = [
    ['dashboardOrigin', ''],
    ['dashboardSite', ''],
    ['diffWhat', ''],
    ['diffBefore', 'number'],
    ['diffAfter', 'number'],
    ['diffWhy', ''],
  ];
  const head = make('tr', '', ...titles.map(([key, kind]) => headCell('col', kind, getMessage(key))));
  const lines = diff.sites.flatMap(({ site, origins }) => origins.map((origin) => ({ site, origin })));
  const rows = lines.slice(0, MAX_LINES).map(({ site, origin }) => lineOf(site, origin));
  const table = make('table', '', make('thead', '', head), make('tbody', '', ...rows));
  const box = make('div', '', scrollBox(getMessage('dashboardCompare'), table));
  if (lines.length > MAX_LINES)
    box.append(make('p', 'what', getMessage('dashboardMoreChanges', { count: lines.length - MAX_LINES })));
  return box;
}

function summary(diff: ReportDiff): string {
  const { before, after } = diff.total.adoption;
  const shares = { before: shareText(before.byRequest), after: shareText(after.byRequest) };
  return `${getMessage('dashboardCompareShares', shares)} ${summaryText(diff)}`;
}

function saveButtons(diff: ReportDiff): HTMLElement {
  const days = [diff.before, diff.after].map(({ createdAt }) => createdAt.slice(0, 10));
  const buttons = SAVED.map((format) => {
    const { name, ending, type } = FORMATS[format];
    const button = makeButton('button', [name], () =>
      saveFile(
        new Blob([DIFF_FORMATS[format](diff)], { type }),
        `photofinish-${days.join('-to-')}.${ending}`,
      ),
    );
    button.ariaLabel = getMessage('dashboardSaveComparison', { format: name });
    return button;
  });
  return make('div', 'formats', ...buttons);
}

function render(diff: ReportDiff): void {
  const box = byId('comparison');
  box.replaceChildren(
    make('h3', '', getMessage('diffTitle')),
    make('p', 'summary', summary(diff)),
    conditionList(diff),
  );
  if (diff.sites.length > 0) box.append(changesTable(diff));
  box.append(saveButtons(diff));
  box.hidden = false;
}

/** Lets the input show the file's name, as the browser does for a chosen file. */
function showFile(input: HTMLInputElement, file: File): void {
  const shown = new DataTransfer();
  shown.items.add(file);
  input.files = shown.files;
}

/** Creates the two inputs for files; both also accept a dropped file. */
export function createCompareView(): void {
  const words = byId('compare-words');
  const files: Partial<Record<Side, File>> = {};
  const reports: Partial<Record<Side, Report>> = {};
  const inputs = {
    before: byId<HTMLInputElement>('report-before'),
    after: byId<HTMLInputElement>('report-after'),
  };

  const take = async (side: Side, file: File): Promise<void> => {
    files[side] = file;
    showFile(inputs[side], file);
    delete reports[side];
    byId('comparison').hidden = true;
    const text = await file.text();
    // Meanwhile another file may have been chosen.
    if (files[side] !== file) return;
    const read = readReport(text);
    if (!read.ok) {
      setText(words, getMessage('dashboardNoReportFile', { file: file.name, why: read.why }));
      return;
    }
    reports[side] = read.report;
    const { before, after } = reports;
    if (before === undefined || after === undefined) setText(words, getMessage('dashboardOtherReport'));
    else {
      setText(words, '');
      render(compareReports(before, after));
    }
  };
  const failed = (error: unknown): void => setText(words, messageOf(error));

  for (const side of ['before', 'after'] as const) {
    const input = inputs[side];
    // Allows the same file to be chosen again.
    input.addEventListener('click', () => {
      input.value = '';
    });
    input.addEventListener('cancel', () => {
      const file = files[side];
      if (file !== undefined) showFile(input, file);
    });
    input.addEventListener('change', () => {
      const [file] = input.files ?? [];
      if (file !== undefined) take(side, file).catch(failed);
    });
  }
  const drop = byId('drop');
  drop.addEventListener('dragover', (event) => event.preventDefault());
  drop.addEventListener('drop', (event) => {
    event.preventDefault();
    const files = [...(event.dataTransfer?.files ?? [])];
    const [first, second] = files;
    // A single file fills the empty side; of two, the first is the earlier report.
    const side = second === undefined && reports.before !== undefined ? 'after' : 'before';
    if (first !== undefined) take(side, first).catch(failed);
    if (second !== undefined) take('after', second).catch(failed);
  });
}
