import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkLabel, networkMeant } from './network-names.ts';

const NAMES = new Map([
  ['net-1', 'Home'],
  ['net-2', 'Cafe'],
  ['net-3', 'Cafe'],
]);

test('a network goes by its name, by its key where the name is not its own', () => {
  assert.equal(networkLabel('net-1', NAMES), 'Home');
  assert.equal(networkLabel('net-2', NAMES), 'Cafe (net-2)');
  assert.equal(networkLabel('net-9', NAMES), 'net-9');
});

test('a name stands for its network where it is the only one', () => {
  assert.equal(networkMeant('Home', NAMES), 'net-1');
  assert.equal(networkMeant('Cafe', NAMES), 'Cafe');
  assert.equal(networkMeant('net-2', NAMES), 'net-2');
});
