// Installing and uninstalling in the test's own home directory: every browser, every reason to skip or fail. And the
// contents of the manifest, and parsing it.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CHROMIUM_EXTENSION_ID, FIREFOX_EXTENSION_ID } from '@photofinish/shared/port/extension-id';
import { scratchDirectory } from '../testing/scratch.ts';
import type { BrowserName } from './browser-names.ts';
import { type Browser, browsersOf, type UserDirectories, userDirectories } from './browsers.ts';
import { earlierConfig, earlierIds, install, uninstall } from './install.ts';
import { type InstallRequest, planInstall } from './install-plan.ts';
import { DISK, type Machine } from './machine.ts';
import { allowedBy, isChromiumExtensionId, manifestText, parseManifest } from './manifest.ts';

/** The real disk, with the paths of Linux. */
const LINUX: Machine = { platform: 'linux', disk: DISK, registry: null };
const LAUNCHER = { runtime: '/opt/node', main: '/opt/main.js', config: null, copy: null };
const ALL: InstallRequest = { browsers: [], userDataDirectory: null, extensionIds: [] };

const PROFILES: Record<BrowserName, string> = {
  chromium: '.config/chromium',
  chrome: '.config/google-chrome',
  edge: '.config/microsoft-edge',
  brave: '.config/BraveSoftware/Brave-Browser',
  firefox: '.mozilla/firefox',
};
const MANIFESTS: Record<BrowserName, string> = {
  chromium: '.config/chromium/NativeMessagingHosts/org.photofinish.host.json',
  chrome: '.config/google-chrome/NativeMessagingHosts/org.photofinish.host.json',
  edge: '.config/microsoft-edge/NativeMessagingHosts/org.photofinish.host.json',
  brave: '.config/BraveSoftware/Brave-Browser/NativeMessagingHosts/org.photofinish.host.json',
  firefox: '.mozilla/native-messaging-hosts/org.photofinish.host.json',
};
const NAMES = Object.keys(PROFILES) as BrowserName[];

function newHome(t: TestContext, profiles: readonly string[]): UserDirectories {
  const home = scratchDirectory(t);
  for (const profile of profiles) mkdirSync(join(home, profile), { recursive: true });
  return userDirectories('linux', {}, home);
}

function run(request: InstallRequest, directories: UserDirectories) {
  return install(planInstall(request, LAUNCHER, directories, existsSync), LINUX);
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .sort();
}

function stateOf(result: ReturnType<typeof install>, name: BrowserName) {
  return result.browsers.find(({ browser }) => browser === name)?.state;
}

for (const name of NAMES)
  test(`${name}: found by its profile, manifest and launcher written, all removed again`, (t) => {
    const directories = newHome(t, [PROFILES[name]]);
    const result = run(ALL, directories);
    assert.equal(stateOf(result, name), 'written');
    assert.deepEqual(filesBelow(directories.home), ['.local/share/photofinish/host', MANIFESTS[name]].sort());
    const manifest = JSON.parse(readFileSync(join(directories.home, MANIFESTS[name]), 'utf8'));
    assert.equal(manifest.path, result.launcher.path);
    if (name === 'firefox') assert.deepEqual(manifest.allowed_extensions, [FIREFOX_EXTENSION_ID]);
    else assert.deepEqual(manifest.allowed_origins, [`chrome-extension://${CHROMIUM_EXTENSION_ID}/`]);
    for (const other of NAMES.filter((each) => each !== name))
      assert.equal(stateOf(result, other), 'skipped');

    assert.equal(stateOf(uninstall(ALL, directories, LINUX), name), 'removed');
    assert.deepEqual(filesBelow(directories.home), []);
    assert.equal(existsSync(dirname(result.launcher.path)), false);
  });

test('the launcher is for its owner alone, the manifest not writable by others', (t) => {
  const directories = newHome(t, Object.values(PROFILES));
  const result = run(ALL, directories);
  assert.equal(statSync(result.launcher.path).mode & 0o777, 0o700);
  for (const { path } of result.browsers) assert.equal(statSync(path ?? '').mode & 0o022, 0);
});

