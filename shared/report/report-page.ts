// The page that the HTML forms of reports share, and the means by which its parts are written.

import { standalonePage } from '../drawing/page.ts';
import { escapeMarkup as esc } from '../language/markup.ts';
import { say, wordsLanguage } from '../language/words.ts';
import type { Report } from './report.ts';
import { REPORT_CSS } from './report-style.ts';
import { browserWords, instantWords, networksWords } from './report-words.ts';

/** Reports from before their language was kept. */
const FIRST_LANGUAGE = 'en';

export function instant(at: string | number): string {
  return `<time datetime="${new Date(at).toISOString()}">${instantWords(at)}</time>`;
}

/** A host or origin, which reads from left to right in any language. */
export function hostMarkup(host: string): string {
  return `<bdi dir="ltr">${esc(host)}</bdi>`;
}

/** The attribute of an element whose text is in the report's language, where that is not the page's. */
export function languageOf({ language = FIRST_LANGUAGE }: Pick<Report, 'language'>): string {
  return language === wordsLanguage() ? '' : ` lang="${esc(language)}"`;
}

export type ConditionSource = Pick<
  Report,
  'browser' | 'network' | 'networks' | 'networkNames' | 'period' | 'createdAt'
>;

/** Names and values of the conditions a report was made under, as markup. */
export function conditionEntries(source: ConditionSource): (readonly [string, string])[] {
  const { from, to } = source.period;
  return [
    [say('reportBrowser'), esc(browserWords(source.browser))],
    [say('reportNetwork'), esc(networksWords(source))],
    [say('reportPeriod'), say('reportFromTo', { from: instant(from), to: instant(to) })],
    [say('reportMade'), instant(source.createdAt)],
  ];
}

export interface ReportPage {
  readonly title: string;
  /** Markup, as are all of the following. */
  readonly conditions: string;
  readonly main: string;
  readonly footer: string;
}

/** The whole page. */
export function reportPage({ title, conditions, main, footer }: ReportPage): string {
  const header = `<h1>${esc(title)}</h1>${conditions}`;
  return standalonePage({ language: wordsLanguage(), title, css: REPORT_CSS, header, main, footer });
}
