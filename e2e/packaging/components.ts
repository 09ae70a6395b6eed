// The third-party components of our archives, bundled npm packages and linked crates: what they are, which licences
// they may have and whose texts we must include, and a software bill of materials for vulnerability scanners.
import { readdir, readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as CDX from '@cyclonedx/cyclonedx-library';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { PackageURL } from 'packageurl-js';
import parseExpression from 'spdx-expression-parse';
import satisfies from 'spdx-satisfies';
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

type Identity = Pick<BundledPackage, 'name' | 'version'>;

/** Identifies one version of a package within its registry. */
const idOf = ({ name, version }: Identity): string => `${name}@${version}`;

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
      // Of several copies, the one that this dependent gets. Throws if there is none.
      const below = dirname(findPackageJSON(name, join(directory, 'package.json')) ?? name);
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
  await visit(resolve(TOP, workspace), true);
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

/** Ours. */
export const LICENCE = 'MIT';

/** Licences that require only their text and notices, which each archive contains. */
const ALLOWED = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unicode-3.0',
  'Unlicense',
  'Zlib',
];

/** Its licence as an SPDX expression; older crates separate alternatives with a slash. Null if it names none. */
function spdxOf({ licence }: Pick<BundledPackage, 'licence'>): string | null {
  return licence === null ? null : licence.replaceAll(/\s*\/\s*/g, ' OR ');
}

function isAllowed(expression: string): boolean {
  try {
    return satisfies(expression, ALLOWED);
  } catch {
    // Not an SPDX expression.
    return false;
  }
}

/** Why packages may not be distributed, a line for each of those. */
export async function licenceFaults(bundled: readonly BundledPackage[]): Promise<string[]> {
  const faults = bundled.map(async (each): Promise<string[]> => {
    const what = `${each.registry} ${idOf(each)}`;
    const expression = spdxOf(each);
    if (expression === null) return [`${what} names no licence`];
    if (!isAllowed(expression)) return [`${what} is under ${each.licence}`];
    const isIncluded = (await licenceTexts(each)).length > 0;
    return isIncluded ? [] : [`${what} does not contain its licence; add it to e2e/packaging/licences`];
  });
  return (await Promise.all(faults)).flat();
}

/** Their file name in an archive. */
export const NOTICES_FILE = 'THIRD-PARTY.txt';

const LICENCE_FILE = /^(licen[cs]e|copying|notice|copyright)([-._].*)?$/i;

/** Files in `licences/`, from their repositories, for crates that are published without any. */
const MISSING_LICENCES: ReadonlyMap<string, string> = new Map([
  ['asn1-rs-impl', 'asn1-rs.txt'],
  ['napi', 'napi-rs.txt'],
  ['napi-derive', 'napi-rs.txt'],
  ['napi-derive-backend', 'napi-rs.txt'],
  ['napi-sys', 'napi-rs.txt'],
]);

async function licenceTexts({ registry, name, directory }: BundledPackage): Promise<string[]> {
  const found = (await readdir(directory, { withFileTypes: true }))
    .filter((entry) => entry.isFile() && LICENCE_FILE.test(entry.name))
    .map((entry) => join(directory, entry.name))
    .toSorted();
  const missing = registry === 'cargo' && found.length === 0 ? MISSING_LICENCES.get(name) : undefined;
  const files = missing === undefined ? found : [join(import.meta.dirname, 'licences', missing)];
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return texts.map((text) => text.replaceAll('\r\n', '\n').trim());
}

/**
 * One text for all of them: the packages with their licences, then every licence once, with the packages it applies to.
 */
export async function notices(bundled: readonly BundledPackage[]): Promise<string> {
  const sorted = bundled.toSorted((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
  const holders = new Map<string, string[]>();
  for (const each of sorted)
    for (const text of new Set(await licenceTexts(each)))
      holders.set(text, [...(holders.get(text) ?? []), `${each.name} ${each.version}`]);
  return [
    'This software contains the following packages by others.',
    '',
    ...sorted.map(({ name, version, licence }) => `${name} ${version}: ${licence ?? 'see below'}`),
    ...[...holders].flatMap(([text, names]) => ['', '-'.repeat(78), `${names.join(', ')}:`, '', text]),
    '',
  ].join('\n');
}

export const SBOM_FILE = 'sbom.cdx.json';

const { Component, Bom, Metadata } = CDX.Models;
const { ComponentType } = CDX.Enums;

const licences = new CDX.Contrib.License.Factories.LicenseFactory(parseExpression);

function purlOf({ registry, name, version }: BundledPackage): string {
  const [scope, rest] = name.startsWith('@') ? name.split('/') : [null, name];
  return new PackageURL(registry, scope, rest ?? name, version, null, null).toString();
}

function componentOf(each: BundledPackage): CDX.Models.Component {
  const purl = purlOf(each);
  const component = new Component(ComponentType.Library, each.name, {
    bomRef: purl,
    version: each.version,
    purl,
    scope: CDX.Enums.ComponentScope.Required,
  });
  const licence = spdxOf(each);
  if (licence !== null) component.licenses.add(licences.makeFromString(licence));
  return component;
}

/**
 * The bill of `subject` in CycloneDX 1.6, independent of the order of the packages, and without time and place of the
 * build, so that the same source gives the same bytes.
 */
export function billOf(subject: Identity, bundled: readonly BundledPackage[]): string {
  const root = new Component(ComponentType.Application, subject.name, {
    bomRef: idOf(subject),
    version: subject.version,
  });
  root.licenses.add(licences.makeFromString(LICENCE));
  const bom = new Bom({ metadata: new Metadata({ component: root }) });
  const components = bundled.map((each) => [each, componentOf(each)] as const);
  const refs = new Map(components.map(([each, { bomRef }]) => [idOf(each), bomRef]));
  for (const [{ direct, needs }, component] of components) {
    bom.components.add(component);
    if (direct) root.dependencies.add(component.bomRef);
    for (const ref of needs.map((need) => refs.get(need))) if (ref) component.dependencies.add(ref);
  }
  const normalizers = new CDX.Serialize.JSON.Normalize.Factory(CDX.Spec.Spec1dot6);
  const text = new CDX.Serialize.JsonSerializer(normalizers).serialize(bom, { sortLists: true, space: 2 });
  return `${text}\n`;
}

const LIBRARY = fileURLToPath(import.meta.resolve('@cyclonedx/cyclonedx-library/package.json'));

/** The schemas refer to each other by this. */
const BASE = 'http://cyclonedx.org/schema/';
const SUFFIX = '.SNAPSHOT.schema.json';

async function schema(name: string): Promise<object> {
  return JSON.parse(await readFile(join(dirname(LIBRARY), 'res/schema', `${name}${SUFFIX}`), 'utf8'));
}

/** Why this is not a valid CycloneDX 1.6 bill; empty if it is. */
export async function sbomFaults(bill: unknown): Promise<readonly string[]> {
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  // For internationalised addresses and references, which our bills do not contain.
  for (const format of ['idn-email', 'iri-reference']) ajv.addFormat(format, true);
  for (const part of ['spdx', 'jsf-0.82']) ajv.addSchema(await schema(part), `${BASE}${part}${SUFFIX}`);
  const validate = ajv.compile(await schema('bom-1.6'));
  if (validate(bill)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
}
