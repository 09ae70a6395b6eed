// Every broken state of an installation that a user can have, each found by the doctor and reported with a remedy; how
// a launcher is started on each system: with an environment as minimal as a browser's, on Windows through cmd.exe; and
// what is said of the host cache and of what is copied of the fleet cache.
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Check, DoctorFinding as Finding } from '@photofinish/shared/port/wire';
import { openHostCache } from '../cache/store.ts';
import { systemClock } from '../clock.ts';
import { scratchDirectory } from '../testing/scratch.ts';
import type { BrowserName } from './browser-names.ts';
import { type UserDirectories, userDirectories } from './browsers.ts';
import { examineBrowser, exchangeHello, launchOf } from './doctor.ts';
import { cacheFindings, copiedText } from './examination.ts';
import { install } from './install.ts';
import { type InstallRequest, planInstall, targetsOf } from './install-plan.ts';
import { DISK, type Machine } from './machine.ts';

const HELLO_TIMEOUT_MS = 20_000;
/** The real disk, with the paths of Linux. */
const LINUX: Machine = { platform: 'linux', disk: DISK, registry: null };
const MAIN = join(import.meta.dirname, '../main.ts');

interface Installation {
  readonly directories: UserDirectories;
  readonly request: InstallRequest;
  readonly manifest: string;
  readonly launcher: string;
}

/** An installation of the real helper, run from its sources, in the test's own home. */
function installed(t: TestContext, name: BrowserName = 'chromium', main: string = MAIN): Installation {
  const home = scratchDirectory(t);
  const directories = userDirectories('linux', {}, home);
  const request: InstallRequest = { browsers: [name], userDataDirectory: null, extensionIds: [] };
  const config = join(home, 'config.json');
  writeFileSync(config, JSON.stringify({ cache: join(home, 'cache.db') }), { mode: 0o600 });
  const result = install(
    planInstall(request, { runtime: process.execPath, main, config, copy: null }, directories, existsSync),
    LINUX,
  );
  return { directories, request, manifest: result.browsers[0]?.path ?? '', launcher: result.launcher.path };
}

const EXAMINATION = { machine: LINUX, extensionIds: [], installCommand: () => 'photofinish install' };

function greet(timeoutMs: number) {
  return (launcher: string, caller: readonly string[]) =>
    exchangeHello(launchOf(launcher, caller, 'linux', process.env), timeoutMs);
}

async function examine(
  { request, directories }: Pick<Installation, 'request' | 'directories'>,
  helloTimeoutMs: number = HELLO_TIMEOUT_MS,
): Promise<readonly Finding[]> {
  const [target] = targetsOf(request, directories, existsSync);
  assert.ok(target);
  return (await examineBrowser({ ...EXAMINATION, target, hello: greet(helloTimeoutMs) })).findings;
}

/** Exactly one problem, at that step, matching those words, with a remedy. */
function assertProblem(findings: readonly Finding[], check: Check, words: RegExp): void {
  const problems = findings.filter(({ state }) => state === 'problem');
  assert.deepEqual(
    problems.map((problem) => problem.check),
    [check],
    JSON.stringify(findings, null, 1),
  );
  assert.match(problems[0]?.text ?? '', words);
  assert.notEqual(problems[0]?.remedy, null);
}

for (const name of ['chromium', 'firefox'] as const)
  test(`${name}: a sound installation says hello`, async (t) => {
    const findings = await examine(installed(t, name));
    assert.deepEqual(
      findings.map(({ check, state }) => `${check} ${state}`),
      ['manifest ok', 'extension ok', 'launcher ok', 'runtime ok', 'hello ok'],
      JSON.stringify(findings, null, 1),
    );
    assert.match(findings.at(-1)?.text ?? '', /^photofinish-helper\/\S+ responded in \d+ ms$/);
  });

test('no manifest', async (t) => {
  const state = installed(t);
  rmSync(state.manifest);
  assertProblem(await examine(state), 'manifest', /no manifest at/);
});

