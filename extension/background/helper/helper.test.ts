// The connection to the helper in Firefox, whose user may withdraw consent at any time without the extension being
// told: nothing about visited pages is sent before the browser has confirmed it.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { Origin } from '@photofinish/shared/web/origin';

// What the build defines for Firefox must be there before any of its modules is loaded.
Object.assign(globalThis, { EDITION: 'firefox' });
const { comparison, HelperLink } = await import('./helper.ts');

// The connection's time-outs would otherwise keep the test running.
mock.timers.enable({ apis: ['setTimeout'] });

const ORIGIN = 'https://a.test' as Origin;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A browser whose user has agreed, and the connection in it. */
async function connected() {
  const browser = { consents: true, posted: [] as { readonly type: string }[], closed: 0 };
  const event = { addListener: () => {} };
  const chrome = {
    permissions: {
      contains: async () => {
        await turn();
        return browser.consents;
      },
      onAdded: event,
      onRemoved: event,
    },
    runtime: {
      connectNative: () => ({
        postMessage: (message: { readonly type: string }) => browser.posted.push(message),
        disconnect: () => {
          browser.closed += 1;
        },
        onMessage: event,
        onDisconnect: event,
      }),
    },
  };
  Object.assign(globalThis, { chrome });
  const link = new HelperLink({
    store: {
      get: async () => ({ revision: 0 }),
      replace: async () => ({ revision: 0 }),
      onChanged: () => {},
    },
    program: 'photofinish-extension test',
    upload: async () => {},
    onChange: () => {},
    onNetwork: () => {},
  });
  await turn();
  await turn();
  return { browser, link, sent: () => browser.posted.map(({ type }) => type) };
}

test('with the user’s consent, forecasts are requested and races are started', async () => {
  const { link, sent } = await connected();
  void link.forecast('a.test', [ORIGIN]).catch(() => {});
  const race = link.race(comparison(ORIGIN), () => {});
  void race.result.catch(() => {});
  race.cancel();
  await turn();
  await turn();
  assert.deepEqual(sent(), ['hello', 'forecast', 'race', 'cancel']);
});

test('after it was withdrawn, not even the next navigation is sent, and the connection is closed', async () => {
  const { browser, link, sent } = await connected();
  browser.consents = false;
  await assert.rejects(link.forecast('a.test', [ORIGIN]), { code: 'helper-disconnected' });
  assert.deepEqual(sent(), ['hello']);
  assert.equal(browser.closed, 1);
  assert.deepEqual(link.state, { state: 'not-asked' });
});

test('after it was withdrawn, no race starts, though it is cancelled at once', async () => {
  const { browser, link, sent } = await connected();
  browser.consents = false;
  const race = link.race(comparison(ORIGIN), () => {});
  race.cancel();
  await assert.rejects(race.result, { code: 'helper-disconnected' });
  assert.deepEqual(sent(), ['hello']);
});

test('what the browser cannot confirm is not sent', async () => {
  const { link, sent } = await connected();
  const chrome = Reflect.get(globalThis, 'chrome');
  chrome.permissions.contains = async () => {
    throw new Error('no answer');
  };
  await assert.rejects(link.forecast('a.test', [ORIGIN]), /no answer/);
  assert.deepEqual(sent(), ['hello']);
});
