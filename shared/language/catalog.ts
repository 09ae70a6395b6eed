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
export type SharedMessageKey = KeysOf<SharedCatalog>;

interface ChosenCatalog {
  readonly lookup: Lookup;
  readonly language: string;
  readonly forms: NumberForms;
}

let chosen: ChosenCatalog | null = null;

/** Chooses catalog, language (a BCP 47 tag) and its numbers for everything said from now on. */
export function useCatalog(lookup: Lookup, language: string, forms: NumberForms = intlForms(language)): void {
  chosen = { lookup, language, forms };
}

function chosenCatalog(): ChosenCatalog {
  if (chosen === null) throw new Error('no catalog was chosen: call useCatalog when the program starts');
  return chosen;
}

/** The language in force, as a BCP 47 tag. */
export function catalogLanguage(): string {
  return chosenCatalog().language;
}

/** A hyphen for a minus is too short beside figures, and lines break after it. */
function withMinus(figures: string): string {
  return figures.replace(/^-/, '−');
}

/** A number as the language in force writes it, all of its figures kept. */
export function formatNumber(value: number): string {
  return withMinus(chosenCatalog().forms.number(value));
}

/** A number rounded to so many decimals, zeros among them: 5.0 says more than 5. */
export function formatDecimals(value: number, decimals: number): string {
  return withMinus(chosenCatalog().forms.decimals(value, decimals));
}

function messageTemplate(key: string, count: string | number | undefined): string {
  const { lookup, forms } = chosenCatalog();
  if (typeof count !== 'number') return lookup(key);
  return lookup(`${key}_${forms.plural(count)}`) || lookup(`${key}_other`) || lookup(key);
}

/** A piece of what is said: the catalog's own words, or what stands for one of its parameters. */
export interface MessagePart {
  readonly text: string;
  readonly param: string | null;
}

const HOLE = /\{(\w+)\}/;

function partsOf(message: string, params: Params): MessagePart[] {
  const parts = message.split(HOLE).map((text, i): MessagePart => {
    if (i % 2 === 0) return { text, param: null };
    const value = params[text];
    if (value === undefined) return { text: `{${text}}`, param: null };
    return { text: typeof value === 'number' ? formatNumber(value) : value, param: text };
  });
  return parts.filter(({ text }) => text !== '');
}

/** A message in pieces; null where the catalog has none of that key, or where it has a hole that nothing is given for. */
export function getKnownMessageParts(key: string, params: Params): MessagePart[] | null {
  const message = messageTemplate(key, params['count']);
  const holes = message.split(HOLE).filter((_, i) => i % 2 === 1);
  const known = message !== '' && holes.every((name) => Object.hasOwn(params, name));
  return known ? partsOf(message, params) : null;
}

/** `getMessageByKey` in pieces, for whoever sets a parameter apart from the words around it. */
export function getMessageParts(key: string, params: Params = {}): MessagePart[] {
  return partsOf(messageTemplate(key, params['count']) || key, params);
}

/** The message of `key` with `{name}` replaced by its parameters; a key without a message stands for itself. */
export function getMessageByKey(key: string, params: Params = {}): string {
  return getMessageParts(key, params)
    .map(({ text }) => text)
    .join('');
}

/** A typed `getMessageByKey` for the catalogs whose keys are given. */
export function messagesOf<Key extends string>(): (key: Key, params?: Params) => string {
  return getMessageByKey;
}

/** Says what both ends of the port say: verdicts, causes, races, reports. */
export const getMessage = messagesOf<SharedMessageKey>();