test('installing twice replaces both and leaves nothing half-written', (t) => {
  const directories = newHome(t, [PROFILES.chromium]);
  run(ALL, directories);
  const before = filesBelow(directories.home);
  const moved = { ...LAUNCHER, main: '/elsewhere/main.js' };
  const result = install(planInstall(ALL, moved, directories, existsSync), LINUX);
  assert.deepEqual(filesBelow(directories.home), before);
  assert.match(readFileSync(result.launcher.path, 'utf8'), /elsewhere/);
});

test('a browser requested by name is written although it was never started', (t) => {
  const directories = newHome(t, []);
  const result = run({ ...ALL, browsers: ['edge'] }, directories);
  assert.deepEqual(
    result.browsers.map(({ browser, state }) => [browser, state]),
    [['edge', 'written']],
  );
});

test('no browser found: nothing is written, not even the launcher', (t) => {
  const directories = newHome(t, []);
  const result = run(ALL, directories);
  assert.equal(result.launcher.state, 'kept');
  assert.deepEqual(filesBelow(directories.home), []);
});

test('one blocked manifest does not affect other browsers', (t) => {
  const directories = newHome(t, Object.values(PROFILES));
  // A file where the directory should be fails for every user, root included.
  writeFileSync(join(directories.configHome, 'chromium/NativeMessagingHosts'), '');
  const result = run(ALL, directories);
  assert.equal(stateOf(result, 'chromium'), 'failed');
  assert.match(result.browsers.find(({ browser }) => browser === 'chromium')?.reason ?? '', /in the way/);
  for (const other of ['chrome', 'edge', 'brave', 'firefox'] as const)
    assert.equal(stateOf(result, other), 'written');
});

test('without a launcher no manifest is written', (t) => {
  const directories = newHome(t, [PROFILES.chromium]);
  mkdirSync(directories.dataHome, { recursive: true });
  writeFileSync(join(directories.dataHome, 'photofinish'), '');
  const result = run(ALL, directories);
  assert.equal(result.launcher.state, 'failed');
  assert.equal(stateOf(result, 'chromium'), 'failed');
  assert.equal(existsSync(join(directories.home, MANIFESTS.chromium)), false);
});

for (const [name, directory, kind] of [
  ['chromium', 'snap/chromium', 'Snap'],
  ['firefox', '.var/app/org.mozilla.firefox', 'Flatpak'],
  ['chrome', '.var/app/com.google.Chrome', 'Flatpak'],
  ['brave', '.var/app/com.brave.Browser', 'Flatpak'],
] as const)
  test(`${name} from ${kind} is skipped with the reason`, (t) => {
    const result = run(ALL, newHome(t, [directory]));
    const found = result.browsers.find(({ browser }) => browser === name);
    assert.equal(found?.state, 'skipped');
    assert.match(found?.reason ?? '', new RegExp(`${kind} cannot start programs outside its sandbox`));
  });

test('Firefox with its profile in the XDG location still gets its manifest below .mozilla', (t) => {
  const directories = newHome(t, ['.config/mozilla/firefox']);
  assert.equal(stateOf(run(ALL, directories), 'firefox'), 'written');
  assert.ok(existsSync(join(directories.home, MANIFESTS.firefox)));
});

test('XDG directories and the PATH are used, relative ones ignored', (t) => {
  const { home } = newHome(t, []);
  const environment = { XDG_CONFIG_HOME: join(home, 'c'), XDG_DATA_HOME: 'relative', PATH: '/a:b::/c' };
  assert.deepEqual(userDirectories('linux', environment, home), {
    platform: 'linux',
    home,
    configHome: join(home, 'c'),
    dataHome: join(home, '.local/share'),
    searchPath: ['/a', '/c'],
  });
});

test('with --user-data-dir nothing outside that directory is written', (t) => {
  const directories = newHome(t, Object.values(PROFILES));
  const profile = join(directories.home, 'profile');
  const request = { ...ALL, userDataDirectory: profile };
  const result = run(request, directories);
  assert.deepEqual(filesBelow(directories.home), [
    'profile/NativeMessagingHosts/org.photofinish.host.json',
    'profile/NativeMessagingHosts/photofinish-host',
  ]);
  assert.equal(result.browsers.length, 1);
  uninstall(request, directories, LINUX);
  assert.deepEqual(filesBelow(directories.home), []);
});

