// English for programs that run outside a browser: importing this file selects it. A browser brings its own catalogs.
import codes from '../_locales/en/codes.json' with { type: 'json' };
import catalog from '../_locales/en/shared.json' with { type: 'json' };
import { intlForms, type NumberForms, useCatalog } from './catalog.ts';

const messages: Readonly<Record<string, { readonly message: string }>> = { ...catalog, ...codes };

/** Digits and at most one point, as `String` writes what is neither huge nor tiny. */
const PLAIN = /^-?\d+(?:\.\d+)?$/;
const rare = intlForms('en');

/** Rounds half away from zero by the displayed digits, as `Intl` does: 1.005 becomes 1.01. */
function roundedEnglish(text: string, decimals: number): string {
  const [sign, figures] = text.startsWith('-') ? ['-', text.slice(1)] : ['', text];
  const [whole = '', fraction = ''] = figures.split('.');
  const kept = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
  const up = (fraction[decimals] ?? '0') >= '5' ? 1n : 0n;
  const rounded = String(kept + up).padStart(decimals + 1, '0');
  const point = rounded.length - decimals;
  return sign + (decimals === 0 ? rounded : `${rounded.slice(0, point)}.${rounded.slice(point)}`);
}

/** The digits of a number that can be written as they are; null if the sign of zero, or an exponent, prevents that. */
function plainFigures(value: number): string | null {
  const text = String(value);
  return PLAIN.test(text) && !Object.is(value, -0) ? text : null;
}

/**
 * The same as `intlForms('en')`, without creating any formatter: the first one in a process makes V8 load all of ICU's
 * locales, 25 ms in which a helper would answer no forecast.
 */
export const ENGLISH_FORMS: NumberForms = {
  number(value) {
    const figures = plainFigures(value);
    if (figures === null) return rare.number(value);
    const [whole = '', fraction] = figures.split('.');
    const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
    return fraction === undefined ? grouped : `${grouped}.${fraction}`;
  },
  decimals(value, decimals) {
    const figures = plainFigures(value);
    return figures === null ? rare.decimals(value, decimals) : roundedEnglish(figures, decimals);
  },
  plural: (count) => (Math.abs(count) === 1 ? 'one' : 'other'),
};

useCatalog((key) => messages[key]?.message ?? '', 'en', ENGLISH_FORMS);
