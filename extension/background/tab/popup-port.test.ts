import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PopupEvent } from '../../common/messages.ts';
import { pagePort } from '../../testing/samples.ts';
import { createPopupServer, type PopupActions } from './popup-port.ts';
import type { Watcher } from './presenter.ts';
import { emptyView } from './view.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const view = emptyView(3, null, { helper: { state: 'missing' }, mode: 'full' });

/** A popup's end of a port; like a browser's it throws once it is closed. */
function popup() {
  const received: PopupEvent[] = [];
  let closed = false;
  const { port, send, close } = pagePort();
  return {
    port: {
      ...port,
      postMessage(event: PopupEvent) {
        if (closed) throw new Error('Attempting to use a disconnected port object');
        received.push(event);
      },
    },
    received,
    send,
    close() {
      closed = true;
      close();
    },
  };
}

function server(more: Partial<PopupActions> = {}) {
  const calls: string[] = [];
  const watchers = new Map<number, Watcher>();
  const popups = createPopupServer({
    watch(tabId, watcher) {
      calls.push(`watch ${tabId}`);
      watchers.set(tabId, watcher);
      return () => void calls.push(`unwatch ${tabId}`);
    },
    watchRequests(tabId, told) {
      calls.push(`watch requests of ${tabId}`);
      told({ requests: [], anew: true, inspected: false });
      return () => void calls.push(`unwatch requests of ${tabId}`);
    },
    race: (origins) => void calls.push(`race ${origins}`),
    raceRequests: () => [],
    stopRaces: () => void calls.push('stop races'),
    cancelRace: (origin) => void calls.push(`cancel ${origin}`),
    reconnectHelper: () => void calls.push('reconnect'),
    steer: async (origin, on) => void calls.push(`steer ${origin} ${on}`),
    watchHelper: () => () => {},
    doctor: async () => [],
    wipe: async () => 3,
    settle: async () => {},
    ...more,
  });
  const open = () => {
    const opened = popup();
    popups.accept(opened.port);
    return opened;
  };
  return { popups, calls, watchers, open };
}

test('what a popup requests is done, once each', () => {
  const { calls, open } = server();
  const { send } = open();
  send({ type: 'race', origin: 'https://a.test' });
  send({ type: 'cancel-race', origin: 'https://a.test' });
  send({ type: 'reconnect-helper' });
  assert.deepEqual(calls, ['race https://a.test', 'cancel https://a.test', 'reconnect']);
});

test('a popup watches one tab at a time, and none once it is closed', () => {
  const { calls, watchers, open } = server();
  const { send, close, received } = open();
  send({ type: 'watch', tabId: 3 });
  send({ type: 'watch', tabId: 4 });
  watchers.get(4)?.({ type: 'page', page: view });
  close();
  assert.deepEqual(calls, ['watch 3', 'watch 4', 'unwatch 3', 'unwatch 4']);
  assert.equal(received.length, 1);
  watchers.get(4)?.({ type: 'page', page: view });
  assert.equal(received.length, 1, 'a view on its way to a closed popup is dropped');
});

test('what the developer tools report about a tab is watched in the same way', () => {
  const { calls, open } = server();
  const { send, close, received } = open();
  send({ type: 'watch-requests', tabId: 3 });
  assert.deepEqual(received, [{ type: 'requests', requests: [], anew: true, inspected: false }]);
  close();
  assert.deepEqual(calls, ['watch requests of 3', 'unwatch requests of 3']);
});

test('a popup without a tab is answered too', () => {
  const { calls, open } = server();
  open().send({ type: 'watch', tabId: -1 });
  assert.deepEqual(calls, ['watch -1']);
});

test('unknown messages are rejected and do nothing', (t) => {
  const complaints = t.mock.method(console, 'error', () => {});
  const { calls, open } = server();
  const { send } = open();
  const strange = [
    null,
    'watch',
    { type: 'watch', tabId: '3' },
    { type: 'watch', tabId: 1.5 },
    { type: 'race', origin: 'http://a.test' },
    { type: 'race', origin: 'https://a.test/path' },
    { type: 'steer', origin: 'https://a.test' },
    { type: 'wipe-it' },
  ];
  for (const message of strange) send(message);
  assert.deepEqual(calls, []);
  assert.equal(complaints.mock.callCount(), strange.length);
});

test('every open popup is notified of a race, a closed one is not', () => {
  const { popups, open } = server();
  const [one, two, gone] = [open(), open(), open()];
  gone.close();
  popups.broadcast({
    type: 'race-failed',
    origin: 'https://a.test' as never,
    code: 'cancelled',
    message: '',
  });
  assert.deepEqual([one.received.length, two.received.length, gone.received.length], [1, 1, 0]);
});

test('doctor, wipe and settle are answered, and what fails says why', async () => {
  const fail = async () => {
    throw new Error('the disk is full');
  };
  const { popups } = server({ wipe: fail, settle: fail });
  const one = popup();
  popups.accept(one.port);
  one.send({ type: 'doctor' });
  one.send({ type: 'wipe' });
  one.send({ type: 'settle' });
  await turn();
  assert.deepEqual(one.received, [
    { type: 'doctor', findings: [] },
    { type: 'wiped', helperRecords: null, trouble: 'the disk is full' },
    { type: 'settled', trouble: 'the disk is full' },
  ]);
});
