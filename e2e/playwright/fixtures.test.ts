// Whether the fixtures start a helper, and which: the checkout's, or the package's if it is ours.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { TOP } from '../scratch.ts';
import { checkScripts, helperCommand, helperSettings } from './fixtures.ts';

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

test('tests without JavaScript are refused in one sentence', () => {
  assert.throws(
    () => checkScripts(false),
    /needs JavaScript in Chromium: remove the option javaScriptEnabled: false\.$/,
  );
  assert.doesNotThrow(() => checkScripts(true));
  assert.doesNotThrow(() => checkScripts(undefined));
});
