// The third-party components of an archive, for vulnerability scanners: a software bill of materials in CycloneDX 1.6.
// It contains neither time nor place of the build, so that the same source gives the same bytes.
import * as CDX from '@cyclonedx/cyclonedx-library';
import { PackageURL } from 'packageurl-js';
import parseExpression from 'spdx-expression-parse';
import { type BundledPackage, idOf } from './bundled.ts';
import { LICENCE, spdxOf } from './licences.ts';

export const SBOM_FILE = 'sbom.cdx.json';

const { Component, Bom, Metadata } = CDX.Models;
const { ComponentType } = CDX.Enums;

/** The subject of the bill. */
export interface Subject {
  readonly name: string;
  readonly version: string;
}

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

/** The bill as JSON, independent of the order of the packages. */
export function billOf(subject: Subject, bundled: readonly BundledPackage[]): string {
  const root = new Component(ComponentType.Application, subject.name, {
    bomRef: `${subject.name}@${subject.version}`,
    version: subject.version,
  });
  root.licenses.add(licences.makeFromString(LICENCE));
  const bom = new Bom({ metadata: new Metadata({ component: root }) });
  const components = new Map(bundled.map((each) => [idOf(each), componentOf(each)]));
  for (const each of bundled) {
    const component = components.get(idOf(each));
    if (component === undefined) continue;
    bom.components.add(component);
    if (each.direct) root.dependencies.add(component.bomRef);
    for (const need of each.needs) {
      const needed = components.get(need);
      if (needed !== undefined) component.dependencies.add(needed.bomRef);
    }
  }
  const normalizers = new CDX.Serialize.JSON.Normalize.Factory(CDX.Spec.Spec1dot6);
  const text = new CDX.Serialize.JsonSerializer(normalizers).serialize(bom, { sortLists: true, space: 2 });
  return `${text}\n`;
}
