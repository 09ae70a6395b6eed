import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { OFFLINE_NETWORK } from '@photofinish/shared/web/network-name';
import fc from 'fast-check';
import { ASIDE } from '../paths.ts';
import {
  keptSalt,
  linkLayerAddress,
  type NetworkFacts,
  networkKey,
  networkText,
  readSalt,
  siphash,
} from './key.ts';

const SALT = new Uint8Array(32).fill(1);
const HOME: NetworkFacts = {
  gateway: '192.168.1.1',
  linkLayer: 'aa:bb:cc:00:11:22',
  kind: 'wireless',
  ssid: 'home',
  tunnel: false,
};

test('every fact changes the key, and the salt determines the digest', () => {
  const keys = [
    networkKey(HOME, SALT),
    networkKey({ ...HOME, linkLayer: 'aa:bb:cc:00:11:23' }, SALT),
    networkKey({ ...HOME, linkLayer: null }, SALT),
    networkKey({ ...HOME, kind: 'wired' }, SALT),
    networkKey({ ...HOME, ssid: 'home-guest' }, SALT),
    networkKey({ ...HOME, tunnel: true }, SALT),
    networkKey(HOME, new Uint8Array(32).fill(2)),
  ];
  assert.equal(new Set(keys).size, keys.length);
  for (const key of keys) assert.match(key, /^net-[0-9a-f]{16}$/);
  // Equal addresses in two homes give two keys; a new address of the same gateway keeps the key.
  assert.equal(networkKey({ ...HOME, gateway: '10.0.0.1' }, SALT), keys[0]);
  assert.equal(networkKey(null, SALT), OFFLINE_NETWORK);
});

test('gateways behind virtual routers of the same group are told apart by their addresses', () => {
  for (const linkLayer of [
    '00:00:5e:00:01:01',
    '00:00:5e:00:02:01',
    '00:00:0c:07:ac:01',
    '00:00:0c:9f:f0:01',
  ]) {
    const here = networkKey({ ...HOME, linkLayer, gateway: '10.1.0.1' }, SALT);
    assert.notEqual(networkKey({ ...HOME, linkLayer, gateway: '192.168.7.254' }, SALT), here);
    assert.equal(networkKey({ ...HOME, linkLayer, gateway: '10.1.0.1' }, SALT), here);
  }
});

test('no name of a wireless network can imitate another fact', () => {
  const inName = networkKey({ ...HOME, ssid: 'a","tunnel' }, SALT);
  assert.notEqual(inName, networkKey({ ...HOME, ssid: 'a' }, SALT));
  assert.notEqual(
    networkKey({ ...HOME, linkLayer: 'a\nwired', ssid: '' }, SALT),
    networkKey({ ...HOME, linkLayer: 'a', ssid: 'wired' }, SALT),
  );
});

test('link-layer addresses are compared in one form, whatever their notation', () => {
  assert.equal(linkLayerAddress('A4-91-B1-00-0E-FF'), 'a4:91:b1:00:0e:ff');
  assert.equal(linkLayerAddress('bc:67:1c:40:3:f6'), 'bc:67:1c:40:03:f6');
  for (const none of ['', '00-00-00-00-00-00', 'link#4', '192.168.0.1', 'fe80::1', '(incomplete)'])
    assert.equal(linkLayerAddress(none), null, none);
  fc.assert(
    fc.property(fc.string(), (text) => {
      const address = linkLayerAddress(text);
      assert.ok(address === null || /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(address));
    }),
  );
});

test('in words: which facts were readable, never their values', () => {
  assert.equal(networkText(HOME), 'wireless, its gateway known by its link-layer address, its name was read');
  assert.equal(
    networkText({ ...HOME, linkLayer: null, ssid: '' }),
    'wireless, its gateway known by its IP address only, its name may not be read',
  );
  assert.equal(
    networkText({ gateway: '', linkLayer: null, kind: 'other', ssid: '', tunnel: true }),
    'of no known kind, without a gateway, a tunnel holds the default route',
  );
  for (const secret of [HOME.gateway, HOME.linkLayer ?? '']) assert.ok(!networkText(HOME).includes(secret));
});

const counting = (length: number) => Uint8Array.from({ length }, (_, n) => n);

test("the paper's own example (appendix A), and its reference vectors at word boundaries", () => {
  const vectors: [number, string][] = [
    [0, '726fdb47dd0e0e31'],
    [1, '74f839c593dc67fd'],
    [7, 'ab0200f58b01d137'],
    [8, '93f5f5799a932462'],
    [15, 'a129ca6149be45e5'],
    [63, '958a324ceb064572'],
  ];
  for (const [length, hash] of vectors)
    assert.equal(siphash(counting(16), counting(length)), hash, `${length}`);
});

function saltOf(path: string): Uint8Array {
  const kept = keptSalt(path);
  assert.ok(kept.state === 'kept');
  return kept.salt;
}

test('the salt is created once, kept private, and held in memory if it cannot be stored', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'photofinish-'));
  t.after(() => rm(directory, { recursive: true }));
  const path = join(directory, 'new', 'cache.db.salt');
  assert.equal(keptSalt(path).state, 'none');
  const salt = readSalt(path);
  assert.equal(salt.length, 32);
  assert.deepEqual(readSalt(path), salt);
  assert.deepEqual(saltOf(path), salt);
  assert.deepEqual(readFileSync(path), Buffer.from(salt));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  writeFileSync(join(directory, 'file'), '');
  assert.equal(readSalt(join(directory, 'file', 'salt')).length, 32);
});

for (const [what, spoil] of [
  ['cut short', (path: string) => truncateSync(path, 31)],
  ['too long', (path: string) => appendFileSync(path, 'x')],
  ['empty', (path: string) => truncateSync(path, 0)],
  ['writable by others', (path: string) => chmodSync(path, 0o622)],
] as const)
  test(`a salt that is ${what} is set aside and replaced, once, with a message`, async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'photofinish-'));
    t.after(() => rm(directory, { recursive: true }));
    const path = join(directory, 'cache.db.salt');
    const before = readSalt(path);
    spoil(path);
    const spoilt = readFileSync(path);
    const said: string[] = [];
    const salt = readSalt(path, { log: (message) => said.push(message) });
    assert.notDeepEqual(salt, before);
    assert.deepEqual(readSalt(path, { log: (message) => said.push(message) }), salt);
    assert.equal(said.length, 1);
    assert.match(said[0] ?? '', /was replaced/);
    const aside = readdirSync(directory).filter((name) => name !== 'cache.db.salt');
    assert.equal(aside.length, 1);
    assert.match(aside[0]?.slice('cache.db'.length) ?? '', ASIDE);
    assert.deepEqual(readFileSync(join(directory, aside[0] ?? '')), spoilt);
  });

test('a pipe or a world-writable directory is refused as a place for the salt, without waiting or replacing', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'photofinish-'));
  t.after(() => rm(directory, { recursive: true }));
  const pipe = join(directory, 'pipe');
  execFileSync('mkfifo', [pipe]);
  mkdirSync(join(directory, 'open'));
  chmodSync(join(directory, 'open'), 0o777);
  for (const path of [pipe, join(directory, 'open', 'salt')]) {
    const said: string[] = [];
    assert.equal(readSalt(path, { log: (message) => said.push(message) }).length, 32);
    assert.match(said.join(), /cannot be used/);
  }
  assert.ok(statSync(pipe).isFIFO());
  assert.deepEqual(readdirSync(join(directory, 'open')), []);
});
