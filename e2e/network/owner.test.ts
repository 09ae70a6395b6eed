// A namespace that is swept while its owner lives takes a running test down; one that is not swept stays for ever.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { namespaceName, ownerOf, thisProcess } from './owner.ts';

const natural = fc.nat();

test('a name gives back its owner', () => {
  fc.assert(
    fc.property(natural, natural, natural, fc.stringMatching(/^[a-z0-9]+$/), (pid, start, serial, role) => {
      assert.deepEqual(ownerOf(namespaceName({ pid, start }, serial, role)), { pid, start });
    }),
  );
});

test('nobody else is taken for an owner', () => {
  for (const name of ['client', 'photofinish', 'photofinish-1-2-client', 'x-photofinish-1-2-3-client'])
    assert.equal(ownerOf(name), null, name);
});

test('a role that would blur the name is refused', () => {
  for (const role of ['', 'Client', 'a-b', '../x', 'a b'])
    assert.throws(() => namespaceName({ pid: 1, start: 1 }, 1, role), RangeError, role);
});

test('this process is the same however often it is asked for', { skip: process.platform !== 'linux' }, () => {
  assert.deepEqual(thisProcess(), thisProcess());
  assert.ok(thisProcess().start > 0);
});
