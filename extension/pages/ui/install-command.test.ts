// The command to paste: the right package, browser and extension for the page's environment.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHROMIUM_EXTENSION_ID, FIREFOX_EXTENSION_ID } from '@photofinish/shared/port/extension-id';
import { type Environment, installCommand } from './install-command.ts';

const CHROMIUM: Environment = {
  os: 'linux',
  firefox: false,
  brands: ['Not:A-Brand', 'Chromium'],
  extensionId: CHROMIUM_EXTENSION_ID,
  unpacked: false,
};
const STORE_ID = 'abcdefghijklmnopabcdefghijklmnop';

const CASES: readonly [string, Partial<Environment>, string | null][] = [
  ['Chromium from its package', {}, 'npx photofinish@1 install --browser chromium'],
  ['a checkout has the command itself', { unpacked: true }, 'npx photofinish install --browser chromium'],
  ['Chrome', { brands: ['Chromium', 'Google Chrome'] }, 'npx photofinish@1 install --browser chrome'],
  ['Edge', { brands: ['Microsoft Edge', 'Chromium'], os: 'win' }, 'npx photofinish@1 install --browser edge'],
  ['Brave', { brands: ['Brave', 'Chromium'], os: 'mac' }, 'npx photofinish@1 install --browser brave'],
  [
    'a browser without a name of its own gets every manifest',
    { brands: ['Chromium', 'Opera'] },
    'npx photofinish@1 install',
  ],
  [
    'an id of another store',
    { extensionId: STORE_ID },
    `npx photofinish@1 install --browser chromium --extension-id ${STORE_ID}`,
  ],
  [
    'Firefox, whose add-on id is written in our manifest',
    { firefox: true, brands: [], extensionId: FIREFOX_EXTENSION_ID },
    'npx photofinish@1 install --browser firefox',
  ],
  ['Android starts no helper', { firefox: true, brands: [], os: 'android' }, null],
  ['ChromeOS starts no helper', { os: 'cros' }, null],
];

for (const [what, where, command] of CASES)
  test(`install command: ${what}`, () => assert.equal(installCommand({ ...CHROMIUM, ...where }), command));
