// The keys of messages about codes follow from the codes: `udp-refused` is named by `failureUdpRefused`. That each such
// message exists is checked by the compiler, where the key is said.

/** `udp-refused` as `UdpRefused`. */
type Pascal<Code extends string> = Code extends `${infer Head}-${infer Rest}`
  ? `${Capitalize<Head>}${Pascal<Rest>}`
  : Capitalize<Code>;

type CodeKey<
  Prefix extends string,
  Code extends string,
  Suffix extends string = '',
> = `${Prefix}${Pascal<Code>}${Suffix}`;

/** The key of the message that `prefix`, and `suffix` where there is one, name for a code. */
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
