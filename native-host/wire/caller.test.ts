import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIREFOX_EXTENSION_ID } from '@photofinish/shared/port/extension-id';
import { callerOf, helperArguments } from './caller.ts';

const CHROMIUM = `chrome-extension://${'abcdefghijklmnop'.repeat(2)}/`;

test("the launcher passes the settings before the two dashes, the browser's arguments follow", () => {
  assert.deepEqual(helperArguments(['--config', '/c.json', '--', CHROMIUM, '--parent-window=0']), {
    config: '/c.json',
    browser: [CHROMIUM, '--parent-window=0'],
  });
  assert.deepEqual(helperArguments(['--', CHROMIUM]), { config: null, browser: [CHROMIUM] });
  assert.deepEqual(helperArguments([CHROMIUM]), { config: null, browser: [CHROMIUM] });
});

test("the browser's arguments cannot select the settings", () => {
  assert.equal(helperArguments(['--', '--config', '/evil.json', CHROMIUM]).config, null);
  assert.equal(helperArguments(['--config', '/evil.json', CHROMIUM]).config, null);
});

test('Firefox passes its manifest, Chromium only the extension', () => {
  const chromium = { extension: 'abcdefghijklmnop'.repeat(2), manifest: null };
  assert.deepEqual(callerOf([CHROMIUM]), chromium);
  assert.deepEqual(callerOf([CHROMIUM, '--parent-window=0']), chromium);
  assert.deepEqual(callerOf(['/m.json', FIREFOX_EXTENSION_ID]), {
    extension: FIREFOX_EXTENSION_ID,
    manifest: '/m.json',
  });
});

test('only the extension is known', () => {
  for (const caller of [
    [],
    [''],
    ['chrome-extension://abc/'],
    [CHROMIUM.slice(0, -1)],
    [`${CHROMIUM}x`],
    [CHROMIUM.toUpperCase()],
    ['https://a.test/'],
    ['/m.json'],
    ['/m.json', 'other@addon'],
    [FIREFOX_EXTENSION_ID, '/m.json'],
  ])
    assert.equal(callerOf(caller), null, caller.join(' '));
});
