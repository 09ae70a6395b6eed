// Proves that the hard-coded id is the one that Chromium derives from the manifest's key.
import assert from 'node:assert/strict';
import { createHash, createPublicKey } from 'node:crypto';
import { test } from 'node:test';
import { CHROMIUM_EXTENSION_ID, EXTENSION_KEY } from './extension-id.ts';

test('the Chromium id follows from the key', () => {
  const der = Buffer.from(EXTENSION_KEY, 'base64');
  const digest = createHash('sha256').update(der).digest('hex').slice(0, 32);
  const id = [...digest].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 16))).join('');
  assert.equal(CHROMIUM_EXTENSION_ID, id);
});

test('the key is an RSA public key', () => {
  const key = createPublicKey({ key: Buffer.from(EXTENSION_KEY, 'base64'), format: 'der', type: 'spki' });
  assert.equal(key.asymmetricKeyType, 'rsa');
  assert.equal(key.asymmetricKeyDetails?.modulusLength, 2048);
});
