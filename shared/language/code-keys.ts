// Keys of messages about codes are derived from the codes: the name of `udp-refused` is `failureUdpRefused`. The
// compiler checks, where a key is used, that each such message exists.

/** `udp-refused` as `UdpRefused`. */
type Pascal<Code extends string> = Code extends `${infer Head}-${infer Rest}`
  ? `${Capitalize<Head>}${Pascal<Rest>}`
  : Capitalize<Code>;

type CodeKey<
  Prefix extends string,
  Code extends string,
  Suffix extends string = '',
> = `${Prefix}${Pascal<Code>}${Suffix}`;

/** The key of the message for a code with this prefix, and suffix if there is one. */
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
