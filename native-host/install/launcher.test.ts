// A launcher is parsed back exactly, a shell takes every path in it literally, and updating Node with Homebrew does not
// remove its runtime.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { scratchDirectory } from '../testing/scratch.ts';
import { CLEARED_VARIABLES, lastingRuntime, launcherText, parseLauncher } from './launcher.ts';

const POSIX_PATH = fc.string().map((text) => `/${text.replaceAll(/[\n\0]/g, '')}`);
/** Valid file names on Windows, including non-ASCII ones. */
const WINDOWS_PATH = fc
  .string({ unit: 'grapheme' })
  .map((text) => `C:\\${text.replaceAll(/[<>:"|?*\p{Cc}]/gu, '')}`);

for (const [platform, path] of [
  ['linux', POSIX_PATH],
  ['darwin', POSIX_PATH],
  ['win32', WINDOWS_PATH],
] as const)
  test(`${platform}: a launcher is parsed back exactly`, () => {
    fc.assert(
      fc.property(path, path, fc.option(path), (runtime, main, config) => {
        const launcher = { runtime, main, config };
        assert.deepEqual(parseLauncher(launcherText(launcher, platform), platform), launcher);
      }),
    );
  });

test('a foreign script is not a launcher of ours', () => {
  assert.equal(parseLauncher('#!/bin/sh\nexec node main.js\n', 'linux'), null);
  assert.equal(parseLauncher('@echo off\r\n"node" "main.js" -- %*\r\n', 'win32'), null);
});

test('the shell passes hostile paths and arguments unchanged', (t) => {
  const directory = scratchDirectory(t, 'pf launcher ');
  const main = join(directory, `it's $(touch x) "quoted" \\ main.js`);
  const config = join(directory, "a'b;c.json");
  writeFileSync(main, 'console.log(JSON.stringify(process.argv.slice(1)))');
  const host = join(directory, 'host');
  writeFileSync(host, launcherText({ runtime: process.execPath, main, config }, 'linux'), { mode: 0o700 });
  const caller = ['chrome-extension://x/', "odd ' argument", '--config'];
  const argv = JSON.parse(execFileSync(host, caller, { encoding: 'utf8' }));
  assert.deepEqual(argv, [main, '--config', config, '--', ...caller]);
});

const MISSING =
  'photofinish: helper-missing: the helper or its Node was moved or removed; run "photofinish install" again';

