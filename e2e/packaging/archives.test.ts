// What our archives contain. Which licences are allowed for code in them, and that their texts are included; the bill
// lists an archive's components and their dependencies, and is valid CycloneDX 1.6; and the bytes of an archive depend
// on nothing but its files.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { unzipSync } from 'fflate';
import { TOP } from '../scratch.ts';
import { type Entry, zipOf } from './archive.ts';
import { type BundledPackage, billOf, licenceFaults, notices, npmBundled, sbomFaults } from './components.ts';
import { HELPER_NODE_RANGE } from './release.ts';

/** A package whose directory has a licence file. */
const faultsOf = (licence: string | null): Promise<string[]> =>
  licenceFaults([bundled({ registry: 'cargo', licence, directory: TOP })]);

test('licences that require only text and notices, and alternatives and combinations of them', async () => {
  for (const licence of ['MIT', 'MIT/Apache-2.0', 'MIT OR GPL-3.0-only', '(MIT OR Apache-2.0) AND ISC'])
    assert.deepEqual(await faultsOf(licence), [], licence);
});

test('licences that require more, are missing, or are not an expression, are reported by name', async () => {
  for (const licence of ['GPL-3.0-only', 'MIT AND LGPL-2.1-only', 'MPL-2.0', 'see LICENSE', ''])
    assert.deepEqual(await faultsOf(licence), [`cargo a@1.0.0 is under ${licence}`]);
  assert.deepEqual(await faultsOf(null), ['cargo a@1.0.0 names no licence']);
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

test('the text of a crate that is published without it is included, and one that nobody has is reported', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'pf crate '));
  t.after(() => rmSync(directory, { recursive: true }));
  const crates = ['asn1-rs-impl', 'napi', 'napi-derive', 'napi-derive-backend', 'napi-sys'].map((name) =>
    bundled({ registry: 'cargo', name, directory }),
  );
  assert.deepEqual(await licenceFaults(crates), []);
  const text = await notices(crates);
  for (const holder of ['2017 Pierre Chifflier', '2020 LongYinan', '2018 GitHub'])
    assert.equal(text.split(`Copyright (c) ${holder}`).length, 2, holder);
  assert.match(text, /^napi 1\.0\.0, napi-derive 1\.0\.0, napi-derive-backend 1\.0\.0, napi-sys 1\.0\.0:$/m);
  const unknown = bundled({ registry: 'cargo', name: 'other', directory });
  assert.match(
    (await licenceFaults([unknown]))[0] ?? '',
    /^cargo other@1\.0\.0 does not contain its licence/,
  );
});

test('of two copies of a package, the one that its dependent gets is listed', async (t) => {
  const top = mkdtempSync(join(tmpdir(), 'pf packages '));
  t.after(() => rmSync(top, { recursive: true }));
  const write = (path: string, name: string, version: string, dependencies: Record<string, string> = {}) => {
    mkdirSync(join(top, path), { recursive: true });
    const license = `LicenseRef-${version}`;
    writeFileSync(join(top, path, 'package.json'), JSON.stringify({ name, version, license, dependencies }));
  };
  write('.', 'top', '1.0.0', { a: '*', b: '*' });
  write('node_modules/a', 'a', '1.0.0', { b: '*' });
  write('node_modules/a/node_modules/b', 'b', '1.0.0');
  write('node_modules/b', 'b', '2.0.0');
  const found = (await npmBundled(top)).map(({ name, licence, direct }) => [name, licence, direct]);
  assert.deepEqual(found, [
    ['a', 'LicenseRef-1.0.0', true],
    ['b', 'LicenseRef-1.0.0', false],
    ['b', 'LicenseRef-2.0.0', true],
  ]);
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

const path = fc.stringMatching(/^[a-z]{1,8}(\/[a-z]{1,8}){0,2}\.[a-z]{2}$/);
const entry: fc.Arbitrary<Entry> = fc.record({
  path,
  bytes: fc.uint8Array({ maxLength: 2000 }),
  executable: fc.boolean(),
});
const entries = fc.uniqueArray(entry, { selector: (each) => each.path, maxLength: 12 });

test('the same entries in any order give the same bytes, which contain them', () => {
  const shuffled = entries.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
  );
  fc.assert(
    fc.property(shuffled, ([one, other]) => {
      const zip = zipOf(one);
      assert.deepEqual(zipOf(other), zip);
      const read = unzipSync(zip);
      assert.deepEqual(Object.keys(read), one.map((each) => each.path).toSorted());
      for (const { path, bytes } of one) assert.deepEqual(Buffer.from(read[path] ?? []), Buffer.from(bytes));
    }),
  );
});

test('neither the time of day nor the time zone changes a byte', (t) => {
  const files = [{ path: 'a', bytes: new Uint8Array([1]), executable: false }];
  const { TZ } = process.env;
  t.after(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });
  process.env.TZ = 'Pacific/Kiritimati';
  const zip = zipOf(files);
  process.env.TZ = 'America/Los_Angeles';
  t.mock.timers.enable({ apis: ['Date'], now: 1e12 });
  assert.deepEqual(zipOf(files), zip);
});

test('another byte or another mode is another archive', () => {
  const file = { path: 'a', bytes: new Uint8Array([1]), executable: false };
  assert.notDeepEqual(zipOf([file]), zipOf([{ ...file, bytes: new Uint8Array([2]) }]));
  assert.notDeepEqual(zipOf([file]), zipOf([{ ...file, executable: true }]));
});

test('every page that names the versions of Node.js for the helper names those that its package accepts', () => {
  const accepted = HELPER_NODE_RANGE.split('||').map((each) =>
    each.replace(/[^\d.]/g, '').replace(/\.0$/, ''),
  );
  const pages = [
    'README.md',
    'docs/building.md',
    'extension/_locales/en/welcome.json',
    'extension/_locales/de/welcome.json',
  ];
  for (const page of pages) {
    const text = readFileSync(join(TOP, page), 'utf8');
    for (const version of accepted) assert.ok(text.includes(version), `${page} does not name ${version}`);
  }
});
