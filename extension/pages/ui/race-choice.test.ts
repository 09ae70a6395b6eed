// Which proxy settings let races start by themselves: only the one that rules a proxy out.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PROXY_MODES } from '../../common/proxy-mode.ts';
import { proxyWords } from './race-choice.ts';

test('of Chromium’s modes only direct lets races run, and the others say why not', () => {
  for (const mode of PROXY_MODES) {
    const { text, clear } = proxyWords(mode);
    assert.equal(clear, mode === 'direct', mode);
    if (!clear) assert.match(text, /^Automatic races are off for now/);
  }
});

test('where the browser tells with each request there is nothing to set', () => {
  assert.equal(proxyWords(null).clear, true);
});
