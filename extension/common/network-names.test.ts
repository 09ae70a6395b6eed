// Names of networks: stored here, sent to the helper once it answers, adopted from it, and never lost in between.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRecognisable } from '@photofinish/shared/web/network-name';
import { memoryStore } from '../testing/storage.ts';
import { HelperError } from './helper/state.ts';
import {
  addNames,
  agreeOnNames,
  areOtherNetworks,
  forgetNames,
  loadNames,
  type NamingHelper,
  nameNetwork,
  nameOrKey,
  onNames,
} from './network-names.ts';
import type { Store } from './store/store.ts';

/** The helper's end: its names, and every naming it receives. */
function helperWith(kept: Record<string, string>) {
  const names = new Map(Object.entries(kept));
  const heard: (readonly [string, string | null])[] = [];
  const list = async () =>
    [{ network: 'net-now', name: names.get('net-now') ?? null, current: true }].concat(
      [...names]
        .filter(([network]) => network !== 'net-now')
        .map(([network, name]) => ({ network, name, current: false })),
    );
  const helper: NamingHelper = {
    networks: list,
    async nameNetwork(network, name) {
      if (network === 'offline') throw new HelperError('bad-network', 'that network cannot be named');
      heard.push([network, name]);
      if (name === null) names.delete(network);
      else names.set(network, name);
      return list();
    },
  };
  return { helper, heard, names };
}

const entries = async (store: Store) => Object.fromEntries(await loadNames(store));

test('a name given without a helper applies here and is sent once it answers, once', async () => {
  const store = memoryStore();
  await nameNetwork(store, 'net-1', '  Home ');
  assert.deepEqual(await entries(store), { 'net-1': 'Home' });
  const { helper, heard } = helperWith({});
  await agreeOnNames(store, helper);
  await agreeOnNames(store, helper);
  assert.deepEqual(heard, [['net-1', 'Home']]);
  assert.deepEqual(await entries(store), { 'net-1': 'Home' });
});

test('what was named or unnamed elsewhere applies here, too', async () => {
  const store = memoryStore();
  const { helper, names } = helperWith({ 'net-1': 'Home', 'net-2': 'Work' });
  await agreeOnNames(store, helper);
  assert.deepEqual(await entries(store), { 'net-1': 'Home', 'net-2': 'Work' });
  names.delete('net-2');
  names.set('net-1', 'Flat');
  await agreeOnNames(store, helper);
  assert.deepEqual(await entries(store), { 'net-1': 'Flat' });
});

test('a name removed here while the helper was gone does not come back from it', async () => {
  const store = memoryStore();
  const { helper, heard } = helperWith({ 'net-1': 'Home' });
  await agreeOnNames(store, helper);
  await nameNetwork(store, 'net-1', null);
  assert.deepEqual(await entries(store), {});
  await agreeOnNames(store, helper);
  assert.deepEqual([heard, await entries(store)], [[['net-1', null]], {}]);
});

test('a name given while the helper is being updated is not lost', async () => {
  const store = memoryStore();
  await nameNetwork(store, 'net-1', 'Home');
  const { helper, names } = helperWith({});
  const slow: NamingHelper = {
    networks: helper.networks,
    async nameNetwork(network, name) {
      const answer = await helper.nameNetwork(network, name);
      if (name === 'Home') await nameNetwork(store, 'net-1', 'Flat');
      return answer;
    },
  };
  await agreeOnNames(store, slow);
  assert.deepEqual(await entries(store), { 'net-1': 'Flat' });
  await agreeOnNames(store, slow);
  assert.equal(names.get('net-1'), 'Flat');
});

test('an unavailable or too old helper changes nothing; if one rejects a network, it is not retried', async () => {
  const store = memoryStore();
  await nameNetwork(store, 'net-1', 'Home');
  const away: NamingHelper = {
    networks: () => Promise.reject(new HelperError('helper-missing', '')),
    nameNetwork: () => Promise.reject(new HelperError('unknown-type', '')),
  };
  await assert.rejects(agreeOnNames(store, away));
  assert.deepEqual(await entries(store), { 'net-1': 'Home' });
  const other = memoryStore();
  await nameNetwork(other, 'offline', 'Nowhere');
  await nameNetwork(other, 'net-2', 'Work');
  const { helper, heard } = helperWith({});
  await agreeOnNames(other, helper);
  assert.deepEqual([heard, await entries(other)], [[['net-2', 'Work']], { 'net-2': 'Work' }]);
});

test('imported names apply to networks that have none; forgetting removes all; listeners are called', async () => {
  const store = memoryStore();
  const heard: string[] = [];
  onNames(store, (names) => heard.push([...names.values()].join()));
  await nameNetwork(store, 'net-1', 'Home');
  await addNames(store, { 'net-1': 'Other', 'net-2': 'Work', unknown: 'Nowhere' });
  assert.deepEqual(await entries(store), { 'net-1': 'Home', 'net-2': 'Work' });
  await forgetNames(store);
  assert.deepEqual([await entries(store), heard], [{}, ['Home', 'Home,Work', '']]);
});

test('an invalid name is rejected, and an invalid stored name is not shown', async () => {
  const store = memoryStore();
  await assert.rejects(nameNetwork(store, 'net-1', 'a\u202eb'));
  await store.replace('network-names', 0, { names: { 'net-1': '\u0007' }, untold: 3 });
  assert.deepEqual(await entries(store), {});
});

test('two networks with one name are distinguished, and what is no network has no name', () => {
  const names = new Map([
    ['net-1', 'Home'],
    ['net-2', 'Hotel'],
    ['net-3', 'Hotel'],
  ]);
  assert.deepEqual(
    ['net-1', 'net-2', 'net-3', 'net-4'].map((key) => nameOrKey(names, key)),
    ['Home', 'Hotel (net-2)', 'Hotel (net-3)', 'net-4'],
  );
  const keys = ['', 'unknown', 'offline', 'unidentified', 'net-1'];
  assert.deepEqual(keys.filter(isRecognisable), ['net-1']);
  assert.deepEqual(
    keys.filter((key) => areOtherNetworks(key, 'net-2') || areOtherNetworks('net-2', key)),
    ['net-1'],
  );
  assert.equal(areOtherNetworks('net-1', 'net-1'), false);
});
