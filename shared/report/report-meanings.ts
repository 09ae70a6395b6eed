// What the codes of an HTML report mean, as its last section: only those that occur in it, so that a report that is
// passed on explains itself, without a network and without Photofinish.

import { escapeMarkup as esc } from '../language/markup.ts';
import { say } from '../language/words.ts';
import type { VerdictCode } from '../race/verdict-schema.ts';
import { type CodeRow, failureRows, verdictRows } from '../verdict/codes.ts';
import type { Report, ReportOrigin } from './report.ts';

const idOf = (code: CodeRow['code']): string => `means-${code}`;

/** A verdict's code, or other words for it as markup, leading to what it means. */
export function meansLink(code: VerdictCode, words: string = code): string {
  return `<a class="means" href="#${idOf(code)}">${words}</a>`;
}

function codesIn(origins: readonly ReportOrigin[]): ReadonlySet<string> {
  const codes = new Set<string>();
  for (const { verdict, races } of origins) {
    codes.add(verdict.code);
    for (const { code } of verdict.findings) codes.add(code);
    for (const { error, trials } of races) {
      if (error !== undefined) codes.add(error.code);
      for (const attempt of trials.flatMap((trial) => trial.attempts))
        if (attempt.error !== undefined) codes.add(attempt.error.code);
    }
  }
  return codes;
}

function entry({ kind, code, name, means, remedy }: CodeRow): string {
  const label = say(kind === 'verdict' ? 'codesVerdictRemedy' : 'codesFailureRemedy');
  return `<dt id="${idOf(code)}"><code>${code}</code> <small>${esc(name)}</small></dt><dd>${esc(means)} <b>${label}:</b> ${esc(remedy)}</dd>`;
}

/** The section; empty for a report without origins. */
export function meaningsSection({ sites }: Report): string {
  const codes = codesIn(sites.flatMap(({ origins }) => origins));
  const rows = [...verdictRows(), ...failureRows()].filter(({ code }) => codes.has(code));
  if (rows.length === 0) return '';
  return `<section aria-labelledby="means"><h2 id="means">${say('codesTitle')}</h2><dl class="meanings">${rows.map(entry).join('')}</dl></section>`;
}
