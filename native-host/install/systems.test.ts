// Install, reinstall, move, examine and uninstall on each supported system, with an in-memory computer of files,
// directories and a registry, with write-protected locations, so that every system is covered on any machine: every
// browser's paths and keys, what a failed write does not affect, and that nothing of ours remains.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHROMIUM_EXTENSION_ID, FIREFOX_EXTENSION_ID } from '@photofinish/shared/port/extension-id';
import { BROWSER_NAMES, type BrowserName } from './browser-names.ts';
import { browsersOf, type UserDirectories, userDirectories } from './browsers.ts';
import { examineBrowser, type InstallSettings } from './doctor.ts';
import { install, uninstall } from './install.ts';
import { type InstallRequest, planInstall, targetsOf } from './install-plan.ts';
import { parseLauncher } from './launcher.ts';
import {
  DirectoryInUse,
  type Disk,
  type Machine,
  PLATFORMS,
  type Platform,
  pathsOf,
  type Registry,
} from './machine.ts';

interface MachineTestbed {
  readonly machine: Machine;
  readonly directories: UserDirectories;
  /** Path to text. */
  readonly files: Map<string, string>;
  /** Key to default value. */
  readonly keys: Map<string, string>;
  /** Files and keys that nobody may write or remove. */
  readonly locked: Set<string>;
  /** Directories with files that a program uses, on Windows. */
  readonly inUse: Set<string>;
  /** Modes of the files written. */
  readonly modes: Map<string, number>;
  readonly exists: (path: string) => boolean;
  makeDirectory(path: string): void;
}

/** Realistic homes, with blanks and non-ASCII letters. */
const HOMES: Record<Platform, string> = {
  linux: '/home/zoë k',
  darwin: '/Users/zoë k',
  win32: 'C:\\Users\\Zoë K',
};

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** An empty home on a system of that kind. */
function machineTestbed(platform: Platform): MachineTestbed {
  const { dirname, join, sep } = pathsOf(platform);
  const files = new Map<string, string>();
  const directories = new Set<string>();
  const keys = new Map<string, string>();
  const locked = new Set<string>();
  const inUse = new Set<string>();
  const modes = new Map<string, number>();

  const makeDirectory = (path: string): void => {
    if (files.has(path)) throw systemError('ENOTDIR');
    if (directories.has(path)) return;
    if (dirname(path) !== path) makeDirectory(dirname(path));
    directories.add(path);
  };
  const disk: Disk = {
    kindOf: (path) => (files.has(path) ? 'file' : directories.has(path) ? 'directory' : 'nothing'),
    mayRun: (path) => platform === 'win32' || ((modes.get(path) ?? 0o700) & 0o100) !== 0,
    read(path) {
      const text = files.get(path);
      if (text === undefined) throw systemError(directories.has(path) ? 'EISDIR' : 'ENOENT');
      return text;
    },
    write(path, text, mode) {
      if (locked.has(path)) throw systemError('EACCES');
      if (directories.has(path)) throw systemError('EISDIR');
      makeDirectory(dirname(path));
      files.set(path, text);
      modes.set(path, mode);
    },
    remove(path) {
      if (locked.has(path)) throw systemError('EPERM');
      if (!files.delete(path)) throw systemError('ENOENT');
    },
    removeIfEmpty(path) {
      const inside = [...files.keys(), ...directories].some(
        (each) => each !== path && dirname(each) === path,
      );
      if (!inside) directories.delete(path);
    },
    fill(path, parts) {
      if (locked.has(path)) throw systemError('EACCES');
      disk.removeTree(path);
      for (const { from, at } of parts)
        for (const [file, text] of [...files]) {
          if (file === from) disk.write(join(path, at), text, 0o600);
          else if (file.startsWith(from + sep))
            disk.write(join(path, at, file.slice(from.length)), text, 0o600);
        }
    },
    removeTree(path) {
      if (inUse.has(path)) throw new DirectoryInUse(path);
      for (const each of [...files.keys(), ...directories])
        if (each === path || each.startsWith(path + sep)) {
          files.delete(each);
          directories.delete(each);
        }
    },
  };
  const registry: Registry = {
    read: (key) => keys.get(key) ?? null,
    write(key, value) {
      if (locked.has(key)) throw new Error('the registry refused the change');
      keys.set(key, value);
    },
    remove(key) {
      if (locked.has(key) || !keys.delete(key)) throw new Error('the registry refused the change');
    },
  };
  const home = HOMES[platform];
  makeDirectory(home);
  return {
    machine: { platform, disk, registry: platform === 'win32' ? registry : null },
    directories: userDirectories(platform, {}, home),
    files,
    keys,
    locked,
    inUse,
    modes,
    exists: (path) => disk.kindOf(path) !== 'nothing',
    makeDirectory,
  };
}

