// Rows as CSV (RFC 4180), made to be opened in spreadsheets, which run cells that look like formulas.

/** What spreadsheets take for the beginning of a formula (OWASP, "CSV Injection"). */
const FORMULA_START = /^[\s]*[=+\-@|\t\r]/;

function cell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = FORMULA_START.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Records with CRLF after each; numbers stay plain, text that a spreadsheet would run is defused by an apostrophe. */
export function csvText(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}
