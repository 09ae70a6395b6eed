// The meaning of the verdicts and failure codes: the page that "What this means" opens, at the row of one code.
import '../../common/catalog.ts';
import { type CodeRow, failureRows, verdictRows } from '@photofinish/shared/verdict/codes';
import { getMessage } from '../../common/catalog.ts';
import { byId, make } from '../ui/elements.ts';
import { writeMessages } from '../ui/page-messages.ts';

function row({ kind, code, name, means, remedy }: CodeRow): HTMLElement {
  const link = make('a', 'code', code);
  link.href = `#${code}`;
  const heading = make('h3', '', link, ' ', make('span', 'name', name));
  const remedyLabel = getMessage(kind === 'verdict' ? 'codesVerdictRemedy' : 'codesFailureRemedy');
  const facts = [
    make('dt', '', getMessage('codesMeans')),
    make('dd', '', means),
    make('dt', '', remedyLabel),
    make('dd', '', remedy),
  ];
  const article = make('article', 'code-row', heading, make('dl', '', ...facts));
  article.id = code;
  return article;
}

/** The browser looked for the row before it existed. */
function showNamedRow(): void {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (const shown of document.querySelectorAll('.code-row.named')) shown.classList.remove('named');
  if (named === null) return;
  named.classList.add('named');
  named.scrollIntoView();
}

writeMessages();
byId('verdicts').append(...verdictRows().map(row));
byId('failures').append(...failureRows().map(row));
addEventListener('hashchange', showNamedRow);
showNamedRow();
