// Whether the fixtures start a helper, and which: the checkout's, or the package's if it is ours. Which tests name a
// network alike, and what reports say where none does.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { compareReports } from '@photofinish/shared/report/report-compare';
import { comparison, report, reportOrigin } from '../../shared/testing/race-samples.ts';
import { TOP } from '../scratch.ts';
import { machineSalt, withoutNetworks } from './extension.ts';
import { checkedOptions, checkScripts, helperCommand, helperSettings } from './fixtures.ts';

/** The URL of the fixtures in a project that has this package where npm puts the helper; null: nothing is there. */
function projectWith(
  t: TestContext,
  manifest: object | null,
): { readonly from: string; readonly at: string } {
  const project = mkdtempSync(join(tmpdir(), 'pf project '));
  t.after(() => rmSync(project, { recursive: true }));
  const at = join(project, 'node_modules/@photofinish/helper');
  const from = join(project, 'node_modules/@photofinish/playwright/dist/playwright.js');
  mkdirSync(dirname(from), { recursive: true });
  if (manifest !== null) {
    mkdirSync(at);
    writeFileSync(join(at, 'package.json'), JSON.stringify(manifest));
  }
  return { from: pathToFileURL(from).href, at };
}

const OURS = { name: '@photofinish/helper', version: '1.2.3', bin: { photofinish: 'bin/photofinish.cjs' } };

test('the checkout has its own helper', () => {
  const built = pathToFileURL(join(TOP, 'e2e/playwright/dist/playwright.js'));
  assert.deepEqual(helperCommand(built.href), [join(TOP, 'native-host/bin/photofinish')]);
});

test('the package beside the fixtures is started by this Node', (t) => {
  const { from, at } = projectWith(t, OURS);
  assert.deepEqual(helperCommand(from), [process.execPath, join(at, 'bin/photofinish.cjs')]);
});

test('without the package its name is said', (t) => {
  const { from } = projectWith(t, null);
  assert.throws(() => helperCommand(from), /not found: install the package @photofinish\/helper@1,/);
});

for (const [other, version, rest] of [
  ['photofinish', '1.8.0', { bin: 'cli.js' }],
  ['photofinish', '1.8.0', {}],
  ['@photofinish/helper', '2.0.0', { bin: OURS.bin }],
] as const)
  test(`${other} ${version} in its place is reported, not started`, (t) => {
    const { from } = projectWith(t, { name: other, version, ...rest });
    assert.throws(() => helperCommand(from), {
      message: new RegExp(`is of ${other}@${version}, not the helper: install @photofinish/helper@1 instead`),
    });
  });

test('on Windows tests run without the helper, and settings for it are refused', () => {
  const settings = { allowPrivate: ['127.0.0.0/8'] };
  for (const platform of ['linux', 'darwin'] as const)
    assert.deepEqual(
      [true, settings, false].map((option) => helperSettings(option, platform)),
      [{}, settings, null],
    );
  assert.deepEqual(
    [true, false].map((option) => helperSettings(option, 'win32')),
    [null, null],
  );
  assert.throws(() => helperSettings(settings, 'win32'), /Windows/);
});

test('an option that is not given, or undefined, has its default; one that does not exist is refused', () => {
  const defaults = { helper: true, attachReport: true };
  assert.deepEqual(checkedOptions({}), defaults);
  const unset = { helper: undefined, attachReport: undefined } as object;
  assert.deepEqual(checkedOptions(unset), defaults);
  assert.deepEqual(checkedOptions({ helper: false, attachReport: false }), {
    helper: false,
    attachReport: false,
  });
  const misspelt = { attachreport: false } as object;
  assert.throws(() => checkedOptions(misspelt), /has helper and attachReport, not attachreport\.$/);
});

test('tests without JavaScript are refused in one sentence', () => {
  assert.throws(
    () => checkScripts(false),
    /needs JavaScript in Chromium: remove the option javaScriptEnabled: false\.$/,
  );
  assert.doesNotThrow(() => checkScripts(true));
  assert.doesNotThrow(() => checkScripts(undefined));
});

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

test("no salt is created beside another program's file", (t) => {
  const { env, directory } = stateHome(t);
  mkdirSync(directory);
  writeFileSync(join(directory, 'cache.db'), "another program's");
  assert.equal(machineSalt(env), null);
  assert.deepEqual(readdirSync(directory), ['cache.db']);
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