const ALL: InstallRequest = { browsers: [], userDataDirectory: null, extensionIds: [] };
const STORE_ID = 'abcdefghijklmnop'.repeat(2);

const RUNTIMES: Record<Platform, string> = {
  linux: '/opt/node v24/bin/node',
  darwin: '/opt/homebrew/bin/node',
  win32: 'C:\\Program Files\\nodejs\\node.exe',
};
const MAINS: Record<Platform, string> = {
  linux: `${HOMES.linux}/photo finish/dist/main.cjs`,
  darwin: `${HOMES.darwin}/photo finish/dist/main.cjs`,
  win32: `${HOMES.win32}\\100% photo\\dist\\main.cjs`,
};

const SUPPORT = `${HOMES.darwin}/Library/Application Support`;
const LOCAL = `${HOMES.win32}\\AppData\\Local`;
const HOST = 'org.photofinish.host';

interface InstallPaths {
  readonly profile: string;
  readonly manifest: string;
  readonly key?: string;
}

/** Below the home: the profile, and the directory of manifests. */
function linuxPlace(profile: string, hosts = `${profile}/NativeMessagingHosts`): InstallPaths {
  return { profile: `${HOMES.linux}/${profile}`, manifest: `${HOMES.linux}/${hosts}/${HOST}.json` };
}

/** Both below the user's support files. */
function macPlace(profile: string, hosts = profile): InstallPaths {
  return {
    profile: `${SUPPORT}/${profile}`,
    manifest: `${SUPPORT}/${hosts}/NativeMessagingHosts/${HOST}.json`,
  };
}

/** The profile below the application data, our own manifest, and the vendor whose registry key names that. */
function windowsPlace(profile: string, manifest: string, vendor: string): InstallPaths {
  return {
    profile: `${HOMES.win32}\\AppData\\${profile}`,
    manifest: `${LOCAL}\\photofinish\\native-messaging\\${manifest}.json`,
    key: `HKCU\\Software\\${vendor}\\NativeMessagingHosts\\${HOST}`,
  };
}

/** According to the browsers' own documentation. */
const PLACES: Record<Platform, Record<BrowserName, InstallPaths>> = {
  linux: {
    chromium: linuxPlace('.config/chromium'),
    chrome: linuxPlace('.config/google-chrome'),
    edge: linuxPlace('.config/microsoft-edge'),
    brave: linuxPlace('.config/BraveSoftware/Brave-Browser'),
    firefox: linuxPlace('.mozilla/firefox', '.mozilla/native-messaging-hosts'),
  },
  darwin: {
    chromium: macPlace('Chromium'),
    chrome: macPlace('Google/Chrome'),
    edge: macPlace('Microsoft Edge'),
    brave: macPlace('BraveSoftware/Brave-Browser'),
    firefox: macPlace('Firefox', 'Mozilla'),
  },
  win32: {
    chromium: windowsPlace('Local\\Chromium\\User Data', 'chromium', 'Chromium'),
    chrome: windowsPlace('Local\\Google\\Chrome\\User Data', 'google-chrome', 'Google\\Chrome'),
    edge: windowsPlace('Local\\Microsoft\\Edge\\User Data', 'microsoft-edge', 'Microsoft\\Edge'),
    brave: windowsPlace('Local\\BraveSoftware\\Brave-Browser\\User Data', 'google-chrome', 'Google\\Chrome'),
    firefox: windowsPlace('Roaming\\Mozilla\\Firefox', 'mozilla', 'Mozilla'),
  },
};
const LAUNCHERS: Record<Platform, string> = {
  linux: `${HOMES.linux}/.local/share/photofinish/host`,
  darwin: `${SUPPORT}/photofinish/host`,
  win32: `${LOCAL}\\photofinish\\host.cmd`,
};

/** A home in which those browsers have run, with the helper and its Node on the disk. */
function homeWith(platform: Platform, names: readonly BrowserName[]): MachineTestbed {
  const testbed = machineTestbed(platform);
  for (const name of names) testbed.makeDirectory(PLACES[platform][name].profile);
  for (const path of [RUNTIMES[platform], MAINS[platform]]) testbed.machine.disk.write(path, '', 0o700);
  return testbed;
}

