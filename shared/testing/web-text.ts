// Text as found on the web, for property tests. fast-check's own (`webUrl`, `unit: 'binary'`) first put all 1.1 million
// code points into a map, a second of processor time in every file that uses one; these compute what they need.
import fc from 'fast-check';

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;
const LAST_CODE_POINT = 0x10ffff;

/** Any Unicode character; like `unit: 'binary'`. */
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