test('uninstalling one browser keeps the launcher for the others', (t) => {
  const directories = newHome(t, [PROFILES.chromium, PROFILES.firefox]);
  run(ALL, directories);
  const result = uninstall({ ...ALL, browsers: ['chromium'] }, directories, LINUX);
  assert.equal(result.launcher.state, 'kept');
  assert.deepEqual(filesBelow(directories.home), ['.local/share/photofinish/host', MANIFESTS.firefox].sort());
});

test('uninstall leaves files that are not ours', (t) => {
  const directories = newHome(t, [PROFILES.chromium]);
  const { launcher } = run(ALL, directories);
  const manifest = join(directories.home, MANIFESTS.chromium);
  writeFileSync(manifest, JSON.stringify({ name: 'org.other', path: '/x', type: 'stdio' }));
  writeFileSync(launcher.path, '#!/bin/sh\n');
  const result = uninstall(ALL, directories, LINUX);
  assert.equal(stateOf(result, 'chromium'), 'skipped');
  assert.equal(result.launcher.state, 'kept');
  assert.ok(existsSync(manifest) && existsSync(launcher.path));
});

for (const [what, text] of [
  ['is broken', '{'],
  [
    'leads to a program of somebody else',
    '{"name":"org.photofinish.host","path":"/bin/true","type":"stdio","allowed_extensions":[]}',
  ],
  ['leads nowhere, and has other words', '{"name":"org.photofinish.host","path":"/gone","type":"stdio"}'],
] as const)
  test(`uninstall leaves a manifest with our own name that ${what}, and reports it`, (t) => {
    const directories = newHome(t, [PROFILES.chromium]);
    run(ALL, directories);
    const manifest = join(directories.home, MANIFESTS.chromium);
    writeFileSync(manifest, text);
    const [result] = uninstall({ ...ALL, browsers: ['chromium'] }, directories, LINUX).browsers;
    assert.equal(result?.state, 'skipped');
    assert.match(result?.reason ?? '', /stays/);
    assert.equal(readFileSync(manifest, 'utf8'), text);
  });

test('uninstall removes a manifest whose launcher is missing, or is elsewhere', (t) => {
  const directories = newHome(t, [PROFILES.chromium, PROFILES.brave]);
  const { launcher } = run(ALL, directories);
  const elsewhere = join(directories.home, 'earlier-host');
  writeFileSync(elsewhere, readFileSync(launcher.path));
  for (const [name, path] of [
    ['chromium', '/gone/host'],
    ['brave', elsewhere],
  ] as const) {
    const manifest = join(directories.home, MANIFESTS[name]);
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(launcher.path, path));
  }
  const result = uninstall(ALL, directories, LINUX);
  assert.deepEqual([stateOf(result, 'chromium'), stateOf(result, 'brave')], ['removed', 'removed']);
});

test('uninstall leaves a launcher that was changed', (t) => {
  const directories = newHome(t, [PROFILES.chromium]);
  const { launcher } = run(ALL, directories);
  const changed = readFileSync(launcher.path, 'utf8').replace('exec ', 'umask 077\nexec ');
  writeFileSync(launcher.path, changed);
  const result = uninstall(ALL, directories, LINUX);
  assert.deepEqual(
    [result.launcher.state, result.launcherReason],
    ['kept', 'the file there was not written by Photofinish'],
  );
  assert.equal(readFileSync(launcher.path, 'utf8'), changed);
});

test('uninstall removes a copy of the helper that a later installation no longer names', (t) => {
  const directories = newHome(t, [PROFILES.chromium]);
  const { launcher } = run(ALL, directories);
  const copied = join(dirname(launcher.path), 'helper', 'dist', basename(LAUNCHER.main));
  mkdirSync(dirname(copied), { recursive: true });
  writeFileSync(copied, '');
  assert.equal(uninstall(ALL, directories, LINUX).launcher.state, 'removed');
  assert.deepEqual([existsSync(copied), existsSync(dirname(launcher.path))], [false, false]);
});