test('a browser that is not installed is only a note', async (t) => {
  const { directories } = installed(t);
  const request: InstallRequest = { browsers: [], userDataDirectory: null, extensionIds: [] };
  const target = targetsOf(request, directories, existsSync).find(({ browser }) => browser.name === 'edge');
  assert.ok(target);
  const { findings } = await examineBrowser({ ...EXAMINATION, target, hello: greet(HELLO_TIMEOUT_MS) });
  assert.deepEqual(
    findings.map(({ state }) => state),
    ['note'],
  );
});

test('a manifest that is not JSON', async (t) => {
  const state = installed(t);
  writeFileSync(state.manifest, '{"name":');
  assertProblem(await examine(state), 'manifest', /not JSON/);
});

test('a manifest for another host', async (t) => {
  const state = installed(t);
  writeFileSync(state.manifest, JSON.stringify({ name: 'org.other', path: '/x', type: 'stdio' }));
  assertProblem(await examine(state), 'manifest', /org\.other/);
});

test('a manifest that allows another extension', async (t) => {
  const state = installed(t);
  const manifest = JSON.parse(readFileSync(state.manifest, 'utf8'));
  manifest.allowed_origins = [`chrome-extension://${'a'.repeat(32)}/`];
  writeFileSync(state.manifest, JSON.stringify(manifest));
  assertProblem(await examine(state), 'extension', /does not allow/);
});

test('a launcher that does not exist', async (t) => {
  const state = installed(t);
  rmSync(state.launcher);
  assertProblem(await examine(state), 'launcher', /does not exist/);
});

test('a launcher that is a directory', async (t) => {
  const state = installed(t);
  rmSync(state.launcher);
  mkdirSync(state.launcher);
  assertProblem(await examine(state), 'launcher', /is not a file/);
});

test('a launcher that is not executable', async (t) => {
  const state = installed(t);
  chmodSync(state.launcher, 0o600);
  assertProblem(await examine(state), 'launcher', /is not executable/);
});

test('a launcher named by a relative path', async (t) => {
  const state = installed(t);
  const manifest = JSON.parse(readFileSync(state.manifest, 'utf8'));
  writeFileSync(state.manifest, JSON.stringify({ ...manifest, path: 'host' }));
  assertProblem(await examine(state), 'launcher', /not absolute/);
});

test('a helper that was moved away', async (t) => {
  assertProblem(
    await examine(installed(t, 'chromium', '/nowhere/main.js')),
    'runtime',
    /main\.js is missing/,
  );
});

test('a runtime and a settings file that were removed', async (t) => {
  const state = installed(t);
  const text = readFileSync(state.launcher, 'utf8');
  writeFileSync(state.launcher, text.replaceAll(process.execPath, '/nowhere/node'));
  assertProblem(await examine(state), 'runtime', /node is missing/);
  writeFileSync(state.launcher, text.replace('config.json', 'gone.json'));
  assertProblem(await examine(state), 'runtime', /gone\.json is missing/);
});

for (const [what, script, words] of [
  ['prints where messages belong', 'echo "Hello, I am a banner"', /other than a message/],
  ['ends at once', 'echo "cannot start" >&2; exit 3', /exit code 3.*cannot start/],
] as const)
  test(`a helper that ${what}`, async (t) => {
    const state = installed(t);
    writeFileSync(state.launcher, `#!/bin/sh\n${script}\n`);
    assertProblem(await examine(state), 'hello', words);
  });

test('a helper that refuses its settings', async (t) => {
  const state = installed(t);
  writeFileSync(join(state.directories.home, 'config.json'), '{"unknown":1}');
  assertProblem(await examine(state), 'hello', /settings cannot be used/);
});

test('a helper that stays silent', async (t) => {
  const state = installed(t);
  writeFileSync(state.launcher, '#!/bin/sh\nexec sleep 60\n');
  assertProblem(await examine(state, 300), 'hello', /no response within 0\.3 s/);
});

