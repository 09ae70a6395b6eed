import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Origin } from '@photofinish/shared/web/origin';
import { SHARED_FRESH_MS } from '../cache/policy.ts';
import type { SharedRecord } from '../cache/record.ts';
import { scratchDirectory } from '../testing/scratch.ts';
import { FLEET_SCHEMA, fleetKeys, HOUR_MS, readFleetSalt, readOutcome, writeOutcome } from './entry.ts';

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

const HOUR = 500_000 * HOUR_MS;
const NOW = HOUR + 1_234_567;
const { sign } = fleetKeys(new Uint8Array(16).fill(7), 'office');
const WORKS: SharedRecord = { key: 'k', atMs: HOUR, h3Failure: null, tcpProtocol: null };
const FAILED: SharedRecord = { key: 'k', atMs: HOUR, h3Failure: 'udp-timeout', tcpProtocol: 'h2' };

const bytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));
const read = (value: unknown, nowMs = NOW) => readOutcome('k', bytes(value), nowMs, sign);
/** Valid in every other respect, so that only what a test changes can be the reason for a refusal. */
function signed(change: object = {}): Record<string, unknown> {
  const document = {
    schema: FLEET_SCHEMA,
    atMs: HOUR,
    h3: 'failed',
    failure: 'udp-timeout',
    tcp: 'h2',
    ...change,
  };
  const failure = document.h3 === 'failed' ? document.failure : null;
  return {
    ...document,
    mac: sign('k', JSON.stringify([FLEET_SCHEMA, document.atMs, failure, document.tcp])),
  };
}
const DOCUMENT = signed();

test('an outcome survives the way', () => {
  for (const outcome of [WORKS, FAILED]) assert.deepEqual(read(writeOutcome(outcome, sign)), outcome);
  assert.deepEqual(read(DOCUMENT), FAILED);
});

test('a time finer than an hour is not written', () => {
  assert.throws(() => writeOutcome({ ...WORKS, atMs: NOW }, sign));
});

test('whatever is not exactly an outcome is refused', () => {
  const { tcp: _, ...withoutTcp } = DOCUMENT;
  const wrong: readonly (readonly [string, unknown])[] = [
    ['no JSON', '{'],
    ['no object', '[]'],
    ['another schema', { ...DOCUMENT, schema: 'photofinish.fleet/2' }],
    ['more than belongs in it', { ...DOCUMENT, origin: 'https://a.test' }],
    ['a time finer than an hour', signed({ atMs: HOUR + 1 })],
    ['no time', signed({ atMs: '0' })],
    ['an unknown failure', signed({ failure: 'bad-luck' })],
    ['a failure that is over within a minute', signed({ failure: 'goaway' })],
    ['a failure of our own', signed({ failure: 'internal' })],
    ['a failure without TCP', signed({ tcp: null })],
    ['a failure with nothing about TCP', withoutTcp],
    ['HTTP/3 over TCP', signed({ tcp: 'h3' })],
    ['a success with a failure', signed({ h3: 'works' })],
    ['too long', `${JSON.stringify(DOCUMENT)}${' '.repeat(512)}`],
  ];
  for (const [name, value] of wrong) assert.equal(read(value), 'malformed', name);
});

test('a value that was not signed with the secret, or for another key or outcome, is refused', () => {
  const { mac, ...unsigned } = DOCUMENT;
  const { failure: _, ...works }: Record<string, unknown> = { ...DOCUMENT, h3: 'works' };
  const other = fleetKeys(new Uint8Array(16), 'office').sign;
  const forged: readonly (readonly [string, unknown])[] = [
    ['another signature', { ...DOCUMENT, mac: '0'.repeat(32) }],
    ['another failure', { ...DOCUMENT, failure: 'udp-refused' }],
    ['another result', works],
    ['another hour', { ...DOCUMENT, atMs: HOUR - HOUR_MS }],
    ['another protocol over TCP', { ...DOCUMENT, tcp: 'http/1.1' }],
    ['another secret', writeOutcome(FAILED, other)],
    ["another key's", writeOutcome({ ...FAILED, key: 'l' }, sign)],
  ];
  for (const [name, value] of forged) assert.equal(read(value), 'unauthenticated', name);
  for (const value of [unsigned, { ...DOCUMENT, mac: String(mac).slice(0, 16) }])
    assert.equal(read(value), 'malformed', 'without a whole signature');
  assert.deepEqual(read(DOCUMENT), FAILED);
});

test('an outcome is refused once it is too old, and before its hour', () => {
  assert.deepEqual(read(DOCUMENT, HOUR + SHARED_FRESH_MS - 1), FAILED);
  assert.equal(read(DOCUMENT, HOUR + SHARED_FRESH_MS), 'outdated');
  assert.deepEqual(read(DOCUMENT, HOUR), FAILED);
  assert.equal(read(DOCUMENT, HOUR - 1), 'ahead');
});
