// Which proxy settings let races start automatically: only the one that rules out a proxy. And a choice that another
// page changes.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';
import { FULL_MODE_KEY, PROXY_MODES, proxiedBy } from '../../common/permissions.ts';
import { proxyText, wireEveryRequest } from './choices.ts';

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

/** As much of an element as a choice consists of. */
class Part extends EventTarget {
  id = '';
  checked = false;
  textContent = '';
  hidden = true;
  readonly dataset = {};
  append(): void {}
  setAttribute(): void {}
}

test('what another page gives up is no longer shown as observed, and what this one gave up keeps its words', async (t) => {
  const parts: Part[] = [Object.assign(new Part(), { id: 'every-section' })];
  const at = (id: string): Part => parts.find((part) => part.id === id) ?? assert.fail(id);
  const document = {
    getElementById: at,
    createElement: () => parts[parts.push(new Part()) - 1],
  };
  type Listen = (permissions: chrome.permissions.Permissions) => void;
  const listeners: { onAdded?: Listen; onRemoved?: Listen } = {};
  let granted = true;
  const event = (name: keyof typeof listeners) => ({
    addListener: (listen: Listen) => {
      listeners[name] = listen;
    },
  });
  const everyRequest = { permissions: ['webRequest'] } as chrome.permissions.Permissions;
  const put = async (given: boolean): Promise<true> => {
    granted = given;
    listeners[given ? 'onAdded' : 'onRemoved']?.(everyRequest);
    return true;
  };
  const chrome = {
    runtime: { getManifest: () => ({ optional_permissions: ['webRequest'] }) },
    permissions: {
      contains: async () => granted,
      request: () => put(true),
      remove: () => put(false),
      onAdded: event('onAdded'),
      onRemoved: event('onRemoved'),
    },
    storage: {
      session: { get: async () => ({ [FULL_MODE_KEY]: true }), onChanged: { addListener() {} } },
    },
  };
  Object.assign(globalThis, { document, chrome });
  t.after(() => {
    for (const name of ['document', 'chrome']) Reflect.deleteProperty(globalThis, name);
  });
  wireEveryRequest();
  const choice = at('every');
  const shown = async (): Promise<[boolean, string]> => {
    await settled();
    return [choice.checked, at('every-state').textContent];
  };
  assert.deepEqual(await shown(), [true, 'Every request is observed.']);

  await put(false);
  assert.deepEqual(await shown(), [false, '']);

  await put(true);
  assert.deepEqual(await shown(), [true, 'Every request is observed.']);
  choice.checked = false;
  choice.dispatchEvent(new Event('change'));
  const [, words] = await shown();
  assert.match(words, /^No longer observed/);
  listeners.onRemoved?.(everyRequest);
  assert.deepEqual(await shown(), [false, words], 'reported late');
});
