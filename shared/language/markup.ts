// The one escape for every string that ends up in SVG or HTML, and the one way numbers are written for people.
import { formatDecimals, getMessage } from './catalog.ts';

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Control characters but tab and line ends, and the two non-characters: XML 1.0 section 2.2 forbids them. */
const NOT_XML = /[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu;
/** Most texts are only these. */
const PLAIN = /^[ !#-%(-;=?-~]*$/;

/** Text made safe for element content and quoted attributes; characters that no XML may hold are dropped. */
export function escapeMarkup(text: string): string {
  return PLAIN.test(text) ? text : text.replace(NOT_XML, '').replace(/[&<>"']/g, (c) => ESCAPES[c] ?? c);
}

/** Milliseconds as far as they are shown: at most three significant figures. */
export function shownMs(ms: number): number {
  return Number(ms.toPrecision(3));
}

/** The place value of the last figure shown of a number of milliseconds; of 0 the finest there is. */
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

/** A number of milliseconds without its unit, down to a place value and no further: of 0.1 "5.0", of 10 "50". */
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
