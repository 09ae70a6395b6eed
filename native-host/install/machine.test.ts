// The arguments of reg.exe, and parsing its exports for any value; and replacing directories that programs use.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { scratchDirectory } from '../testing/scratch.ts';
import {
  DISK,
  DirectoryInUse,
  defaultValueIn,
  registryCommands,
  removeDirectory,
  replaceDirectory,
} from './machine.ts';

const KEY = 'HKCU\\Software\\Mozilla\\NativeMessagingHosts\\org.photofinish.host';

/** As written by reg.exe: a byte order mark, UTF-16LE, and both backslashes and quotes escaped. */
function exported(value: string): Buffer {
  const lines = [
    'Windows Registry Editor Version 5.00',
    '',
    `[HKEY_CURRENT_USER\\${KEY.slice('HKCU\\'.length)}]`,
    `@="${value.replaceAll(/[\\"]/g, '\\$&')}"`,
    '"other"=dword:00000001',
    '',
    '',
  ];
  return Buffer.from(`\ufeff${lines.join('\r\n')}`, 'utf16le');
}

test('a default value is read, in every language', () => {
  assert.equal(defaultValueIn(exported('C:\\Users\\Ελένη\\a b.json')), 'C:\\Users\\Ελένη\\a b.json');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const value = text.replaceAll(/[\r\n]/g, '');
      assert.equal(defaultValueIn(exported(value)), value);
    }),
  );
});

test('a key without a default value has none', () => {
  const text =
    '\ufeffWindows Registry Editor Version 5.00\r\n\r\n[HKEY_CURRENT_USER\\X]\r\n"a"="@=b"\r\n@=dword:1\r\n';
  assert.equal(defaultValueIn(Buffer.from(text, 'utf16le')), null);
});

test('values are passed unchanged: Node quotes each argument', () => {
  assert.deepEqual(registryCommands.write(KEY, 'C:\\a b\\x.json'), [
    'add',
    KEY,
    '/ve',
    '/t',
    'REG_SZ',
    '/d',
    'C:\\a b\\x.json',
    '/f',
  ]);
  assert.deepEqual(registryCommands.remove(KEY), ['delete', KEY, '/f']);
});

/** A directory with an earlier copy, and a fresh one to take its place. */
function twoCopies(t: TestContext) {
  const top = scratchDirectory(t);
  const [directory, fresh] = [join(top, 'helper'), join(top, 'helper.new')];
  for (const [path, text] of [
    [directory, 'earlier'],
    [fresh, 'fresh'],
  ] as const) {
    mkdirSync(path);
    writeFileSync(join(path, 'main.cjs'), text);
  }
  return { top, directory, fresh, main: () => readFileSync(join(directory, 'main.cjs'), 'utf8') };
}

/** A system of that kind on which this directory cannot be moved. */
function keeping(directory: string, platform = 'win32') {
  return {
    platform,
    rename(from: string, to: string): void {
      if (from === directory) throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
      renameSync(from, to);
    },
    remove: (path: string) => rmSync(path, { recursive: true, force: true }),
  };
}

test('a directory is replaced, and what an earlier call left beside it is deleted', (t) => {
  const { top, directory, fresh, main } = twoCopies(t);
  mkdirSync(`${directory}.old`);
  replaceDirectory(fresh, directory);
  assert.equal(main(), 'fresh');
  assert.deepEqual(readdirSync(top), ['helper']);
  removeDirectory(directory);
  removeDirectory(directory);
  assert.deepEqual(readdirSync(top), []);
});

test('a directory in use stays whole, whether it is replaced or removed', (t) => {
  const { directory, fresh, main } = twoCopies(t);
  assert.throws(() => replaceDirectory(fresh, directory, keeping(directory)), DirectoryInUse);
  assert.throws(() => removeDirectory(directory, keeping(directory)), DirectoryInUse);
  assert.equal(main(), 'earlier');
  // Elsewhere the reason is another one.
  assert.throws(() => removeDirectory(directory, keeping(directory, 'linux')), /^Error: EPERM/);
});

test('the earlier directory comes back if the fresh one cannot take its place', (t) => {
  const { directory, fresh, main } = twoCopies(t);
  assert.throws(() => replaceDirectory(fresh, directory, keeping(fresh)), /EPERM/);
  assert.equal(main(), 'earlier');
});

test('a replaced directory that cannot be deleted is left beside the fresh one', (t) => {
  const { directory, fresh, main } = twoCopies(t);
  const remove = (): void => {
    throw new Error('EPERM');
  };
  replaceDirectory(fresh, directory, { ...keeping(''), remove });
  assert.equal(main(), 'fresh');
  assert.ok(existsSync(`${directory}.old`));
});

test('a copy that fails leaves the earlier one and nothing else', (t) => {
  const { top, directory, fresh, main } = twoCopies(t);
  assert.throws(() => DISK.fill(directory, [{ from: join(top, 'nothing'), at: '' }]));
  assert.equal(main(), 'earlier');
  assert.deepEqual(readdirSync(top).toSorted(), ['helper', 'helper.new']);
  DISK.fill(directory, [{ from: fresh, at: '' }]);
  assert.equal(main(), 'fresh');
});
