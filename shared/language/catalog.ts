// The only way to user-visible text: a key and its parameters become a sentence in the reader's language. Catalogs have
// the browsers' own `messages.json` format; the catalog is chosen once, when a program starts.

/** The categories of `Intl.PluralRules`; a message with a count has one form for each that its language uses. */
export const PLURAL_FORMS = ['zero', 'one', 'two', 'few', 'many', 'other'] as const;

/** Returns a key's message, empty if the catalog has none. */
export type Lookup = (key: string) => string;

export type Params = Readonly<Record<string, string | number>>;

/** The keys of a catalog as callers use them: the plural forms of a message share one name. */
export type KeysOf<Catalog> = keyof Catalog extends infer Key
  ? Key extends `${infer Base}_${(typeof PLURAL_FORMS)[number]}`
    ? Base
    : Key & string
  : never;

type SharedCatalog = typeof import('../_locales/en/shared.json', { with: { type: 'json' }}) &
  typeof import('../_locales/en/codes.json', { with: { type: 'json' }});

/** The keys of the catalog that both ends of the port share. */
export type SharedMessageKey = KeysOf<SharedCatalog>;

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

interface ChosenCatalog {
  readonly lookup: Lookup;
  readonly language: string;
  readonly forms: NumberForms;
}

let chosen: ChosenCatalog | null = null;

/** Sets the catalog, its language (a BCP 47 tag) and its number formats for all messages from now on. */
export function useCatalog(lookup: Lookup, language: string, forms: NumberForms = intlForms(language)): void {
  chosen = { lookup, language, forms };
}

function chosenCatalog(): ChosenCatalog {
  if (chosen === null) throw new Error('no catalog was chosen: call useCatalog when the program starts');
  return chosen;
}

/** The current language, as a BCP 47 tag. */
export function catalogLanguage(): string {
  return chosenCatalog().language;
}

/** A hyphen used as a minus is too short beside digits, and allows a line break. */
function withMinus(figures: string): string {
  return figures.replace(/^-/, '−');
}

/** A number formatted in the current language, with all its digits. */
export function formatNumber(value: number): string {
  return withMinus(chosenCatalog().forms.number(value));
}

/** A number rounded to this many decimals, including trailing zeros: 5.0 says more than 5. */
export function formatDecimals(value: number, decimals: number): string {
  return withMinus(chosenCatalog().forms.decimals(value, decimals));
}

function messageTemplate(key: string, count: string | number | undefined): string {
  const { lookup, forms } = chosenCatalog();
  if (typeof count !== 'number') return lookup(key);
  return lookup(`${key}_${forms.plural(count)}`) || lookup(`${key}_other`) || lookup(key);
}

/** A piece of a message: the catalog's text, or the value of a parameter. */
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

/**
 * A message in pieces; null if the catalog does not have the key, or the message has a placeholder without a parameter.
 */
export function getKnownMessageParts(key: string, params: Params): MessagePart[] | null {
  const message = messageTemplate(key, params['count']);
  const holes = message.split(HOLE).filter((_, i) => i % 2 === 1);
  const known = message !== '' && holes.every((name) => Object.hasOwn(params, name));
  return known ? partsOf(message, params) : null;
}

/** `getMessageByKey` in pieces, for callers that format a parameter differently. */
export function getMessageParts(key: string, params: Params = {}): MessagePart[] {
  return partsOf(messageTemplate(key, params['count']) || key, params);
}

/** The message of `key` with `{name}` replaced by its parameters; a key without a message is returned itself. */
export function getMessageByKey(key: string, params: Params = {}): string {
  return getMessageParts(key, params)
    .map(({ text }) => text)
    .join('');
}

/** A typed `getMessageByKey` for the catalogs whose keys are given. */
export function messagesOf<Key extends string>(): (key: Key, params?: Params) => string {
  return getMessageByKey;
}

/** The messages of both ends of the port: verdicts, causes, races, reports. */
export const getMessage = messagesOf<SharedMessageKey>();

/** `udp-refused` as `UdpRefused`. */
type Pascal<Code extends string> = Code extends `${infer Head}-${infer Rest}`
  ? `${Capitalize<Head>}${Pascal<Rest>}`
  : Capitalize<Code>;

type CodeKey<
  Prefix extends string,
  Code extends string,
  Suffix extends string = '',
> = `${Prefix}${Pascal<Code>}${Suffix}`;

/**
 * The key of the message about a code: `failureUdpRefused` for the prefix `failure` and the code `udp-refused`. The
 * compiler checks, where a key is used, that its message exists.
 */
export function codeKey<Prefix extends string, Code extends string>(
  prefix: Prefix,
  code: Code,
): CodeKey<Prefix, Code>;
export function codeKey<Prefix extends string, Code extends string, Suffix extends string>(
  prefix: Prefix,
  code: Code,
  suffix: Suffix,
): CodeKey<Prefix, Code, Suffix>;
export function codeKey(prefix: string, code: string, suffix = ''): string {
  const pascal = code.replace(/(?:^|-)(.)/g, (_, first: string) => first.toUpperCase());
  return `${prefix}${pascal}${suffix}`;
}
