// Why a document does not fit its schema, as messages about files say it.
import * as v from 'valibot';

/** Where in the document, if not at its top, and what was expected there. */
export function issueText(issue: v.BaseIssue<unknown>): string {
  const where = v.getDotPath(issue);
  return where === null ? issue.message : `${where}: ${issue.message}`;
}