function run(testbed: MachineTestbed, request: InstallRequest = ALL, main = MAINS[testbed.machine.platform]) {
  const launcher = { runtime: RUNTIMES[testbed.machine.platform], main, config: null, copy: null };
  return install(planInstall(request, launcher, testbed.directories, testbed.exists), testbed.machine);
}

/** A helper in the npx cache, which is copied beside the launcher. */
function copyOf(testbed: MachineTestbed) {
  const { platform, disk } = testbed.machine;
  const { dirname, join } = pathsOf(platform);
  const cached = join(HOMES[platform], '_npx', '0123', 'node_modules', '@photofinish', 'helper');
  const main = join(cached, 'dist', 'main.cjs');
  const addon = join(HOMES[platform], 'quic.node');
  for (const path of [main, join(cached, 'bin', 'photofinish.cjs'), addon]) disk.write(path, path, 0o600);
  const copy = [
    { from: cached, at: '' },
    { from: addon, at: join('dist', 'photofinish-quic.node') },
  ];
  const helper = { runtime: RUNTIMES[platform], main, config: null, copy };
  const plan = () => planInstall(ALL, helper, testbed.directories, testbed.exists);
  return { main, addon, plan, directory: join(dirname(LAUNCHERS[platform]), 'helper') };
}

/** Everything except the helper itself. */
function written(testbed: MachineTestbed): string[] {
  const own = [RUNTIMES[testbed.machine.platform], MAINS[testbed.machine.platform]];
  return [...testbed.files.keys()].filter((path) => !own.includes(path)).sort();
}

/** The doctor on one browser; `hello` is answered like by a working helper. */
async function examine(testbed: MachineTestbed, name: BrowserName, request: InstallRequest = ALL) {
  const target = targetsOf(request, testbed.directories, testbed.exists).find(
    (each) => each.browser.name === name,
  );
  assert.ok(target);
  const asked: InstallSettings[] = [];
  const greeted: (readonly [string, readonly string[]])[] = [];
  const { findings } = await examineBrowser({
    machine: testbed.machine,
    target,
    extensionIds: request.extensionIds,
    installCommand: (kept) => {
      asked.push(kept);
      return `photofinish install --browser ${name}`;
    },
    hello: async (launcher, caller) => {
      greeted.push([launcher, caller]);
      return { state: 'answered', program: 'photofinish-helper/1', afterMs: 1 };
    },
  });
  return { findings, states: findings.map(({ check, state }) => `${check} ${state}`), greeted, asked };
}

