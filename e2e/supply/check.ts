// Checks third-party code and exits with 1 if there are faults. `check.ts locks`: every download is pinned by version
// and digest and comes from its language's public registry, so that npm, cargo, Go and pip detect other bytes.
// `check.ts licences`: bundled code may be distributed.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { ADDON_CRATE, cargoBundled, licenceFaults, npmBundled } from '../packaging/components.ts';
import { TOP } from '../scratch.ts';

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
    const dependencies = { ...entry.dependencies, ...entry.devDependencies, ...entry.optionalDependencies };
    return Object.entries(dependencies)
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

const GO_MODULES = ['e2e/origins/caddy', 'e2e/origins/nats-server', 'e2e/bench/peers/go'];

const text = (...path: string[]): string => readFileSync(join(TOP, ...path), 'utf8');

function ownCrates(): string[] {
  const [, members = ''] = /^members = \[([^\]]*)\]/m.exec(text('Cargo.toml')) ?? [];
  return [...members.matchAll(/"([^"]+)"/g)].map(
    ([, folder = '']) => /^name = "([^"]+)"/m.exec(text(folder, 'Cargo.toml'))?.[1] ?? folder,
  );
}

/** Lock files in other places, which would not be checked. */
function unjudged(): string[] {
  const known = ['package-lock.json', 'Cargo.lock', ...GO_MODULES.map((module) => join(module, 'go.sum'))];
  const folders = ['shared', 'extension', 'native-host', 'e2e'];
  return folders
    .flatMap((folder) =>
      readdirSync(join(TOP, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
    )
    .filter((file) => /(^|\/)(package-lock\.json|Cargo\.lock|go\.sum|yarn\.lock)$/.test(file))
    .filter((file) => !file.includes('node_modules') && !known.includes(file))
    .map((file) => `${file} is judged by nobody; name it in e2e/supply/check.ts`);
}

const CHECKS: Readonly<Record<string, () => readonly string[] | Promise<readonly string[]>>> = {
  locks: () => [
    ...npmFaults(text('package-lock.json')),
    ...cargoFaults(text('Cargo.lock'), ownCrates()),
    ...GO_MODULES.flatMap((module) => goFaults(text(module, 'go.mod'), text(module, 'go.sum'))),
    ...pythonFaults(text('e2e/requirements.txt')),
    ...unjudged(),
  ],
  licences: async () => [
    ...(await licenceFaults(await npmBundled('extension'))),
    ...(await licenceFaults(await npmBundled('native-host'))),
    ...(await licenceFaults(await cargoBundled(ADDON_CRATE))),
  ],
};

async function main(name = ''): Promise<number> {
  const check = CHECKS[name];
  if (check === undefined) {
    console.error(`usage: node e2e/supply/check.ts ${Object.keys(CHECKS).join('|')}`);
    return 2;
  }
  const faults = await check();
  for (const fault of faults) console.error(fault);
  return faults.length > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main(process.argv[2]);
