// The bill lists an archive's components and their dependencies, and is valid CycloneDX 1.6.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BundledPackage } from './bundled.ts';
import { billOf } from './sbom.ts';
import { sbomFaults } from './sbom-schema.ts';

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
