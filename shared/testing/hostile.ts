// Inputs for fuzz and property tests: a stored corpus, mutations that break parsers, how many to draw, and text as found
// on the web. Mutations start from valid inputs, because inputs made from nothing are rejected by the first check and
// never reach the second.
import fc from 'fast-check';

/** How many times as many inputs to draw as under `npm test`. */
const MANY = Number(process.env.PHOTOFINISH_FUZZ ?? 1);
if (!(MANY > 0))
  throw new RangeError(`PHOTOFINISH_FUZZ is a number above 0, not "${process.env.PHOTOFINISH_FUZZ}"`);

/** Parameters for a property: this number of inputs, times `PHOTOFINISH_FUZZ`. */
export const inputs = (count: number): { readonly numRuns: number } => ({ numRuns: Math.ceil(count * MANY) });

/** Values that parsers have failed on, of every JSON type. */
const HOSTILE: readonly unknown[] = [
  ...[null, true, false, 0, -0, -1, 0.5, 65_535, 65_536, 2 ** 31, 2 ** 53, -(2 ** 53), 1e308, 5e-324],
  ...[
    '',
    ' ',
    '\u0000',
    '\ud800',
    '\u202e',
    '%',
    '%00',
    '..',
    '*',
    '=cmd()',
    '<img src=x onerror=1>',
    '\'"`;--',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'https://',
    'https://a.test:0',
    'https://[::1]',
    'https://a.test/',
  ],
  ...['h3', 'h3=":443"', '127.0.0.1', '::ffff:10.0.0.1', 'xn--a', 'a'.repeat(300), 'é'.repeat(5000)],
  ...[[], {}, [[]], [null], { type: 'hello' }, { __proto__: null, length: 1 }, new Array(600).fill(0)],
];
const NAMES = ['__proto__', 'constructor', 'type', 'id', 'length', 'then', '', 'extra'];

interface JsonPosition {
  readonly parent: Record<string, unknown>;
  readonly key: string;
}

/** Every position in a JSON value. */
export function placesOf(value: unknown, places: JsonPosition[] = []): JsonPosition[] {
  if (typeof value !== 'object' || value === null) return places;
  const parent = value as Record<string, unknown>;
  for (const key of Object.keys(parent)) {
    places.push({ parent, key });
    placesOf(parent[key], places);
  }
  return places;
}

const put = (parent: object, key: string, value: unknown): void => {
  // An assignment to `__proto__` would differ from what JSON.parse creates.
  Object.defineProperty(parent, key, { value, writable: true, enumerable: true, configurable: true });
};

const change = fc.record({ kind: fc.nat(7), at: fc.nat(), other: fc.nat(), drawn: fc.jsonValue() });
type Change = typeof change extends fc.Arbitrary<infer C> ? C : never;

function changed(document: { root: unknown }, { kind, at, other, drawn }: Change): void {
  const places = placesOf(document);
  const place = places[at % places.length] as JsonPosition;
  const from = places[other % places.length] as JsonPosition;
  const value = place.parent[place.key];
  if (kind <= 2) put(place.parent, place.key, structuredClone(HOSTILE[other % HOSTILE.length]));
  else if (kind === 3) put(place.parent, place.key, drawn);
  else if (kind === 4) put(place.parent, place.key, structuredClone(from.parent[from.key]));
  else if (kind === 5 && place.parent !== document) delete place.parent[place.key];
  else if (kind === 6 && Array.isArray(value)) value.push(...structuredClone(value));
  else if (typeof value === 'object' && value !== null && !Array.isArray(value))
    put(value, NAMES[other % NAMES.length] ?? '', drawn);
}

/** JSON values: those of the corpus with up to three mutations, and occasionally something without any structure. */
export function mutatedJson(corpus: readonly unknown[]): fc.Arbitrary<unknown> {
  const near = fc
    .tuple(fc.constantFrom(...corpus), fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([valid, changes]) => {
      const document = { root: structuredClone(valid) };
      for (const each of changes) changed(document, each);
      return document.root;
    });
  return fc.oneof({ arbitrary: near, weight: 9 }, { arbitrary: fc.jsonValue(), weight: 1 });
}

