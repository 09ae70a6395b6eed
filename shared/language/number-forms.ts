// How a language writes numbers and counts. `Intl` knows for every language, but the first format that a process makes
// costs V8 a reading of all of ICU's locales, 25 ms in which a helper would answer no forecast: English goes without.

/** The categories that `Intl.PluralRules` knows; a message that counts has one form for each its language uses. */
export const PLURAL_FORMS = ['zero', 'one', 'two', 'few', 'many', 'other'] as const;

export interface NumberForms {
  /** All figures kept, the thousands grouped. */
  number(value: number): string;
  /** Rounded to so many decimals, zeros among them, nothing grouped. */
  decimals(value: number, decimals: number): string;
  /** The plural form that goes with a count. */
  plural(count: number): (typeof PLURAL_FORMS)[number];
}

/** The forms of a language (a BCP 47 tag), each made when first needed. */
export function intlForms(language: string): NumberForms {
  let numbers: Intl.NumberFormat | null = null;
  let plurals: Intl.PluralRules | null = null;
  const fixed = new Map<number, Intl.NumberFormat>();
  return {
    number(value) {
      numbers ??= new Intl.NumberFormat(language, { maximumSignificantDigits: 21 });
      return numbers.format(value);
    },
    decimals(value, decimals) {
      const format =
        fixed.get(decimals) ??
        new Intl.NumberFormat(language, {
          minimumFractionDigits: decimals,
          maximumFractionDigits: decimals,
          useGrouping: false,
        });
      fixed.set(decimals, format);
      return format.format(value);
    },
    plural(count) {
      plurals ??= new Intl.PluralRules(language);
      return plurals.select(count);
    },
  };
}

/** Figures and at most one point, as `String` writes what is neither huge nor tiny. */
const PLAIN = /^-?\d+(?:\.\d+)?$/;
const rare = intlForms('en');

/** Half away from zero by the figures that are seen, as `Intl` rounds: 1.005 is 1.01. */
function roundedEnglish(text: string, decimals: number): string {
  const [sign, figures] = text.startsWith('-') ? ['-', text.slice(1)] : ['', text];
  const [whole = '', fraction = ''] = figures.split('.');
  const kept = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
  const up = (fraction[decimals] ?? '0') >= '5' ? 1n : 0n;
  const rounded = String(kept + up).padStart(decimals + 1, '0');
  const point = rounded.length - decimals;
  return sign + (decimals === 0 ? rounded : `${rounded.slice(0, point)}.${rounded.slice(point)}`);
}

/** The figures of a number that can be written as they stand; null where the sign of zero, or an exponent, is in the way. */
function plainFigures(value: number): string | null {
  const text = String(value);
  return PLAIN.test(text) && !Object.is(value, -0) ? text : null;
}

/** What `intlForms('en')` gives, without making any of its formats. */
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
