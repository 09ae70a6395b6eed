// Rows as CSV (RFC 4180), made to be opened in spreadsheets, which run cells that look like formulas. Where the comma is
// the decimal sign (as in German) they separate at semicolons instead, quoted or not, so that a cell may begin anywhere.
import { printable } from '../web/printable.ts';

/**
 * What spreadsheets take for the beginning of a formula (OWASP, "CSV Injection"), also in its full-width forms, at the
 * beginning of a text or after what some of them separate at; spaces and quotes before it do not help.
 */
const FORMULA = /(^|;)(?=[\s"']*[=+\-@|\uff1d\uff0b\uff0d\uff20])/g;

function cell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  // Neither line ends nor tabs are left in it.
  const text = printable(value).replace(FORMULA, "$1'");
  return /[",;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Records with CRLF after each; numbers stay plain, text that a spreadsheet would run is defused by an apostrophe. */
export function csvText(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}