const edit = fc.record({
  kind: fc.nat(4),
  at: fc.nat(),
  length: fc.nat(24),
  byte: fc.nat(255),
  from: fc.nat(),
});

/** Bytes: those of the corpus truncated, overwritten, repeated and joined, and occasionally arbitrary ones. */
export function mutatedBytes(corpus: readonly Uint8Array[]): fc.Arbitrary<Uint8Array> {
  const near = fc
    .tuple(
      fc.constantFrom(...corpus),
      fc.constantFrom(...corpus),
      fc.array(edit, { minLength: 1, maxLength: 6 }),
    )
    .map(([valid, another, edits]) => {
      let bytes = Buffer.from(valid);
      for (const { kind, at, length, byte, from } of edits) {
        const here = at % (bytes.length + 1);
        const before = bytes.subarray(0, here);
        const after = bytes.subarray(here);
        const start = from % (another.length + 1);
        const piece = [
          Buffer.alloc(0),
          Buffer.alloc(length, byte),
          Buffer.from([byte]),
          bytes.subarray(here, here + length),
          another.subarray(start, start + length),
        ][kind] as Uint8Array;
        // Overwrites or inserts.
        bytes = Buffer.concat([
          before,
          piece,
          after.subarray(byte % 2 === 0 ? Math.max(1, piece.length) : 0),
        ]);
      }
      return bytes;
    });
  return fc.oneof(
    { arbitrary: near, weight: 9 },
    { arbitrary: fc.uint8Array({ maxLength: 200 }), weight: 1 },
  );
}

/** Texts: those of the corpus mutated as bytes are, and arbitrary Unicode ones. */
export function mutatedText(corpus: readonly string[]): fc.Arbitrary<string> {
  const near = mutatedBytes(corpus.map((text) => Buffer.from(text, 'latin1')));
  return fc.oneof(
    { arbitrary: near.map((bytes) => Buffer.from(bytes).toString('latin1')), weight: 9 },
    { arbitrary: fc.string({ unit: character, maxLength: 200 }), weight: 1 },
  );
}

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;
const LAST_CODE_POINT = 0x10ffff;

/**
 * Any Unicode character. fast-check's own (`unit: 'binary'`, and `webUrl`) first puts all 1.1 million code points into a
 * map, a second of processor time in every file that uses it.
 */
export const character = fc.integer({ min: 0, max: LAST_CODE_POINT - SURROGATES }).map(
  (n) => String.fromCodePoint(n < FIRST_SURROGATE ? n : n + SURROGATES),
  (text) => {
    const [only = '', ...others] = typeof text === 'string' ? text : '';
    const point = only.codePointAt(0) ?? -1;
    const isSurrogate = point >= FIRST_SURROGATE && point < FIRST_SURROGATE + SURROGATES;
    if (others.length > 0 || point < 0 || isSurrogate) throw new TypeError('not one character');
    return point < FIRST_SURROGATE ? point : point - SURROGATES;
  },
);

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** Characters allowed in a path segment (`pchar`, RFC 3986 section 3.3). */
const SEGMENT = "-._~!$&'()*+,;=:@";

/** Literal characters, occasionally a percent-encoded one. */
function uriText(others: string): fc.Arbitrary<string> {
  const encoded = character.map(encodeURIComponent, (text) => decodeURIComponent(String(text)));
  const plain = fc.constantFrom(...ALPHANUMERIC, ...others);
  return fc.string({ unit: fc.oneof({ weight: 10, arbitrary: plain }, { weight: 1, arbitrary: encoded }) });
}

/** The query or the fragment of a URL, without `?` or `#`; like `fc.webQueryParameters` and `fc.webFragments`. */
export const queryOrFragment = uriText(`${SEGMENT}/?`);

/** Scheme, authority and path; like `fc.webUrl`. */
export function webUrl(...schemes: readonly [string, ...string[]]): fc.Arbitrary<string> {
  const path = fc.array(uriText(SEGMENT)).map((segments) => segments.map((text) => `/${text}`).join(''));
  return fc
    .tuple(fc.constantFrom(...schemes), fc.webAuthority(), path)
    .map(([scheme, authority, rest]) => `${scheme}://${authority}${rest}`);
}
