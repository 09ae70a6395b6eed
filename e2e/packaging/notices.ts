// The licences of what is bundled into our archives, in full, as those licences ask of whoever passes the code on.
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { TOP } from '../scratch.ts';

/** One package that is part of an archive. */
interface Bundled {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly directory: string;
}

const OWN_SCOPE = '@photofinish/';
const LICENCE_FILE = /^(licen[cs]e|copying|notice|copyright)([-._].*)?$/i;
const METADATA_BYTES = 64 * 1024 * 1024;

const npmPackage = v.object({
  name: v.string(),
  version: v.string(),
  license: v.optional(v.string(), 'see below'),
  dependencies: v.optional(v.record(v.string(), v.string()), {}),
});

/** What a workspace bundles: its dependencies, and theirs. */
export async function npmBundled(workspace: string): Promise<readonly Bundled[]> {
  const found = new Map<string, Bundled>();
  const visit = async (manifest: string): Promise<void> => {
    const { dependencies } = v.parse(npmPackage, JSON.parse(await readFile(manifest, 'utf8')));
    for (const name of Object.keys(dependencies)) {
      if (found.has(name)) continue;
      const directory = join(TOP, 'node_modules', name);
      const file = join(directory, 'package.json');
      const { version, license } = v.parse(npmPackage, JSON.parse(await readFile(file, 'utf8')));
      if (!name.startsWith(OWN_SCOPE)) found.set(name, { name, version, licence: license, directory });
      await visit(file);
    }
  };
  await visit(join(TOP, workspace, 'package.json'));
  return [...found.values()];
}

const cargoMetadata = v.object({
  packages: v.array(
    v.object({
      id: v.string(),
      name: v.string(),
      version: v.string(),
      license: v.nullable(v.string()),
      manifest_path: v.string(),
      source: v.nullable(v.string()),
    }),
  ),
  resolve: v.object({
    nodes: v.array(
      v.object({
        id: v.string(),
        deps: v.array(
          v.object({ pkg: v.string(), dep_kinds: v.array(v.object({ kind: v.nullable(v.string()) })) }),
        ),
      }),
    ),
  }),
});

/** What is linked into a crate of ours on this system; build and test dependencies are not. */
export async function cargoBundled(crate: string): Promise<readonly Bundled[]> {
  const rustc = await promisify(execFile)('rustc', ['--print', 'host-tuple']);
  const args = ['metadata', '--format-version', '1', '--locked', '--filter-platform', rustc.stdout.trim()];
  const { stdout } = await promisify(execFile)('cargo', args, { cwd: TOP, maxBuffer: METADATA_BYTES });
  const { packages, resolve } = v.parse(cargoMetadata, JSON.parse(stdout));
  const links = new Map(
    resolve.nodes.map(({ id, deps }) => [
      id,
      deps.filter((dep) => dep.dep_kinds.some(({ kind }) => kind === null)).map(({ pkg }) => pkg),
    ]),
  );
  const start = packages.find(({ name }) => name === crate);
  if (start === undefined) throw new Error(`there is no crate ${crate}`);
  const linked = new Set([start.id]);
  // A set is walked in order of insertion, including what is added on the way.
  for (const id of linked) for (const dependency of links.get(id) ?? []) linked.add(dependency);
  return packages
    .filter(({ id, source }) => linked.has(id) && source !== null)
    .map(({ name, version, license, manifest_path: manifest }) => ({
      name,
      version,
      licence: license ?? 'see below',
      directory: dirname(manifest),
    }));
}

async function licenceTexts(directory: string): Promise<string[]> {
  const names = (await readdir(directory, { withFileTypes: true }))
    .filter((entry) => entry.isFile() && LICENCE_FILE.test(entry.name))
    .map(({ name }) => name)
    .toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')));
  return texts.map((text) => text.replaceAll('\r\n', '\n').trim());
}

/** One text for all of them: who is in it under which licence, then every licence once, with those it is for. */
export async function notices(bundled: readonly Bundled[]): Promise<string> {
  const sorted = bundled.toSorted((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
  const holders = new Map<string, string[]>();
  for (const { name, version, directory } of sorted)
    for (const text of new Set(await licenceTexts(directory)))
      holders.set(text, [...(holders.get(text) ?? []), `${name} ${version}`]);
  return [
    'This software contains the following packages by others.',
    '',
    ...sorted.map(({ name, version, licence }) => `${name} ${version}: ${licence}`),
    ...[...holders].flatMap(([text, names]) => ['', '-'.repeat(78), `${names.join(', ')}:`, '', text]),
    '',
  ].join('\n');
}
