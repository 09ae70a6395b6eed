import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SHARED_FRESH_MS } from '../cache/policy.ts';
import type { SharedRecord } from '../cache/record.ts';
import { FLEET_SCHEMA, HOUR_MS, readOutcome, writeOutcome } from './document.ts';

const HOUR = 500_000 * HOUR_MS;
const NOW = HOUR + 1_234_567;
const WORKS: SharedRecord = { key: 'k', atMs: HOUR, h3Failure: null, tcpProtocol: null };
const FAILED: SharedRecord = { key: 'k', atMs: HOUR, h3Failure: 'udp-timeout', tcpProtocol: 'h2' };

const bytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));
const read = (value: unknown, nowMs = NOW) => readOutcome('k', bytes(value), nowMs);
const DOCUMENT = { schema: FLEET_SCHEMA, atMs: HOUR, h3: 'failed', failure: 'udp-timeout', tcp: 'h2' };

test('an outcome survives the way', () => {
  for (const outcome of [WORKS, FAILED]) assert.deepEqual(read(writeOutcome(outcome)), outcome);
  assert.deepEqual(read(DOCUMENT), FAILED);
});

test('a time finer than an hour is not written', () => {
  assert.throws(() => writeOutcome({ ...WORKS, atMs: NOW }));
});

test('whatever is not exactly an outcome is refused', () => {
  const { tcp: _, ...withoutTcp } = DOCUMENT;
  const wrong: readonly (readonly [string, unknown])[] = [
    ['no JSON', '{'],
    ['no object', '[]'],
    ['another schema', { ...DOCUMENT, schema: 'photofinish.fleet/2' }],
    ['more than belongs in it', { ...DOCUMENT, origin: 'https://a.test' }],
    ['a time finer than an hour', { ...DOCUMENT, atMs: HOUR + 1 }],
    ['no time', { ...DOCUMENT, atMs: '0' }],
    ['an unknown failure', { ...DOCUMENT, failure: 'bad-luck' }],
    ['a failure that is over within a minute', { ...DOCUMENT, failure: 'goaway' }],
    ['a failure of our own', { ...DOCUMENT, failure: 'internal' }],
    ['a failure without TCP', { ...DOCUMENT, tcp: null }],
    ['a failure with nothing about TCP', withoutTcp],
    ['HTTP/3 over TCP', { ...DOCUMENT, tcp: 'h3' }],
    ['a success with a failure', { ...DOCUMENT, h3: 'works' }],
    ['too long', `${JSON.stringify(DOCUMENT)}${' '.repeat(512)}`],
  ];
  for (const [name, value] of wrong) assert.equal(read(value), null, name);
});

test('an outcome is refused once it is too old, and before its hour', () => {
  assert.notEqual(read(DOCUMENT, HOUR + SHARED_FRESH_MS - 1), null);
  assert.equal(read(DOCUMENT, HOUR + SHARED_FRESH_MS), null);
  assert.notEqual(read(DOCUMENT, HOUR), null);
  assert.equal(read(DOCUMENT, HOUR - 1), null);
});
