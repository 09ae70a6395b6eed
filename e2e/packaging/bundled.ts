// Third-party components of our archives: bundled npm packages and linked crates.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { runOrThrow } from '../child-process.ts';
import { TOP } from '../scratch.ts';

/** One third-party package in an archive. */
export interface BundledPackage {
  readonly registry: 'npm' | 'cargo';
  readonly name: string;
  readonly version: string;
  /** As declared by the package; null if it declares none. */
  readonly licence: string | null;
  readonly directory: string;
  /** Whether our own code depends on it, rather than only one of its dependents. */
  readonly direct: boolean;
  /** Its dependencies within the same archive, by `idOf`. */
  readonly needs: readonly string[];
}

/** Identifies one version of a package within its registry. */
export const idOf = ({ name, version }: Pick<BundledPackage, 'name' | 'version'>): string =>
  `${name}@${version}`;

/** The crate of the helper's addon. */
export const ADDON_CRATE = 'photofinish-quic-napi';

const OWN_SCOPE = '@photofinish/';

const npmPackage = v.object({
  name: v.string(),
  version: v.string(),
  license: v.optional(v.string()),
  dependencies: v.optional(v.record(v.string(), v.string()), {}),
});

async function readPackage(directory: string) {
  return v.parse(npmPackage, JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')));
}

/** What a workspace bundles: its direct and transitive dependencies. */
export async function npmBundled(workspace: string): Promise<readonly BundledPackage[]> {
  const found = new Map<string, BundledPackage>();
  const direct = new Set<string>();
  const visit = async (directory: string, own: boolean): Promise<string[]> => {
    const needs: string[] = [];
    for (const name of Object.keys((await readPackage(directory)).dependencies)) {
      const below = join(TOP, 'node_modules', name);
      if (name.startsWith(OWN_SCOPE)) {
        await visit(below, true);
        continue;
      }
      const { version, license = null } = await readPackage(below);
      const id = idOf({ name, version });
      needs.push(id);
      if (own) direct.add(id);
      if (found.has(id)) continue;
      const each = { registry: 'npm', name, version, licence: license, directory: below } as const;
      // Added before its dependencies are looked up, in case of cycles.
      found.set(id, { ...each, direct: false, needs: [] });
      found.set(id, { ...each, direct: false, needs: await visit(below, false) });
    }
    return needs;
  };
  await visit(join(TOP, workspace), true);
  return [...found].map(([id, each]) => ({ ...each, direct: direct.has(id) }));
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

/** What is linked into a crate of ours on this system, without build and test dependencies. */
export async function cargoBundled(crate: string): Promise<readonly BundledPackage[]> {
  const rustc = await runOrThrow('rustc', ['--print', 'host-tuple']);
  const args = ['metadata', '--format-version', '1', '--locked', '--filter-platform', rustc.trim()];
  const stdout = await runOrThrow('cargo', args, { cwd: TOP });
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
  // A Set iterates in insertion order, including elements added meanwhile.
  for (const id of linked) for (const dependency of links.get(id) ?? []) linked.add(dependency);
  const byId = new Map(packages.map((each) => [each.id, each]));
  const needsOf = (id: string): string[] =>
    (links.get(id) ?? []).flatMap((need) => {
      const each = byId.get(need);
      return each === undefined || each.source === null ? [] : [idOf(each)];
    });
  const direct = new Set(
    packages.filter(({ id, source }) => linked.has(id) && source === null).flatMap(({ id }) => needsOf(id)),
  );
  return packages
    .filter(({ id, source }) => linked.has(id) && source !== null)
    .map((each) => ({
      registry: 'cargo',
      name: each.name,
      version: each.version,
      licence: each.license,
      directory: dirname(each.manifest_path),
      direct: direct.has(idOf(each)),
      needs: needsOf(each.id),
    }));
}
