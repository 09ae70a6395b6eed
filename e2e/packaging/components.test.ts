// Which licences are allowed for code in our archives; the bill lists an archive's components and their dependencies,
// and is valid CycloneDX 1.6.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BundledPackage, billOf, licenceFaults } from './components.ts';
import { sbomFaults } from './sbom-schema.ts';

const faultsOf = (licence: string | null): string[] =>
  licenceFaults([
    { registry: 'cargo', name: 'a', version: '1.0.0', licence, directory: '', direct: true, needs: [] },
  ]);

test('licences that require only text and notices, and alternatives and combinations of them', () => {
  for (const licence of ['MIT', 'MIT/Apache-2.0', 'MIT OR GPL-3.0-only', '(MIT OR Apache-2.0) AND ISC'])
    assert.deepEqual(faultsOf(licence), [], licence);
});

test('licences that require more, are missing, or are not an expression, are reported by name', () => {
  for (const licence of ['GPL-3.0-only', 'MIT AND LGPL-2.1-only', 'MPL-2.0', 'see LICENSE', ''])
    assert.deepEqual(faultsOf(licence), [`cargo a@1.0.0 is under ${licence}`]);
  assert.deepEqual(faultsOf(null), ['cargo a@1.0.0 names no licence']);
});

const bundled = (each: Partial<BundledPackage>): BundledPackage => ({
  registry: 'npm',
  name: 'a',
  version: '1.0.0',
  licence: 'MIT',
  directory: '/',
  direct: false,
  needs: [],
  ...each,
});

const BUNDLED = [
  bundled({ name: '@scope/a', direct: true, needs: ['b@2.0.0'] }),
  bundled({ name: 'b', version: '2.0.0', licence: null }),
  bundled({ registry: 'cargo', name: 'c', licence: 'MIT/Apache-2.0', direct: true }),
];
const SUBJECT = { name: 'photofinish', version: '1.0.0' };

test('each package has its purl, licence and dependencies', async () => {
  const bill = JSON.parse(billOf(SUBJECT, BUNDLED));
  assert.deepEqual(await sbomFaults(bill), []);
  assert.deepEqual(
    bill.components.map(({ purl, licenses }: { purl: string; licenses?: object }) => [purl, licenses]),
    [
      ['pkg:cargo/c@1.0.0', [{ expression: 'MIT OR Apache-2.0' }]],
      ['pkg:npm/%40scope/a@1.0.0', [{ license: { id: 'MIT' } }]],
      ['pkg:npm/b@2.0.0', undefined],
    ],
  );
  assert.deepEqual(
    bill.dependencies.filter(({ dependsOn }: { dependsOn?: string[] }) => dependsOn !== undefined),
    [
      { ref: 'photofinish@1.0.0', dependsOn: ['pkg:cargo/c@1.0.0', 'pkg:npm/%40scope/a@1.0.0'] },
      { ref: 'pkg:npm/%40scope/a@1.0.0', dependsOn: ['pkg:npm/b@2.0.0'] },
    ],
  );
});

test('the same packages in any order give the same bill, without a time', () => {
  assert.equal(billOf(SUBJECT, BUNDLED.toReversed()), billOf(SUBJECT, BUNDLED));
  assert.equal('timestamp' in JSON.parse(billOf(SUBJECT, BUNDLED)).metadata, false);
});

test('the schema rejects an invalid bill', async () => {
  assert.notDeepEqual(await sbomFaults({ bomFormat: 'CycloneDX', specVersion: '1.6', components: [{}] }), []);
});
