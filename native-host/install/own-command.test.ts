// The command for each way in which Photofinish can be installed, and the text after an installation.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkoutOf,
  commandWord,
  isPassing,
  nextSteps,
  type OwnInstallation,
  ownCommand,
} from './own-command.ts';

const LINUX_PATH = '/usr/local/bin:/usr/bin';

function installation(there: readonly string[], rest: Partial<OwnInstallation> = {}): OwnInstallation {
  const root = '/usr/local/lib/node_modules/@photofinish/helper';
  return { platform: 'linux', root, searchPath: LINUX_PATH, exists: (path) => there.includes(path), ...rest };
}

test('a checkout is started by the path of its command', () => {
  const here = installation(['/home/a/photo finish/native-host/build.ts'], {
    root: '/home/a/photo finish/native-host',
  });
  assert.equal(checkoutOf(here), '/home/a/photo finish');
  assert.equal(ownCommand(here), "'/home/a/photo finish/native-host/bin/photofinish'");
});

test('a global package is started by name if the shell finds it, otherwise by path', () => {
  const there = ['/usr/local/bin/photofinish'];
  assert.equal(checkoutOf(installation(there)), null);
  assert.equal(ownCommand(installation(there)), 'photofinish');
  assert.equal(ownCommand(installation(there, { searchPath: '/usr/bin' })), '/usr/local/bin/photofinish');
});

test("a project's package is started by its path there", () => {
  const here = installation(['/srv/app/node_modules/.bin/photofinish'], {
    root: '/srv/app/node_modules/@photofinish/helper',
  });
  assert.equal(ownCommand(here), '/srv/app/node_modules/.bin/photofinish');
});

test('on Windows npm writes a batch file, beside node_modules for global packages', () => {
  const here: OwnInstallation = {
    platform: 'win32',
    root: 'C:\\Users\\A B\\AppData\\Roaming\\npm\\node_modules\\@photofinish\\helper',
    searchPath: 'C:\\Windows;C:\\Users\\A B\\AppData\\Roaming\\npm',
    exists: (path) => path === 'C:\\Users\\A B\\AppData\\Roaming\\npm\\photofinish.cmd',
  };
  assert.equal(ownCommand(here), 'photofinish');
  assert.equal(
    ownCommand({ ...here, searchPath: '' }),
    '"C:\\Users\\A B\\AppData\\Roaming\\npm\\photofinish.cmd"',
  );
});

test('a package in the npx cache is started by npx again, because the cache may be cleared', () => {
  const root = '/home/a/.npm/_npx/0123456789abcdef/node_modules/@photofinish/helper';
  assert.equal(isPassing(installation([], { root })), true);
  assert.equal(isPassing(installation([])), false);
  const linked = ['/home/a/.npm/_npx/0123456789abcdef/node_modules/.bin/photofinish'];
  assert.equal(ownCommand(installation(linked, { root })), 'npx @photofinish/helper');
});

test('if npm linked no command, npx is used', () => {
  assert.equal(ownCommand(installation([])), 'npx @photofinish/helper');
});

for (const [word, platform, written] of [
  ['/plain/path-1.0', 'linux', '/plain/path-1.0'],
  ["/it's", 'darwin', `'/it'\\''s'`],
  ['C:\\plain\\path', 'win32', 'C:\\plain\\path'],
  ['C:\\a & b', 'win32', '"C:\\a & b"'],
] as const)
  test(`${word} is written ${written}`, () => assert.equal(commandWord(word, platform), written));

test('after an installation from a checkout, the text names the folder to load for each browser', () => {
  const lines = nextSteps({
    platform: 'linux',
    checkout: '/src/photofinish',
    browsers: ['edge', 'firefox'],
    doctorCommand: 'photofinish doctor',
  }).join('\n');
  assert.match(
    lines,
    /Microsoft Edge: open edge:\/\/extensions.*\n.*\/src\/photofinish\/extension\/dist\/chromium\n/,
  );
  assert.match(
    lines,
    /Firefox: open about:debugging.*\n.*\/src\/photofinish\/extension\/dist\/firefox\/manifest\.json/,
  );
  assert.match(lines, /Check with: photofinish doctor$/);
});

test('a package has no folder to load, and if nothing is installed there are no steps', () => {
  const about = { platform: 'win32', checkout: null, doctorCommand: 'photofinish doctor' } as const;
  assert.doesNotMatch(nextSteps({ ...about, browsers: ['chrome'] }).join('\n'), /Load unpacked/);
  assert.deepEqual(nextSteps({ ...about, browsers: [] }), []);
});
