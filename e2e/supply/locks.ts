// Whether everything that is downloaded is pinned by version and digest, and comes from its language's public registry:
// then npm, cargo, Go and pip themselves detect a registry, mirror or network that delivers other bytes.
import * as v from 'valibot';

const NPM_REGISTRY = 'https://registry.npmjs.org/';
const CRATES_IO = 'registry+https://github.com/rust-lang/crates.io-index';

const specifiers = v.optional(v.record(v.string(), v.string()), {});
const npmLock = v.object({
  lockfileVersion: v.literal(3),
  packages: v.record(
    v.string(),
    v.object({
      link: v.optional(v.boolean(), false),
      resolved: v.optional(v.string()),
      integrity: v.optional(v.string()),
      dependencies: specifiers,
      devDependencies: specifiers,
      optionalDependencies: specifiers,
    }),
  ),
});

/** A version or a range of versions; not a URL, a repository or a folder. */
const VERSIONS = /^[\^~<>=\d*][\w.+\-<>=^~*| ]*$/;
const SHA512 = /^sha512-[A-Za-z0-9+/]{86}==$/;

/** The faults in a `package-lock.json`, a line for each. Throws if it is not one. */
export function npmFaults(text: string): string[] {
  const { packages } = v.parse(npmLock, JSON.parse(text));
  return Object.entries(packages).flatMap(([path, entry]) => {
    if (path.includes('node_modules/')) {
      if (entry.link) return [];
      return [
        ...(SHA512.test(entry.integrity ?? '') ? [] : [`${path} has no SHA-512`]),
        ...(entry.resolved === undefined || entry.resolved.startsWith(NPM_REGISTRY)
          ? []
          : [`${path} comes from ${entry.resolved}`]),
      ];
    }
    const asked = { ...entry.dependencies, ...entry.devDependencies, ...entry.optionalDependencies };
    return Object.entries(asked)
      .filter(([, wanted]) => !VERSIONS.test(wanted))
      .map(([name, wanted]) => `${path || 'package.json'} asks for ${name} from ${wanted}`);
  });
}

/** The faults in a `Cargo.lock`; `own` are the crates of the workspace. */
export function cargoFaults(text: string, own: readonly string[]): string[] {
  const field = (block: string, name: string): string | undefined =>
    new RegExp(`^${name} = "([^"]*)"$`, 'm').exec(block)?.[1];
  const [, ...blocks] = text.split('[[package]]');
  if (blocks.length === 0) return ['Cargo.lock names no crate'];
  return blocks.flatMap((block) => {
    const name = field(block, 'name') ?? '';
    const source = field(block, 'source');
    if (source === undefined) return own.includes(name) ? [] : [`${name} comes from a folder`];
    return [
      ...(source === CRATES_IO ? [] : [`${name} comes from ${source}`]),
      ...(/^[0-9a-f]{64}$/.test(field(block, 'checksum') ?? '') ? [] : [`${name} has no checksum`]),
    ];
  });
}

/** The faults in a module's `go.mod` and `go.sum`. */
export function goFaults(mod: string, sum: string): string[] {
  const sums = new Set([...sum.matchAll(/^(\S+ \S+)\/go\.mod h1:\S{43}=$/gm)].map(([, module]) => module));
  const required = [...mod.matchAll(/^(?:require )?\t?([^\s()]+\.[^\s()]+) (v\S+)/gm)];
  return [
    ...[...mod.matchAll(/^replace .*$/gm)].map(([line]) => `go.mod has: ${line}`),
    ...(required.length === 0 ? ['go.mod requires nothing'] : []),
    ...required
      .filter(([, module, version]) => !sums.has(`${module} ${version}`))
      .map(([, module, version]) => `${module} ${version} has no sum`),
  ];
}

/** The faults in pip's `requirements.txt`. */
export function pythonFaults(text: string): string[] {
  const logical = text
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
  if (logical.length === 0) return ['requirements.txt names nothing'];
  return logical.flatMap((line) => {
    const [name = ''] = line.split(' ');
    if (!/^[A-Za-z0-9._-]+(\[[^\]]+\])?==\S+$/.test(name)) return [`not pinned to a version: ${line}`];
    return / --hash=sha256:[0-9a-f]{64}( |$)/.test(line) ? [] : [`${name} has no SHA-256`];
  });
}