test('a launcher is a separate program, and gets no path to our runtime', () => {
  const environment = { HOME: '/home/a', PATH: '/opt/node/bin', SECRET: 'x' };
  assert.deepEqual(launchOf('/a b/host', ['chrome-extension://x/'], 'darwin', environment), {
    file: '/a b/host',
    args: ['chrome-extension://x/'],
    environment: { HOME: '/home/a', PATH: '/usr/local/bin:/usr/bin:/bin' },
    verbatim: false,
  });
});

test('on Windows cmd.exe runs it as browsers do, every word in quotes', () => {
  const environment = { SystemRoot: 'C:\\Windows', COMSPEC: 'C:\\Windows\\system32\\cmd.exe', Path: 'D:\\' };
  const launch = launchOf('C:\\a b\\host.cmd', ['C:\\a b\\m.json', 'x@y'], 'win32', environment);
  assert.equal(launch.file, 'C:\\Windows\\system32\\cmd.exe');
  assert.deepEqual(launch.args, ['/d', '/s', '/c', '""C:\\a b\\host.cmd" "C:\\a b\\m.json" "x@y""']);
  assert.equal(launch.verbatim, true);
  assert.deepEqual(Object.keys(launch.environment).sort(), ['COMSPEC', 'PATH', 'SystemRoot']);
});

const HOUR_MS = 3_600_000;

test('the newest outcome of the fleet cache is as old as its hour allows', (t) => {
  const path = join(scratchDirectory(t), 'cache.db');
  const cache = openHostCache({ path, clock: systemClock });
  const atMs = Math.floor(systemClock.epochMs() / HOUR_MS) * HOUR_MS;
  const key = 'a';
  cache.recordShared([{ key, outcome: { key, atMs, h3Failure: null, tcpProtocol: 'h2' } }], {});
  cache.close();
  const copied = '; 1 outcome is copied here, the newest within the last';
  assert.equal(copiedText(path, atMs + HOUR_MS), `${copied} hour`);
  assert.equal(copiedText(path, atMs + HOUR_MS + 1), `${copied} 2 hours`);
});

test('a damaged cache is noted as long as the file that was set aside is there', (t) => {
  const path = join(scratchDirectory(t), 'cache.db');
  openHostCache({ path, clock: systemClock }).close();
  assert.deepEqual(
    cacheFindings(path).map(({ state }) => state),
    ['ok'],
  );
  truncateSync(path, 5000);
  for (const look of ['that sets it aside', 'afterwards']) {
    const [cache, note, ...others] = cacheFindings(path);
    assert.equal(cache?.text, `${path}, 0 origins`, look);
    assert.equal(note?.state, 'note');
    assert.match(note?.text ?? '', /damaged; it was set aside as .*cache\.db\.corrupt-/);
    assert.deepEqual(others, []);
  }
  const [, note] = cacheFindings(path);
  const [, aside = ''] = /set aside as (\S+) and/.exec(note?.text ?? '') ?? [];
  renameSync(aside, join(dirname(path), 'cache.db.corrupt-by-hand'));
  assert.equal(cacheFindings(path).length, 1);
});

test('a cache that cannot be looked at is a problem, not the end of the examination', {
  skip: process.platform === 'win32',
}, (t) => {
  const path = join(scratchDirectory(t), 'cache.db');
  symlinkSync('cache.db', path);
  const [finding, ...others] = cacheFindings(path);
  assert.equal(finding?.state, 'problem');
  assert.match(finding?.remedy ?? '', /^Make the file and its directory writable/);
  assert.deepEqual(others, []);
});

test('a directory in place of the cache is to be moved, or another file named', (t) => {
  const path = join(scratchDirectory(t), 'cache.db');
  mkdirSync(path);
  const [finding, ...others] = cacheFindings(path);
  assert.equal(finding?.state, 'problem');
  assert.match(finding?.text ?? '', /it is not a regular file/);
  assert.match(finding?.remedy ?? '', /^Move it elsewhere, or name another file with "cache"/);
  assert.deepEqual(others, []);
});
