// Which proxy settings let races start automatically: only the one that rules out a proxy.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PROXY_MODES, proxiedBy } from '../../common/permissions.ts';
import { proxyText } from './choices.ts';

test('of Chromium’s modes only direct lets races run, and the others say why not', () => {
  for (const mode of PROXY_MODES) {
    const { text, clear } = proxyText(mode);
    assert.equal(clear, mode === 'direct', mode);
    if (!clear) assert.match(text, /^Automatic races are off for now/);
  }
});

test('if the browser reports the proxy with each request there is no setting', () => {
  assert.equal(proxyText(null).clear, true);
});

test('a setting rules a proxy out only if it leaves nothing to others', () => {
  assert.deepEqual(
    PROXY_MODES.map((mode) => [mode, proxiedBy(mode)]),
    [
      ['direct', false],
      ['system', null],
      ['auto_detect', null],
      ['pac_script', null],
      ['fixed_servers', null],
    ],
  );
  assert.equal(proxiedBy(null), null);
});