for (const platform of PLATFORMS) {
  test(`${platform}: every browser is where its documentation says`, () => {
    for (const browser of browsersOf(machineTestbed(platform).directories)) {
      const place = PLACES[platform][browser.name];
      assert.ok(browser.profileDirectories.includes(place.profile), browser.name);
      assert.equal(browser.manifest, place.manifest);
      assert.equal(browser.registryKey, place.key ?? null);
    }
  });

  for (const name of BROWSER_NAMES)
    test(`${platform}, ${name}: installed, examined without problems, uninstalled completely`, async () => {
      const testbed = homeWith(platform, [name]);
      const place = PLACES[platform][name];
      const result = run(testbed);
      assert.equal(result.browsers.find(({ browser }) => browser === name)?.state, 'written');
      assert.deepEqual(written(testbed), [LAUNCHERS[platform], place.manifest].sort());
      assert.deepEqual([...testbed.keys], place.key === undefined ? [] : [[place.key, place.manifest]]);
      const manifest = JSON.parse(testbed.files.get(place.manifest) ?? '');
      assert.equal(manifest.path, LAUNCHERS[platform]);
      assert.deepEqual(parseLauncher(testbed.files.get(manifest.path) ?? '', platform), {
        runtime: RUNTIMES[platform],
        main: MAINS[platform],
        config: null,
      });

      const { states, greeted } = await examine(testbed, name);
      assert.deepEqual(states, ['manifest ok', 'extension ok', 'launcher ok', 'runtime ok', 'hello ok']);
      const caller =
        name === 'firefox'
          ? [place.manifest, FIREFOX_EXTENSION_ID]
          : [`chrome-extension://${CHROMIUM_EXTENSION_ID}/`];
      assert.deepEqual(greeted, [[LAUNCHERS[platform], caller]]);

      uninstall(ALL, testbed.directories, testbed.machine);
      assert.deepEqual(written(testbed), []);
      assert.equal(testbed.keys.size, 0);
      assert.equal(testbed.exists(pathsOf(platform).dirname(LAUNCHERS[platform])), false);
    });

  test(`${platform}: installing again after a move updates all paths`, async () => {
    const testbed = homeWith(platform, BROWSER_NAMES);
    run(testbed);
    const before = [written(testbed), [...testbed.keys]];
    const moved = pathsOf(platform).join(HOMES[platform], 'moved', 'main.cjs');
    testbed.files.delete(MAINS[platform]);
    for (const name of BROWSER_NAMES) {
      const { findings } = await examine(testbed, name);
      assert.match(findings.at(-1)?.text ?? '', /main\.cjs is missing/);
      assert.match(findings.at(-1)?.remedy ?? '', new RegExp(`install --browser ${name}`));
    }
    testbed.machine.disk.write(moved, '', 0o600);
    run(testbed, ALL, moved);
    testbed.files.delete(moved);
    assert.deepEqual([written(testbed), [...testbed.keys]], before);
    assert.ok(parseLauncher(testbed.files.get(LAUNCHERS[platform]) ?? '', platform)?.main === moved);
  });

  test(`${platform}: a helper in the npx cache is copied, and the copy is removed with the launcher`, () => {
    const testbed = homeWith(platform, ['chrome']);
    const { join } = pathsOf(platform);
    const { main, addon, plan, directory } = copyOf(testbed);
    install(plan(), testbed.machine);
    const launcher = parseLauncher(testbed.files.get(LAUNCHERS[platform]) ?? '', platform);
    assert.equal(launcher?.main, join(directory, 'dist', 'main.cjs'));
    assert.equal(testbed.files.get(launcher.main), main);
    assert.equal(testbed.files.get(join(directory, 'dist', 'photofinish-quic.node')), addon);
    assert.ok(testbed.exists(join(directory, 'bin', 'photofinish.cjs')));
    uninstall(ALL, testbed.directories, testbed.machine);
    assert.equal(testbed.exists(pathsOf(platform).dirname(LAUNCHERS[platform])), false);
    assert.ok(testbed.exists(main));
  });

  test(`${platform}: a manifest that cannot be written does not affect other browsers`, () => {
    const testbed = homeWith(platform, BROWSER_NAMES);
    testbed.locked.add(PLACES[platform].edge.manifest);
    const states = run(testbed).browsers.map(({ browser, state }) => `${browser} ${state}`);
    assert.deepEqual(states, [
      'chromium written',
      'chrome written',
      'edge failed',
      'brave written',
      'firefox written',
    ]);
  });

  test(`${platform}: files of other programs stay`, () => {
    const testbed = homeWith(platform, ['chromium', 'firefox']);
    const { manifest } = PLACES[platform].chromium;
    const foreign = '{"name":"org.other","path":"/x","type":"stdio"}';
    testbed.machine.disk.write(manifest, foreign, 0o600);
    const result = run(testbed);
    assert.deepEqual(
      result.browsers
        .filter(({ state }) => state !== 'skipped')
        .map(({ browser, state }) => [browser, state]),
      [
        ['chromium', 'failed'],
        ['firefox', 'written'],
      ],
    );
    uninstall(ALL, testbed.directories, testbed.machine);
    assert.deepEqual(written(testbed), [manifest]);
    assert.equal(testbed.files.get(manifest), foreign);
  });

  test(`${platform}: store ids are allowed, examined, and kept by the remedy`, async () => {
    const testbed = homeWith(platform, ['chrome']);
    const request = { ...ALL, extensionIds: [STORE_ID] };
    run(testbed, request);
    const { states, greeted } = await examine(testbed, 'chrome', request);
    assert.ok(states.every((state) => state.endsWith(' ok')));
    assert.deepEqual(greeted[0]?.[1], [`chrome-extension://${STORE_ID}/`]);
    const { findings, asked } = await examine(testbed, 'chrome', { ...ALL, extensionIds: ['b'.repeat(32)] });
    assert.match(findings.find(({ check }) => check === 'extension')?.text ?? '', /does not allow/);
    assert.deepEqual(asked.at(-1)?.extensionIds, [STORE_ID, 'b'.repeat(32)]);
  });
}

