// The only escaping for strings in SVG or HTML, and the only formatting of measured values for display.
import { formatDecimals, getMessage } from './catalog.ts';

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Control characters except tab and line ends, and the two non-characters: XML 1.0 section 2.2 forbids them. */
const NOT_XML = /[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu;
/** Most texts contain only these. */
const PLAIN = /^[ !#-%(-;=?-~]*$/;

/** Text escaped for element content and quoted attributes; characters that XML does not allow are dropped. */
export function escapeMarkup(text: string): string {
  return PLAIN.test(text) ? text : text.replace(NOT_XML, '').replace(/[&<>"']/g, (c) => ESCAPES[c] ?? c);
}

/** Milliseconds as displayed: at most three significant figures. */
export function shownMs(ms: number): number {
  return Number(ms.toPrecision(3));
}

/** The place value of the last displayed figure of a number of milliseconds; for 0 the finest. */
export function shownStepMs(ms: number): number {
  return ms === 0 ? 1e-9 : 10 ** (Math.floor(Math.log10(Math.abs(shownMs(ms)))) - 2);
}

/** Milliseconds with their unit and at most three significant figures; from one second on, seconds. */
export function formatMs(ms: number): string {
  const figures = shownMs(ms);
  return Math.abs(figures) >= 1000
    ? getMessage('seconds', { value: Number((ms / 1000).toPrecision(3)) })
    : getMessage('milliseconds', { value: figures });
}

/** A number of milliseconds without its unit, down to a place value and no further: for 0.1 "5.0", for 10 "50". */
export function steppedMs(ms: number, stepMs: number): string {
  return formatDecimals(
    Math.round(ms / stepMs) * stepMs,
    Math.max(0, -Math.floor(Math.log10(stepMs) + 1e-9)),
  );
}

/** Milliseconds with their unit down to a place value that is a power of ten; from one second on, seconds. */
export function formatMsTo(ms: number, stepMs: number): string {
  return Math.abs(shownMs(ms)) >= 1000
    ? getMessage('seconds', { value: steppedMs(ms / 1000, stepMs / 1000) })
    : getMessage('milliseconds', { value: steppedMs(ms, stepMs) });
}

const BYTE_UNITS = [
  ['gigabytes', 1e9],
  ['megabytes', 1e6],
  ['kilobytes', 1e3],
] as const;

/** Bytes with a decimal unit and at most three significant figures. */
export function formatBytes(bytes: number): string {
  for (const [unit, size] of BYTE_UNITS)
    if (bytes >= size) return getMessage(unit, { value: Number((bytes / size).toPrecision(3)) });
  return getMessage('bytes', { value: bytes });
}
