// Makes untrusted text (from servers, DNS, files) safe to display: a certificate's name, a header or a reason may
// contain line ends, terminal escape sequences, and characters that change the direction of surrounding text. Such
// characters are written as escapes, so that the evidence remains readable.

/**
 * Control and format characters (soft hyphens, zero-width and bidi marks, tags), line and paragraph separators, lone
 * surrogates, and code points that are not characters.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Cn}]/gu;

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/**
 * The text with each invisible character written like `\u202e`; a tab, which HTTP fields may have instead of a space,
 * becomes a space. Idempotent.
 */
export function printable(text: string): string {
  return text.replaceAll('\t', ' ').replace(UNPRINTABLE, escaped);
}

/** A value with every text in it printable, including property names. */
export function printableDeep<Value>(value: Value): Value {
  if (typeof value === 'string') return printable(value) as Value;
  if (Array.isArray(value)) return value.map(printableDeep) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [printable(name), printableDeep(each)]);
  return Object.fromEntries(entries) as Value;
}
