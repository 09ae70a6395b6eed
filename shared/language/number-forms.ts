// How a language formats numbers and plurals. `Intl` supports every language, but the first formatter in a process
// makes V8 load all of ICU's locales, 25 ms in which a helper would answer no forecast: English does without it.

/** The categories of `Intl.PluralRules`; a message with a count has one form for each that its language uses. */
export const PLURAL_FORMS = ['zero', 'one', 'two', 'few', 'many', 'other'] as const;

export interface NumberForms {
  /** With all digits, and grouped thousands. */
  number(value: number): string;
  /** Rounded to this many decimals, including trailing zeros, without grouping. */
  decimals(value: number, decimals: number): string;
  /** The plural form that goes with a count. */
  plural(count: number): (typeof PLURAL_FORMS)[number];
}

/** The formats of a language (a BCP 47 tag), each created on first use. */
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

/** The same as `intlForms('en')`, without creating any formatter. */
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
