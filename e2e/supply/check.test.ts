// Every way around a lock is reported, and properly pinned dependencies are not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cargoFaults, goFaults, npmFaults, pythonFaults } from './check.ts';

const SHA512 = `sha512-${'A'.repeat(86)}==`;

function npmLock(entry: object, dependencies: object = {}): string {
  const packages = { '': { dependencies }, 'node_modules/a': entry };
  return JSON.stringify({ lockfileVersion: 3, packages });
}

test('npm: a digest, and the public registry if one is named', () => {
  assert.deepEqual(npmFaults(npmLock({ integrity: SHA512 })), []);
  const resolved = 'https://registry.npmjs.org/a/-/a-1.0.0.tgz';
  assert.deepEqual(npmFaults(npmLock({ integrity: SHA512, resolved })), []);
  assert.deepEqual(npmFaults(npmLock({ link: true, resolved: 'shared' })), []);
  assert.deepEqual(npmFaults(npmLock({})), ['node_modules/a has no SHA-512']);
  assert.deepEqual(npmFaults(npmLock({ integrity: 'sha1-abc=' })), ['node_modules/a has no SHA-512']);
  for (const elsewhere of ['git+ssh://git@host.test/a.git#1', 'https://host.test/a.tgz', 'file:../a'])
    assert.deepEqual(npmFaults(npmLock({ integrity: SHA512, resolved: elsewhere })), [
      `node_modules/a comes from ${elsewhere}`,
    ]);
});

test('npm: our own packages depend on versions, nothing else', () => {
  for (const wanted of ['1.0.0', '^24', '>=1 <2 || 3.x', '~1.2.3-beta.1'])
    assert.deepEqual(npmFaults(npmLock({ integrity: SHA512 }, { a: wanted })), []);
  for (const wanted of [
    'git+https://host.test/a',
    'https://host.test/a.tgz',
    'owner/a',
    'file:../a',
    'latest',
  ])
    assert.deepEqual(npmFaults(npmLock({ integrity: SHA512 }, { a: wanted })), [
      `package.json asks for a from ${wanted}`,
    ]);
});

test('npm: another lock file format is rejected', () => {
  assert.throws(() => npmFaults('{"lockfileVersion":1,"dependencies":{}}'));
});

const CRATE = `version = 4
[[package]]
name = "a"
version = "1.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "${'0'.repeat(64)}"
`;

test('cargo: crates.io with a checksum, or ours', () => {
  assert.deepEqual(cargoFaults(CRATE, []), []);
  assert.deepEqual(cargoFaults(CRATE.replace(/^checksum.*\n/m, ''), []), ['a has no checksum']);
  assert.deepEqual(cargoFaults(CRATE.replace(/"registry.*"/, '"git+https://host.test/a#1"'), []), [
    'a comes from git+https://host.test/a#1',
  ]);
  const folder = CRATE.replace(/^(source|checksum).*\n/gm, '');
  assert.deepEqual(cargoFaults(folder, []), ['a comes from a folder']);
  assert.deepEqual(cargoFaults(folder, ['a']), []);
  assert.deepEqual(cargoFaults('', []), ['Cargo.lock names no crate']);
});

const GO_MOD =
  'module x.test/a\n\ngo 1.26\n\nrequire x.test/b v1.0.0\n\nrequire (\n\tx.test/c v1.1.0 // indirect\n)\n';
const GO_SUM = ['b v1.0.0', 'c v1.1.0']
  .map((each) => `x.test/${each}/go.mod h1:${'a'.repeat(43)}=\n`)
  .join('');

test('Go: a sum for each module, and no replacement', () => {
  assert.deepEqual(goFaults(GO_MOD, GO_SUM), []);
  assert.deepEqual(goFaults(GO_MOD, ''), ['x.test/b v1.0.0 has no sum', 'x.test/c v1.1.0 has no sum']);
  assert.deepEqual(goFaults(`${GO_MOD}replace x.test/b => ../b\n`, GO_SUM), [
    'go.mod has: replace x.test/b => ../b',
  ]);
  assert.deepEqual(goFaults('module x.test/a\n', ''), ['go.mod requires nothing']);
});

test('Python: one version and its digests', () => {
  const hash = `--hash=sha256:${'0'.repeat(64)}`;
  assert.deepEqual(pythonFaults(`# why\na==1.0 \\\n    ${hash} \\\n    ${hash}\nb[x]==2 ${hash}\n`), []);
  assert.deepEqual(pythonFaults('a==1.0\n'), ['a==1.0 has no SHA-256']);
  for (const line of ['a>=1', 'git+https://host.test/a', '--index-url https://host.test', '-e ../a'])
    assert.deepEqual(pythonFaults(`${line} ${hash}`), [`not pinned to a version: ${line} ${hash}`]);
  assert.deepEqual(pythonFaults(''), ['requirements.txt names nothing']);
});