test('uninstall leaves nothing that passes for the profile of a browser that was never started', (t) => {
  const directories = newHome(t, []);
  run({ ...ALL, browsers: ['edge'] }, directories);
  uninstall({ ...ALL, browsers: ['edge'] }, directories, LINUX);
  assert.deepEqual(
    run(ALL, directories).browsers.map(({ state }) => state),
    run(ALL, newHome(t, [])).browsers.map(({ state }) => state),
  );
});

test('uninstall removes .mozilla if nothing else is in it', (t) => {
  const directories = newHome(t, []);
  run({ ...ALL, browsers: ['firefox'] }, directories);
  uninstall({ ...ALL, browsers: ['firefox'] }, directories, LINUX);
  assert.equal(existsSync(join(directories.home, '.mozilla')), false);
  mkdirSync(join(directories.home, '.mozilla/extensions'), { recursive: true });
  run({ ...ALL, browsers: ['firefox'] }, directories);
  uninstall({ ...ALL, browsers: ['firefox'] }, directories, LINUX);
  assert.deepEqual(readdirSync(join(directories.home, '.mozilla')), ['extensions']);
});

test("a foreign directory at the location of the helper's copy is neither filled nor removed", (t) => {
  const directories = newHome(t, [PROFILES.chromium]);
  const { launcher } = run(ALL, directories);
  const theirs = join(dirname(launcher.path), 'helper', 'notes.txt');
  mkdirSync(dirname(theirs));
  writeFileSync(theirs, 'mine');
  const copied = { ...LAUNCHER, copy: [{ from: import.meta.dirname, at: '' }] };
  const result = install(planInstall(ALL, copied, directories, existsSync), LINUX);
  assert.match(result.launcherReason ?? '', /in the way/);
  assert.equal(uninstall(ALL, directories, LINUX).launcher.state, 'removed');
  assert.equal(readFileSync(theirs, 'utf8'), 'mine');
});

test('files of another program are neither replaced nor removed', (t) => {
  const directories = newHome(t, [PROFILES.chromium, PROFILES.brave]);
  const manifest = join(directories.home, MANIFESTS.chromium);
  mkdirSync(dirname(manifest), { recursive: true });
  const foreign = '{"name":"other","path":"/x","type":"stdio"}';
  writeFileSync(manifest, foreign);
  const result = run(ALL, directories);
  assert.equal(stateOf(result, 'chromium'), 'failed');
  assert.equal(stateOf(result, 'brave'), 'written');
  uninstall(ALL, directories, LINUX);
  assert.equal(readFileSync(manifest, 'utf8'), foreign);
  const { path } = result.launcher;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, 'mine');
  assert.equal(run(ALL, directories).launcher.state, 'failed');
  assert.equal(readFileSync(path, 'utf8'), 'mine');
});

test('a directory in place of a manifest fails for its browser, but not for the launcher', (t) => {
  const directories = newHome(t, [PROFILES.chromium, PROFILES.brave]);
  mkdirSync(join(directories.home, MANIFESTS.chromium), { recursive: true });
  const installed = run(ALL, directories);
  assert.equal(stateOf(installed, 'chromium'), 'failed');
  const removed = uninstall(ALL, directories, LINUX);
  assert.deepEqual([stateOf(removed, 'chromium'), removed.launcher.state], ['failed', 'removed']);
});

test('additional extension ids are allowed in Chromium beside our own, once each, and do not affect Firefox', (t) => {
  const directories = newHome(t, [PROFILES.chromium, PROFILES.firefox]);
  const ids = ['a'.repeat(32), 'b'.repeat(32)];
  run({ ...ALL, extensionIds: [...ids, CHROMIUM_EXTENSION_ID] }, directories);
  const read = (name: BrowserName) =>
    JSON.parse(readFileSync(join(directories.home, MANIFESTS[name]), 'utf8'));
  const allowed = [CHROMIUM_EXTENSION_ID, ...ids].map((id) => `chrome-extension://${id}/`);
  assert.deepEqual(read('chromium').allowed_origins, allowed);
  assert.deepEqual(read('firefox').allowed_extensions, [FIREFOX_EXTENSION_ID]);
});

