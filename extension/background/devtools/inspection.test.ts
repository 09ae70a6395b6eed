import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import {
  type DevtoolsMessage,
  type InspectedEvent,
  type InspectedRequest,
  MAX_INSPECTED_AT_ONCE,
} from '../../common/inspected-request.ts';
import { INSPECTED_REQUEST, pagePort } from '../../testing/samples.ts';
import { createInspection } from './inspection.ts';

const request: InspectedRequest = { ...INSPECTED_REQUEST, url: 'https://a.test/' };

function testbed(refused: readonly number[] = []) {
  const told: [number, readonly InspectedRequest[]][] = [];
  const closed: number[] = [];
  const inspection = createInspection({
    inOrder: (run) => run(),
    mayRecord: (tabId) => !refused.includes(tabId),
    onRequests: (tabId, requests) => void told.push([tabId, requests]),
    onClosed: (tabId) => void closed.push(tabId),
  });
  const { port, send, close } = pagePort();
  inspection.accept(port);
  return {
    inspection,
    told,
    closed,
    say: (word: DevtoolsMessage) => send(word),
    send,
    close,
  };
}

function watched({ inspection }: ReturnType<typeof testbed>, tabId: number): InspectedEvent[] {
  const events: InspectedEvent[] = [];
  inspection.watch(tabId, (event) => events.push(event));
  return events;
}

test('a watcher receives existing requests, new ones, and that the tools closed', () => {
  const tools = testbed();
  tools.say({ type: 'begin', tabId: 3 });
  tools.say({ type: 'requests', tabId: 3, requests: [request], again: false });
  const events = watched(tools, 3);
  tools.say({ type: 'requests', tabId: 3, requests: [request, request], again: false });
  tools.say({ type: 'begin', tabId: 3 });
  tools.close();
  assert.deepEqual(
    events.map(({ requests, anew, inspected }) => [requests.length, anew, inspected]),
    [
      [1, true, true],
      [2, false, true],
      [0, true, true],
      [0, true, false],
    ],
  );
  assert.deepEqual(tools.closed, [3]);
  assert.equal(tools.inspection.isInspected(3), false);
});

test('requests reported before fill the list and are not passed on again', () => {
  const tools = testbed();
  tools.say({ type: 'requests', tabId: 3, requests: [request], again: true });
  assert.deepEqual(tools.told, []);
  assert.equal(watched(tools, 3)[0]?.requests.length, 1);
  tools.say({ type: 'requests', tabId: 3, requests: [request], again: false });
  assert.deepEqual(tools.told, [[3, [request]]]);
});

test('nothing is reported for a tab that may not be recorded', () => {
  const tools = testbed([3]);
  tools.say({ type: 'begin', tabId: 3 });
  tools.say({ type: 'requests', tabId: 3, requests: [request], again: false });
  assert.deepEqual([tools.told, watched(tools, 3)[0]?.requests], [[], []]);
});

test('forgetting empties the lists of those tabs, whose tools stay open', () => {
  const tools = testbed();
  for (const tabId of [3, 4]) tools.say({ type: 'requests', tabId, requests: [request], again: false });
  tools.inspection.forget([3, 5]);
  assert.deepEqual(watched(tools, 3)[0], { requests: [], anew: true, inspected: true });
  assert.equal(watched(tools, 4)[0]?.requests.length, 1);
  assert.equal(tools.inspection.isInspected(5), false);
  tools.inspection.forget();
  assert.equal(watched(tools, 4)[0]?.requests.length, 0);
});

test('invalid messages are dropped with a warning', () => {
  const complaints = mock.method(console, 'error', () => {});
  const tools = testbed();
  const tooMany = Array.from({ length: MAX_INSPECTED_AT_ONCE + 1 }, () => request);
  for (const message of [
    null,
    { type: 'requests', tabId: -1, requests: [request], again: false },
    { type: 'requests', tabId: 3, requests: [{ ...request, url: 'http://a.test/' }], again: false },
    { type: 'requests', tabId: 3, requests: [{ ...request, tookMs: Number.NaN }], again: false },
    { type: 'requests', tabId: 3, requests: tooMany, again: false },
  ])
    tools.send(message);
  assert.equal(complaints.mock.callCount(), 5);
  assert.deepEqual(tools.told, []);
  complaints.mock.restore();
});
