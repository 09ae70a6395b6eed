// The arguments of reg.exe, and parsing its exports for any value.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { defaultValueIn, registryCommands } from './machine.ts';

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
