// Text as GitHub Flavored Markdown that stays text: nothing of it becomes markup, a link, a mention or a reference.

/** Control characters and those that turn the direction of text. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;
const ACTIVE = /[\\`*_{}[\]<>#|~&@$]|:(?=\/\/)|\.(?<=www\.)/gi;
/** GitHub looks for mentions and references after Markdown is done, so an escape alone does not stop it. */
const REFERRING = /\\[@#]|\bGH(?=-\d)/gi;
const WORD_JOINER = '\u2060';
const NOT_FOR_CODE = /[`|\\]/;

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(UNSEEN, '').trim();
}

/** Any text on one line, for a paragraph or a cell of a table; not for the beginning of a line. */
export function markdownText(text: string): string {
  return oneLine(text)
    .replace(ACTIVE, (active) => `\\${active}`)
    .replace(REFERRING, (referring) => `${referring}${WORD_JOINER}`);
}

/** A name such as an origin as code, which also keeps it from becoming a link. */
export function markdownCode(text: string): string {
  const line = oneLine(text);
  return line === '' || NOT_FOR_CODE.test(line) ? markdownText(line) : `\`${line}\``;
}

/** A table of cells that are Markdown already. */
export function markdownTable(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)];
}
