// One list of roots and one verifier for both transports: their contents, and the messages about unusable CA files.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { getCACertificates } from 'node:tls';
import { throwawayCa } from './testing/certificates.ts';
import { scratchDirectory } from './testing/scratch.ts';
import { readTrust } from './trust.ts';

const dir = scratchDirectory({ after });

async function file(name: string, text: string): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, text);
  return path;
}

const [first = '', second = ''] = getCACertificates('bundled');

test('bundled roots are known; those of CA files are added, all of a file', async () => {
  const path = await file('two.pem', `comment\n${first}\n${second}\n`);
  const trust = await readTrust([path]);
  const { bundled, extra } = trust.roots();
  assert.deepEqual([...bundled], getCACertificates('bundled'));
  assert.equal(extra.at(-1)?.match(/BEGIN CERTIFICATE/g)?.length, 2);
});

test('no root is listed twice, however its lines are wrapped', async (t) => {
  const bundled = getCACertificates('bundled');
  const line = (pem: string): string => pem.replaceAll(/-----[A-Z ]+-----|\s/g, '');
  const rewrapped = `-----BEGIN CERTIFICATE-----\n${line(first).replaceAll(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`;
  assert.notEqual(rewrapped, first);
  const system = getCACertificates('system');
  t.diagnostic(`the system lists ${system.length} certificates`);
  const trust = await readTrust([await file('known.pem', rewrapped), await file('twice.pem', first)]);
  const { extra } = trust.roots();
  const lines = [...bundled, ...extra].map(line);
  assert.equal(new Set(lines).size, lines.length);
  for (const pem of system) assert.ok(lines.includes(line(pem)));
});

test('variables add to the roots of the system, and replace none', async (t) => {
  const names = ['SSL_CERT_FILE', 'SSL_CERT_DIR'] as const;
  const before = names.map((name) => process.env[name]);
  const set = (values: readonly (string | undefined)[]): void => {
    for (const [index, name] of names.entries()) {
      const value = values[index];
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  t.after(() => set(before));
  const extra = async (...values: readonly (string | undefined)[]): Promise<readonly string[]> => {
    set(values);
    const trust = await readTrust([]);
    const { extra } = trust.roots();
    assert.deepEqual(
      names.map((name) => process.env[name]),
      values,
    );
    return extra;
  };
  const system = await extra(undefined, undefined);
  assert.deepEqual(await extra('', ''), system);
  assert.deepEqual(await extra(join(dir, 'nowhere.pem'), join(dir, 'nowhere')), system);
  const named = await file('named.pem', throwawayCa().cert);
  const added = await extra(named, undefined);
  assert.deepEqual(added.slice(0, system.length), system);
  assert.equal(added.length, system.length + 1);
});

test('the store is created once, and refuses what is not a chain', async () => {
  const trust = await readTrust([]);
  const store = trust.store();
  assert.equal(trust.store(), store);
  for (const chain of [[], [Buffer.from('no certificate')], [new X509Certificate(first).raw]])
    assert.equal(store.judge('a.test', chain).outcome, 'refused');
});

test('a missing, empty or broken file is refused by name', async () => {
  const missing = join(dir, 'missing.pem');
  const empty = await file('empty.pem', '');
  const broken = await file(
    'broken.pem',
    `${first}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
  );
  const refused = (path: string, message: RegExp): Promise<void> =>
    assert.rejects(readTrust([path]), { message });
  await refused(missing, /^cannot read the CA file .*missing\.pem: ENOENT/);
  await refused(empty, /empty\.pem holds no PEM certificate$/);
  await refused(broken, /^certificate 2 in the CA file .*broken\.pem is broken: /);
});
