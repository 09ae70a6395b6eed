import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Origin } from '@photofinish/shared/web/origin';
import { scratchDirectory } from '../testing/scratch.ts';
import { fleetKeys, readFleetSalt } from './keys.ts';

const SALT = new Uint8Array(16).fill(7);
const A = 'https://a.test' as Origin;
const B = 'https://b.test' as Origin;

test('a key depends on the origin, the label and the salt, and names none of them', () => {
  const keys = fleetKeys(SALT, 'office');
  const key = keys.keyOf(A);
  assert.match(key, /^[0-9a-f]{16}\.[0-9a-f]{64}$/);
  assert.equal(key, fleetKeys(SALT, 'office').keyOf(A));
  const others = [
    keys.keyOf(B),
    fleetKeys(SALT, 'home').keyOf(A),
    fleetKeys(new Uint8Array(16), 'office').keyOf(A),
  ];
  assert.equal(new Set([key, ...others].map((each) => each.split('.')[1])).size, 4);
});

test('only keys under the own label are its own', () => {
  const keys = fleetKeys(SALT, 'office');
  assert.equal(keys.isOwn(keys.keyOf(A)), true);
  assert.equal(keys.isOwn(fleetKeys(SALT, 'home').keyOf(A)), false);
  assert.equal(keys.isOwn(`${keys.keyOf(A)}0`), false);
});

test('a signature depends on the key, the text and the salt, and is none of the keys', () => {
  const keys = fleetKeys(SALT, 'office');
  const signature = keys.sign('k', 'text');
  assert.match(signature, /^[0-9a-f]{32}$/);
  assert.equal(signature, fleetKeys(SALT, 'home').sign('k', 'text'), 'the key stands for the label');
  const others = [
    keys.sign('l', 'text'),
    keys.sign('k', 'other'),
    fleetKeys(new Uint8Array(16), 'office').sign('k', 'text'),
  ];
  assert.equal(new Set([signature, ...others]).size, 4);
});

test("a salt that is too short, or that others can read or write, is not the organisation's secret", async (t) => {
  const directory = scratchDirectory(t);
  const path = join(directory, 'salt');
  writeFileSync(path, new Uint8Array(15), { mode: 0o600 });
  assert.throws(() => readFleetSalt(path), /less than 16 bytes/);
  writeFileSync(path, new Uint8Array(16));
  assert.equal(readFleetSalt(path).length, 16);
  writeFileSync(path, new Uint8Array(5000));
  assert.throws(() => readFleetSalt(path), /more than 4096 bytes/);
  writeFileSync(path, new Uint8Array(16));
  for (const mode of [0o622, 0o604, 0o640]) {
    chmodSync(path, mode);
    assert.throws(() => readFleetSalt(path), /is refused: others can/, mode.toString(8));
  }
  chmodSync(path, 0o600);
  assert.equal(readFleetSalt(path).length, 16);
});