test('win32: the copy of a helper that is running is neither replaced nor removed, and the reason is given', () => {
  const testbed = homeWith('win32', ['chrome']);
  const { plan, directory } = copyOf(testbed);
  install(plan(), testbed.machine);
  const before = written(testbed);
  testbed.inUse.add(directory);
  const reason = 'the helper is running; close the browser and try again';
  assert.equal(install(plan(), testbed.machine).launcherReason, reason);
  assert.deepEqual(written(testbed), before);
  const refused = uninstall(ALL, testbed.directories, testbed.machine).launcher;
  assert.equal(refused.state, 'failed');
  assert.ok(testbed.exists(LAUNCHERS.win32), 'the next uninstall finds the copy by it');
  testbed.inUse.clear();
  assert.equal(uninstall(ALL, testbed.directories, testbed.machine).launcher.state, 'removed');
  assert.equal(testbed.exists(directory), false);
});

test('win32: a copy of which only the loaded addon was left is mended', () => {
  const testbed = homeWith('win32', ['chrome']);
  const { plan, directory } = copyOf(testbed);
  const { join } = pathsOf('win32');
  testbed.machine.disk.write(join(directory, 'dist', 'photofinish-quic.node'), '', 0o600);
  assert.equal(install(plan(), testbed.machine).launcher.state, 'written');
  assert.ok(testbed.exists(join(directory, 'dist', 'main.cjs')));
});