test('without the helper, or its Node, one line says what to do, and nothing is printed to the browser', (t) => {
  const directory = scratchDirectory(t, 'pf launcher ');
  const [runtime, main, host] = ["it's node", 'main.cjs', 'host'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  symlinkSync(process.execPath, runtime);
  writeFileSync(main, '');
  writeFileSync(host, launcherText({ runtime, main, config: null }, 'linux'), { mode: 0o700 });
  const start = () => {
    const { status, stdout, stderr } = spawnSync(host, { encoding: 'utf8' });
    return [status, stdout, stderr];
  };
  assert.deepEqual(start(), [0, '', '']);
  for (const gone of [main, runtime]) {
    rmSync(gone);
    assert.deepEqual(start(), [2, '', `${MISSING}\n`]);
    writeFileSync(main, '');
  }
});

test('variables that would make Node run other code, trust others or print are cleared before it starts', (t) => {
  const directory = scratchDirectory(t);
  const main = join(directory, 'main.cjs');
  writeFileSync(main, "process.stdout.write(Object.keys(process.env).sort().join(' '))");
  const foreign = join(directory, 'foreign.cjs');
  writeFileSync(foreign, "process.stdout.write('foreign code ')");
  const host = join(directory, 'host');
  writeFileSync(host, launcherText({ runtime: process.execPath, main, config: null }, 'linux'), {
    mode: 0o700,
  });
  const hostile = Object.fromEntries(CLEARED_VARIABLES.map((name) => [name, join(directory, name)]));
  const env = {
    ...hostile,
    NODE_OPTIONS: `--require ${foreign}`,
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    NODE_CHANNEL_FD: '1',
    HOME: directory,
    LANG: 'C',
  };
  const seen = execFileSync(host, [], { encoding: 'utf8', env }).split(' ');
  assert.ok(!seen.includes('foreign'));
  assert.deepEqual(
    seen.filter((name) => /^(NODE|OPENSSL|SSL)/.test(name)),
    [],
  );
  assert.ok(seen.includes('HOME') && seen.includes('LANG'), 'and nothing else');
  assert.deepEqual(
    readdirSync(directory).filter((name) => !['foreign.cjs', 'host', 'main.cjs'].includes(name)),
    [],
  );
});

test('Windows clears the same variables', () => {
  const text = launcherText({ runtime: 'C:\\node.exe', main: 'C:\\main.cjs', config: null }, 'win32');
  for (const name of CLEARED_VARIABLES) assert.ok(text.includes(`\r\nset "${name}="\r\n`), name);
  assert.ok(text.indexOf('NODE_OPTIONS') < text.indexOf('node.exe'));
});

test('a launcher written by an earlier version is recognised as ours, one with an additional line is not', () => {
  const launcher = { runtime: '/opt/node', main: '/opt/main.cjs', config: null };
  const unlooking = launcherText(launcher, 'linux').replace(/^\[ -x .*\n/m, '');
  const old = unlooking.replace(/^unset .*\n/m, '');
  for (const text of [unlooking, old]) assert.deepEqual(parseLauncher(text, 'linux'), launcher);
  assert.equal(parseLauncher(old.replace('exec', 'export NODE_OPTIONS=--inspect\nexec'), 'linux'), null);
});

test('on Windows percent signs are doubled, and only non-ASCII paths change the code page', () => {
  const plain = {
    runtime: 'C:\\Program Files\\node.exe',
    main: 'D:\\100%PATH% & more\\main.cjs',
    config: null,
  };
  assert.deepEqual(launcherText(plain, 'win32').split('\r\n').slice(3), [
    'setlocal DisableDelayedExpansion',
    ...CLEARED_VARIABLES.map((name) => `set "${name}="`),
    `if not exist "C:\\Program Files\\node.exe" (>&2 echo ${MISSING}& exit /b 2)`,
    `if not exist "D:\\100%%PATH%% & more\\main.cjs" (>&2 echo ${MISSING}& exit /b 2)`,
    '"C:\\Program Files\\node.exe" "D:\\100%%PATH%% & more\\main.cjs" -- %*',
    '',
  ]);
  const greek = launcherText({ ...plain, config: 'C:\\Users\\Ελένη\\config.json' }, 'win32').split('\r\n');
  assert.ok(greek.indexOf('chcp 65001 <nul >nul') < greek.findIndex((line) => line.includes('Ελένη')));
  assert.ok(greek.includes('chcp 65001 <nul >nul'));
});

for (const [runtime, there, lasting] of [
  [
    '/opt/homebrew/Cellar/node/24.15.0/bin/node',
    '/opt/homebrew/opt/node/bin/node',
    '/opt/homebrew/opt/node/bin/node',
  ],
  [
    '/home/linuxbrew/.linuxbrew/Cellar/node@24/24.15.0_1/bin/node',
    '/home/linuxbrew/.linuxbrew/opt/node@24/bin/node',
    '/home/linuxbrew/.linuxbrew/opt/node@24/bin/node',
  ],
  ['/opt/homebrew/Cellar/node/24.15.0/bin/node', null, '/opt/homebrew/Cellar/node/24.15.0/bin/node'],
  ['/usr/bin/node', '/usr/opt/node', '/usr/bin/node'],
  ['C:\\Program Files\\nodejs\\node.exe', null, 'C:\\Program Files\\nodejs\\node.exe'],
] as const)
  test(`the lasting path of ${runtime}${there === null ? '' : ` with ${there}`}`, () => {
    assert.equal(
      lastingRuntime(runtime, (path) => path === there),
      lasting,
    );
  });
