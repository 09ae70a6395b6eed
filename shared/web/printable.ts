// Text of strangers (servers, DNS, files) made fit to be shown: a certificate's name, a header or a reason may hold line
// ends, escape sequences that command a terminal, and marks that turn the direction of what is written around it. Such
// characters are written as escapes, so that the evidence is still there to be read.

/**
 * Control and format characters (soft hyphens, zero-width and bidi marks, tags), line and paragraph separators, lone
 * surrogates, and characters that no Unicode text holds.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Cn}]/gu;

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/**
 * The text with each character that cannot be seen as `\u202e`; a tab, which fields of HTTP may have for a space, is a
 * space. What was made printable stays as it is.
 */
export function printable(text: string): string {
  return text.replaceAll('\t', ' ').replace(UNPRINTABLE, escaped);
}

/** A value with every text in it printable, the names of its properties included. */
export function printableDeep<Value>(value: Value): Value {
  if (typeof value === 'string') return printable(value) as Value;
  if (Array.isArray(value)) return value.map(printableDeep) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [printable(name), printableDeep(each)]);
  return Object.fromEntries(entries) as Value;
}