test("win32: a key that names another program's manifest is neither replaced nor removed", async () => {
  const testbed = homeWith('win32', ['edge', 'firefox']);
  const key = PLACES.win32.edge.key ?? '';
  const theirs = 'C:\\other\\manifest.json';
  testbed.machine.disk.write(theirs, '{"name":"org.other","path":"C:\\\\x.exe","type":"stdio"}', 0o600);
  testbed.keys.set(key, theirs);
  const result = run(testbed);
  assert.match(result.browsers.find(({ browser }) => browser === 'edge')?.reason ?? '', /another program's/);
  assert.equal(testbed.keys.get(key), theirs);
  const { findings } = await examine(testbed, 'edge');
  assert.match(findings[0]?.text ?? '', /names "org\.other"/);
  uninstall(ALL, testbed.directories, testbed.machine);
  assert.deepEqual([...testbed.keys], [[key, theirs]]);
});

test('win32: a key from an earlier location is updated, and one that names a missing file is found and removed', async () => {
  const testbed = homeWith('win32', ['chrome']);
  const { key = '', manifest } = PLACES.win32.chrome;
  testbed.keys.set(key, 'D:\\gone\\manifest.json');
  const { findings } = await examine(testbed, 'chrome');
  assert.match(findings[0]?.text ?? '', /names D:\\gone\\manifest\.json, which does not exist/);
  run(testbed);
  assert.equal(testbed.keys.get(key), manifest);
  testbed.files.delete(manifest);
  uninstall(ALL, testbed.directories, testbed.machine);
  assert.equal(testbed.keys.size, 0);
});

test('win32: a registry that refuses fails only for its browser, and the doctor names what is missing', async () => {
  const testbed = homeWith('win32', ['edge', 'firefox']);
  testbed.locked.add(PLACES.win32.edge.key ?? '');
  const result = run(testbed);
  assert.equal(
    result.browsers.find(({ browser }) => browser === 'edge')?.reason,
    'the registry refused the change',
  );
  assert.equal(result.browsers.find(({ browser }) => browser === 'firefox')?.state, 'written');
  const { findings } = await examine(testbed, 'edge');
  assert.match(findings[0]?.text ?? '', /^no registry key HKCU\\Software\\Microsoft\\Edge/);
});

test('win32: removing from Chrome also removes from Brave, and is reported', () => {
  const testbed = homeWith('win32', ['chrome', 'brave']);
  run(testbed);
  const [result] = uninstall({ ...ALL, browsers: ['chrome'] }, testbed.directories, testbed.machine).browsers;
  assert.deepEqual([result?.state, result?.reason], ['removed', 'for Brave too, which reads the same key']);
});

for (const [directory, name, kind] of [
  ['snap/chromium', 'chromium', 'Snap'],
  ['.var/app/org.mozilla.firefox', 'firefox', 'Flatpak'],
  ['.var/app/com.google.Chrome', 'chrome', 'Flatpak'],
] as const)
  test(`linux: ${name} from ${kind} is explained by install and doctor`, async () => {
    const testbed = homeWith('linux', []);
    testbed.makeDirectory(`${HOMES.linux}/${directory}`);
    const words = new RegExp(`from ${kind} cannot start programs outside its sandbox`);
    assert.match(run(testbed).browsers.find(({ browser }) => browser === name)?.reason ?? '', words);
    const { findings, states } = await examine(testbed, name);
    assert.deepEqual(states, ['manifest note']);
    assert.match(findings[0]?.text ?? '', words);
  });

test('linux: Firefox from Snap, which asks before it starts the helper, gets its manifest with a note', async () => {
  const testbed = homeWith('linux', []);
  testbed.makeDirectory(`${HOMES.linux}/snap/firefox`);
  const words = /Firefox from Snap asks before it starts the helper, and needs a desktop portal/;
  const before = await examine(testbed, 'firefox');
  assert.deepEqual(before.states, ['manifest problem']);
  const firefox = run(testbed).browsers.find(({ browser }) => browser === 'firefox');
  assert.deepEqual([firefox?.state, firefox?.path], ['written', PLACES.linux.firefox.manifest]);
  assert.match(firefox?.reason ?? '', words);
  assert.ok(testbed.files.has(PLACES.linux.firefox.manifest));
  const { findings, states } = await examine(testbed, 'firefox');
  assert.equal(states.at(-1), 'hello ok');
  assert.match(findings.find(({ state }) => state === 'note')?.text ?? '', words);
});

const CHROMIUM_MANIFEST = PLACES.linux.chromium.manifest;

/** A home without any profile, and programs at these places. */
function programsAt(paths: readonly string[], searchPath: string): MachineTestbed {
  const testbed = homeWith('linux', []);
  for (const path of paths) testbed.machine.disk.write(path, '', 0o755);
  return { ...testbed, directories: userDirectories('linux', { PATH: searchPath }, HOMES.linux) };
}

test('linux: a browser that was never started is found by its program on the PATH', async () => {
  const testbed = programsAt(['/usr/bin/chromium-browser', '/opt/b/firefox-esr'], 'relative:/opt/b:/usr/bin');
  const before = await examine(testbed, 'chromium');
  assert.deepEqual(before.states, ['manifest note'], 'nobody has to install for every browser there is');
  assert.match(before.findings[0]?.remedy ?? '', /install --browser chromium/);
  const states = run(testbed).browsers.map(({ browser, state }) => `${browser} ${state}`);
  assert.deepEqual(states.toSorted(), [
    'brave skipped',
    'chrome skipped',
    'chromium written',
    'edge skipped',
    'firefox written',
  ]);
  assert.ok(testbed.files.has(CHROMIUM_MANIFEST));
  assert.equal((await examine(testbed, 'chromium')).states.at(-1), 'hello ok');
});

test('linux: a script on the PATH that starts the Snap does not count as a usable browser', () => {
  const testbed = programsAt(['/usr/bin/chromium-browser', '/snap/bin/chromium'], '/usr/bin:/snap/bin');
  const chromium = run(testbed).browsers.find(({ browser }) => browser === 'chromium');
  assert.equal(chromium?.state, 'skipped');
  assert.match(chromium?.reason ?? '', /from Snap cannot start programs outside its sandbox/);
  assert.equal(testbed.files.has(CHROMIUM_MANIFEST), false);
});

test('linux: Firefox from Snap that was never started is found by its command', () => {
  const testbed = programsAt(['/usr/bin/firefox', '/snap/bin/firefox'], '/usr/bin:/snap/bin');
  const firefox = run(testbed).browsers.find(({ browser }) => browser === 'firefox');
  assert.equal(firefox?.state, 'written');
});

test('linux: a distribution’s browser beside leftovers of a Snap is written, with a note', () => {
  const testbed = programsAt(['/usr/bin/chromium'], '/usr/bin');
  testbed.makeDirectory(`${HOMES.linux}/snap/chromium`);
  const chromium = run(testbed).browsers.find(({ browser }) => browser === 'chromium');
  assert.equal(chromium?.state, 'written');
  assert.match(chromium?.reason ?? '', /Snap/);
});

test('darwin: a browser is found by its bundle, for all users or for one', () => {
  const testbed = homeWith('darwin', []);
  testbed.makeDirectory('/Applications/Google Chrome.app');
  testbed.makeDirectory(`${HOMES.darwin}/Applications/Firefox.app`);
  const states = run(testbed).browsers.flatMap(({ browser, state }) =>
    state === 'written' ? [browser] : [],
  );
  assert.deepEqual(states.toSorted(), ['chrome', 'firefox']);
});
