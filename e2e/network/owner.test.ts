// Removing a namespace whose owner is alive breaks a running test; one that is never removed stays until reboot.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { namespaceName, ownerOf, thisProcess } from './owner.ts';

const natural = fc.nat();

test('a name identifies its owner', () => {
  fc.assert(
    fc.property(natural, natural, natural, fc.stringMatching(/^[a-z0-9]+$/), (pid, start, serial, role) => {
      assert.deepEqual(ownerOf(namespaceName({ pid, start }, serial, role)), { pid, start });
    }),
  );
});

test('other names have no owner', () => {
  for (const name of ['client', 'photofinish', 'photofinish-1-2-client', 'x-photofinish-1-2-3-client'])
    assert.equal(ownerOf(name), null, name);
});

test('a role that would make the name ambiguous is rejected', () => {
  for (const role of ['', 'Client', 'a-b', '../x', 'a b'])
    assert.throws(() => namespaceName({ pid: 1, start: 1 }, 1, role), RangeError, role);
});

test('this process has the same identity on every call', { skip: process.platform !== 'linux' }, () => {
  assert.deepEqual(thisProcess(), thisProcess());
  assert.ok(thisProcess().start > 0);
});
