// The one way to words: a key and its parameters become a sentence in the reader's language. Catalogs are the
// browsers' own `messages.json` format; which catalog is in force is chosen once, when a program starts.

/** Gives a key's message, empty when the catalog has none. */
export type Lookup = (key: string) => string;

export type Params = Readonly<Record<string, string | number>>;

/** The categories that `Intl.PluralRules` knows; a message that counts has one form for each its language uses. */
export const PLURAL_FORMS = ['zero', 'one', 'two', 'few', 'many', 'other'] as const;

/** The keys of a catalog as callers write them: a message that counts goes by the name its forms share. */
export type KeysOf<Catalog> = keyof Catalog extends infer Key
  ? Key extends `${infer Base}_${(typeof PLURAL_FORMS)[number]}`
    ? Base
    : Key & string
  : never;

type SharedCatalog = typeof import('./_locales/en/shared.json', { with: { type: 'json' }}) &
  typeof import('./_locales/en/codes.json', { with: { type: 'json' }});

/** The keys of what both ends of the port say. */
export type SharedWordKey = KeysOf<SharedCatalog>;

interface Tongue {
  readonly lookup: Lookup;
  readonly language: string;
  /** Made when first needed: a helper that starts says nothing, and each costs it time. */
  numbers: Intl.NumberFormat | null;
  plurals: Intl.PluralRules | null;
  readonly fixed: Map<number, Intl.NumberFormat>;
}

let tongue: Tongue | null = null;

/** Chooses catalog and language (a BCP 47 tag) for everything said from now on. */
export function useWords(lookup: Lookup, language: string): void {
  tongue = { lookup, language, numbers: null, plurals: null, fixed: new Map() };
}

function spoken(): Tongue {
  if (tongue === null) throw new Error('no words were chosen: call useWords when the program starts');
  return tongue;
}

/** The language in force, as a BCP 47 tag. */
export function wordsLanguage(): string {
  return spoken().language;
}

/** A number as the language in force writes it, all of its figures kept. */
export function sayNumber(value: number): string {
  const said = spoken();
  said.numbers ??= new Intl.NumberFormat(said.language, { maximumSignificantDigits: 21 });
  // A hyphen for a minus is too short beside figures, and lines break after it.
  return said.numbers.format(value).replace(/^-/, '−');
}

/** A number rounded to so many decimals, zeros among them: 5.0 says more than 5. */
export function sayDecimals(value: number, decimals: number): string {
  const { fixed, language } = spoken();
  let format = fixed.get(decimals);
  if (format === undefined) {
    format = new Intl.NumberFormat(language, {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
      useGrouping: false,
    });
    fixed.set(decimals, format);
  }
  return format.format(value).replace(/^-/, '−');
}

function messageOf(key: string, count: string | number | undefined): string {
  const said = spoken();
  const { lookup } = said;
  if (typeof count !== 'number') return lookup(key);
  said.plurals ??= new Intl.PluralRules(said.language);
  return lookup(`${key}_${said.plurals.select(count)}`) || lookup(`${key}_other`) || lookup(key);
}

/** A piece of what is said: the catalog's own words, or what stands for one of its parameters. */
export interface Said {
  readonly text: string;
  readonly param: string | null;
}

/** `sayKey` in pieces, for whoever sets a parameter apart from the words around it. */
export function sayParts(key: string, params: Params = {}): Said[] {
  const message = messageOf(key, params['count']) || key;
  const parts = message.split(/\{(\w+)\}/).map((text, i): Said => {
    if (i % 2 === 0) return { text, param: null };
    const value = params[text];
    if (value === undefined) return { text: `{${text}}`, param: null };
    return { text: typeof value === 'number' ? sayNumber(value) : value, param: text };
  });
  return parts.filter(({ text }) => text !== '');
}

/** The message of `key` with `{name}` replaced by its parameters; a key without a message stands for itself. */
export function sayKey(key: string, params: Params = {}): string {
  return sayParts(key, params)
    .map(({ text }) => text)
    .join('');
}

/** A typed `sayKey` for the catalogs whose keys are given. */
export function speaker<Key extends string>(): (key: Key, params?: Params) => string {
  return sayKey;
}

/** Says what both ends of the port say: verdicts, causes, races, reports. */
export const say = speaker<SharedWordKey>();
