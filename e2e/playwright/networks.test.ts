// Which tests name a network alike, and what reports say where none does.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { compareReports } from '@photofinish/shared/report/report-compare';
import { comparison, report, reportOrigin } from '../../shared/testing/race-samples.ts';
import { machineSalt, withoutNetworks } from './networks.ts';

/** An empty state home, and the helper's directory in it, which need not exist. */
function stateHome(t: TestContext): { readonly env: NodeJS.ProcessEnv; readonly directory: string } {
  const home = mkdtempSync(join(tmpdir(), 'pf state '));
  t.after(() => rmSync(home, { recursive: true }));
  return { env: { XDG_STATE_HOME: home }, directory: join(home, 'photofinish') };
}

test('where state is kept all tests have one salt', (t) => {
  const { env, directory } = stateHome(t);
  mkdirSync(directory);
  const first = machineSalt(env);
  assert.equal(first?.length, 32);
  assert.deepEqual(machineSalt(env), first);
  assert.deepEqual(readdirSync(directory), ['cache.db.salt']);
});

test('where nothing is kept there is no salt, and none is created', (t) => {
  const { env, directory } = stateHome(t);
  assert.equal(machineSalt(env), null);
  assert.equal(existsSync(directory), false);
});

test('what is no salt, or that others can write, is not used', (t) => {
  const { env, directory } = stateHome(t);
  mkdirSync(directory);
  const salt = join(directory, 'cache.db.salt');
  writeFileSync(salt, 'short', { mode: 0o600 });
  assert.equal(machineSalt(env), null);
  writeFileSync(salt, Buffer.alloc(32));
  assert.notEqual(machineSalt(env), null);
  chmodSync(salt, 0o666);
  assert.equal(machineSalt(env), null);
});

test('reports without a salt in common do not claim to be of different networks', () => {
  const onNetwork = (network: string) => {
    const races = [{ ...comparison([1, 2, 3], [2, 3, 4]), network }];
    return report([reportOrigin({ races })], { network, networks: [network, 'offline'] });
  };
  const [before, after] = [onNetwork('net-1'), onNetwork('net-2')];
  const conditionsOf = (a: typeof before, b: typeof after) =>
    compareReports(a, b)
      .conditions.map(({ condition }) => condition)
      .filter((condition) => condition.includes('network'));
  assert.deepEqual(conditionsOf(before, after), ['network']);
  assert.deepEqual(conditionsOf(withoutNetworks(before), withoutNetworks(after)), ['unknown-network']);
  assert.doesNotMatch(JSON.stringify(withoutNetworks(before)), /net-1/);
  assert.deepEqual(withoutNetworks(before).networks, ['unidentified', 'offline']);
  assert.equal(withoutNetworks(report([], { network: 'unknown' })).network, 'unknown');
});
