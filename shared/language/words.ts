// The one way to words: a key and its parameters become a sentence in the reader's language. Catalogs are the
// browsers' own `messages.json` format; which catalog is in force is chosen once, when a program starts.
import { intlForms, type NumberForms, type PLURAL_FORMS } from './number-forms.ts';

/** Gives a key's message, empty when the catalog has none. */
export type Lookup = (key: string) => string;

export type Params = Readonly<Record<string, string | number>>;

/** The keys of a catalog as callers write them: a message that counts goes by the name its forms share. */
export type KeysOf<Catalog> = keyof Catalog extends infer Key
  ? Key extends `${infer Base}_${(typeof PLURAL_FORMS)[number]}`
    ? Base
    : Key & string
  : never;

type SharedCatalog = typeof import('../_locales/en/shared.json', { with: { type: 'json' }}) &
  typeof import('../_locales/en/codes.json', { with: { type: 'json' }});

/** The keys of what both ends of the port say. */
export type SharedWordKey = KeysOf<SharedCatalog>;

interface Tongue {
  readonly lookup: Lookup;
  readonly language: string;
  readonly forms: NumberForms;
}

let tongue: Tongue | null = null;

/** Chooses catalog, language (a BCP 47 tag) and its numbers for everything said from now on. */
export function useWords(lookup: Lookup, language: string, forms: NumberForms = intlForms(language)): void {
  tongue = { lookup, language, forms };
}

function spoken(): Tongue {
  if (tongue === null) throw new Error('no words were chosen: call useWords when the program starts');
  return tongue;
}

/** The language in force, as a BCP 47 tag. */
export function wordsLanguage(): string {
  return spoken().language;
}

/** A hyphen for a minus is too short beside figures, and lines break after it. */
function withMinus(figures: string): string {
  return figures.replace(/^-/, '−');
}

/** A number as the language in force writes it, all of its figures kept. */
export function sayNumber(value: number): string {
  return withMinus(spoken().forms.number(value));
}

/** A number rounded to so many decimals, zeros among them: 5.0 says more than 5. */
export function sayDecimals(value: number, decimals: number): string {
  return withMinus(spoken().forms.decimals(value, decimals));
}

function messageOf(key: string, count: string | number | undefined): string {
  const { lookup, forms } = spoken();
  if (typeof count !== 'number') return lookup(key);
  return lookup(`${key}_${forms.plural(count)}`) || lookup(`${key}_other`) || lookup(key);
}

/** A piece of what is said: the catalog's own words, or what stands for one of its parameters. */
export interface Said {
  readonly text: string;
  readonly param: string | null;
}

const HOLE = /\{(\w+)\}/;

function partsOf(message: string, params: Params): Said[] {
  const parts = message.split(HOLE).map((text, i): Said => {
    if (i % 2 === 0) return { text, param: null };
    const value = params[text];
    if (value === undefined) return { text: `{${text}}`, param: null };
    return { text: typeof value === 'number' ? sayNumber(value) : value, param: text };
  });
  return parts.filter(({ text }) => text !== '');
}

/** A message in pieces; null where the catalog has none of that key, or where it has a hole that nothing is given for. */
export function sayKnownParts(key: string, params: Params): Said[] | null {
  const message = messageOf(key, params['count']);
  const holes = message.split(HOLE).filter((_, i) => i % 2 === 1);
  const known = message !== '' && holes.every((name) => Object.hasOwn(params, name));
  return known ? partsOf(message, params) : null;
}

/** `sayKey` in pieces, for whoever sets a parameter apart from the words around it. */
export function sayParts(key: string, params: Params = {}): Said[] {
  return partsOf(messageOf(key, params['count']) || key, params);
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
