// How pages show the helper's state, and that retries do not make them flicker.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CHROMIUM_EXTENSION_ID, FIREFOX_EXTENSION_ID } from '@photofinish/shared/port/extension-id';
import helper from '../../../native-host/package.json' with { type: 'json' };
import type { HelperState } from '../../common/messages.ts';
import { type Environment, fixCommand, installCommand, shownState, stateText } from './helper-panel.ts';

const MISSING: HelperState = { state: 'missing' };
const CONNECTING: HelperState = { state: 'connecting' };
const READY: HelperState = {
  state: 'ready',
  program: 'photofinish 1.0.0',
  network: 'net-1',
  networkName: null,
};

test('every state has its own sentence with its details', () => {
  const states: HelperState[] = [
    CONNECTING,
    MISSING,
    READY,
    { state: 'not-asked' },
    { state: 'crashed', message: 'It fell.' },
    { state: 'incompatible', message: 'It is old.' },
  ];
  const texts = states.map((state) => stateText(state).text);
  assert.equal(new Set(texts).size, states.length);
  assert.match(stateText(READY).text, /photofinish 1\.0\.0.*net-1/);
  assert.match(texts[4] ?? '', /It fell\./);
  assert.match(texts[5] ?? '', /It is old\./);
});

test('a retry for a missing helper is not shown, its end is', () => {
  assert.equal(shownState(null, CONNECTING), CONNECTING);
  assert.equal(shownState(MISSING, CONNECTING), MISSING);
  assert.equal(shownState(MISSING, READY), READY);
  assert.equal(shownState(READY, CONNECTING), CONNECTING);
  assert.equal(shownState({ state: 'not-asked' }, CONNECTING), CONNECTING);
});

// The command to paste: the right package, browser and extension for the page's environment.

const CHROMIUM: Environment = {
  os: 'linux',
  firefox: false,
  brands: ['Not:A-Brand', 'Chromium'],
  extensionId: CHROMIUM_EXTENSION_ID,
  unpacked: false,
};
const STORE_ID = 'abcdefghijklmnopabcdefghijklmnop';

const CASES: readonly [string, Partial<Environment>, string | null][] = [
  ['Chromium from its package', {}, 'npx @photofinish/helper@1 install --browser chromium'],
  ['Chrome', { brands: ['Chromium', 'Google Chrome'] }, 'npx @photofinish/helper@1 install --browser chrome'],
  [
    'Edge',
    { brands: ['Microsoft Edge', 'Chromium'], os: 'win' },
    'npx @photofinish/helper@1 install --browser edge',
  ],
  [
    'Brave',
    { brands: ['Brave', 'Chromium'], os: 'mac' },
    'npx @photofinish/helper@1 install --browser brave',
  ],
  [
    'a browser without a name of its own gets every manifest',
    { brands: ['Chromium', 'Opera'] },
    'npx @photofinish/helper@1 install',
  ],
  [
    'an id of another store',
    { extensionId: STORE_ID },
    `npx @photofinish/helper@1 install --browser chromium --extension-id ${STORE_ID}`,
  ],
  [
    'Firefox, whose add-on id is written in our manifest',
    { firefox: true, brands: [], extensionId: FIREFOX_EXTENSION_ID },
    'npx @photofinish/helper@1 install --browser firefox',
  ],
  ['Android starts no helper', { firefox: true, brands: [], os: 'android' }, null],
  ['ChromeOS starts no helper', { os: 'cros' }, null],
];

for (const [what, where, command] of CASES)
  test(`install command: ${what}`, () => assert.equal(installCommand({ ...CHROMIUM, ...where }), command));

test('the package is the workspace that is published, within a scope of ours, and of its major version', () => {
  const [major] = helper.version.split('.');
  assert.equal(fixCommand('doctor', CHROMIUM), `npx ${helper.name}@${major} doctor`);
  assert.equal(fixCommand('install', CHROMIUM), installCommand(CHROMIUM));
  assert.equal(fixCommand(null, CHROMIUM), null);
  assert.match(helper.name, /^@photofinish\//);
});

test('no message runs a package of somebody else', () => {
  const directory = join(import.meta.dirname, '../../_locales');
  const catalogs = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
  const names = catalogs.flatMap((text) => [...text.matchAll(/\bnpx (\S+)/g)].map(([, name]) => name));
  assert.deepEqual([...new Set(names)], [helper.name]);
});
