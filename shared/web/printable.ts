// Makes untrusted text (from servers, DNS, files) safe to display: a certificate's name, a header or a reason may
// contain line ends, terminal escape sequences, and characters that change the direction of surrounding text. Such
// characters are written as escapes, so that the evidence remains readable.

/** Printable ASCII, which nearly all text is, and which is much cheaper to recognise. */
const PLAIN = /^[ -~]*$/;

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/**
 * The text with each invisible character written like `\u202e`: control and format characters (soft hyphens, zero-width
 * and bidi marks, tags), line and paragraph separators, lone surrogates, and code points that are not characters. A tab,
 * which HTTP fields may have instead of a space, becomes a space. Idempotent.
 */
export function printable(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replaceAll('\t', ' ').replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Cn}]/gu, escaped);
}

function isPlainDeep(value: unknown): boolean {
  if (typeof value === 'string') return PLAIN.test(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isPlainDeep);
  return Object.entries(value).every(([name, each]) => PLAIN.test(name) && isPlainDeep(each));
}

/** A value with every text in it printable, including property names; itself if it is that already. */
export function printableDeep<Value>(value: Value): Value {
  return isPlainDeep(value) ? value : escapedDeep(value);
}

function escapedDeep<Value>(value: Value): Value {
  if (typeof value === 'string') return printable(value) as Value;
  if (Array.isArray(value)) return value.map(escapedDeep) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [printable(name), escapedDeep(each)]);
  return Object.fromEntries(entries) as Value;
}