test('what an installation was given is known to the next one, browser by browser', (t) => {
  const directories = newHome(t, [PROFILES.chromium, PROFILES.edge, PROFILES.firefox]);
  const config = join(directories.home, 'settings.json');
  const request = { ...ALL, browsers: ['chromium', 'firefox'] as const, extensionIds: ['a'.repeat(32)] };
  install(planInstall(request, { ...LAUNCHER, config }, directories, existsSync), LINUX);
  assert.equal(earlierConfig(ALL, directories, LINUX), config);
  const kept = (browser: Browser) => earlierIds(browser, LINUX);
  // No option of a command can name another id of Firefox's extension.
  writeFileSync(
    join(directories.home, MANIFESTS.firefox),
    manifestText('firefox', '/host', [FIREFOX_EXTENSION_ID, 'other@example.org']),
  );
  assert.deepEqual(browsersOf(directories).map(kept), [['a'.repeat(32)], [], [], [], []]);
  const again = { ...ALL, extensionIds: ['b'.repeat(32)] };
  install(planInstall(again, LAUNCHER, directories, existsSync, kept), LINUX);
  const known = browsersOf(directories).map((browser) => [browser.name, kept(browser)]);
  assert.deepEqual(Object.fromEntries(known.filter(([, ids]) => ids?.length !== 0)), {
    chromium: ['a'.repeat(32), 'b'.repeat(32)],
    edge: ['b'.repeat(32)],
  });
  assert.equal(earlierConfig(ALL, directories, LINUX), null);
  writeFileSync(join(directories.home, '.local/share/photofinish/host'), '#!/bin/sh\n# mine\n');
  assert.equal(earlierConfig(ALL, directories, LINUX), null, 'a launcher that was changed is not ours');
});

for (const [id, is] of [
  [CHROMIUM_EXTENSION_ID, true],
  ['z'.repeat(32), false],
  ['a'.repeat(31), false],
  ['me@example.org', false],
  ['', false],
] as const)
  test(`"${id}" ${is ? 'is' : 'is not'} a Chromium extension id`, () => {
    assert.equal(isChromiumExtensionId(id), is);
  });

const ID = 'cjlcppkpnfaojocpkejfadmflkdhibkb';
const OTHER_ID = 'abcdefghijklmnop'.repeat(2);

test('a Chromium manifest contains origins and is parsed back', () => {
  const parsed = parseManifest(manifestText('chromium', '/opt/host', [ID, OTHER_ID]));
  assert.ok('manifest' in parsed);
  assert.equal(parsed.manifest.name, 'org.photofinish.host');
  assert.equal(parsed.manifest.path, '/opt/host');
  assert.deepEqual(parsed.manifest.allowed_origins, [
    `chrome-extension://${ID}/`,
    `chrome-extension://${OTHER_ID}/`,
  ]);
  assert.deepEqual(allowedBy(parsed.manifest, 'chromium'), [ID, OTHER_ID]);
  assert.deepEqual(allowedBy(parsed.manifest, 'firefox'), []);
  assert.equal(parsed.manifest.allowed_extensions, undefined);
});

test('a Firefox manifest contains an add-on and no origin', () => {
  const json = JSON.parse(manifestText('firefox', '/opt/host', ['a@b.test']));
  assert.deepEqual(json.allowed_extensions, ['a@b.test']);
  assert.equal('allowed_origins' in json, false);
  assert.equal(json.type, 'stdio');
});

for (const [text, why] of [
  ['{', /not JSON/],
  ['[]', /missing or wrong/],
  ['{"name":"x","path":3,"type":"stdio"}', /"path"/],
  ['{"name":"x","path":"/x","type":"pipe"}', /"type"/],
] as const)
  test(`a manifest ${text} is refused with the reason`, () => {
    const parsed = parseManifest(text);
    assert.ok('error' in parsed);
    assert.match(parsed.error, why);
  });
