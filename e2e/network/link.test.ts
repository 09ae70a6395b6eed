// The tc-netem(8) arguments of a shape, and the shapes that netem cannot reproduce.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beyondNetem, netemText, type Shape } from './link.ts';

const words = (shape: Shape) => netemText(shape).join(' ');

test('a bare cable resets all settings and has a large queue', () => {
  assert.equal(words({}), 'limit 100000 delay 0ms loss random 0.000000% rate 0bit');
});

test('delay and independent losses', () => {
  const shape: Shape = { delayMs: 12.5, loss: { kind: 'independent', share: 0.03 } };
  assert.equal(words(shape), 'limit 100000 delay 12.5ms loss random 3.000000% rate 0bit');
});

test('bursts are p, r, 1-h and 1-k of the Gilbert-Elliott model', () => {
  const loss = { kind: 'bursts', enter: 0.02, leave: 0.25 } as const;
  assert.match(words({ loss }), / loss gemodel 2\.000000% 25\.000000% 100\.000000% 0\.000000% /);
  const mixed = { ...loss, shareInside: 0.5, shareOutside: 0.001 };
  assert.match(words({ loss: mixed }), / 50\.000000% 0\.100000% /);
});

test('a rate counts IP bytes, and its queue is the limit', () => {
  assert.match(words({ rateMbps: 10 }), /^limit 1000 .* rate 10mbit -14$/);
  assert.match(words({ rateMbps: 0.5, queuePackets: 20 }), /^limit 20 .* rate 0\.5mbit -14$/);
});

test('shapes that netem cannot reproduce are rejected', () => {
  const beyond: Shape[] = [
    { delayMs: 10, jitterMs: 1 },
    { delayMs: 10, rateMbps: 10 },
    { maxPacketBytes: 1280 },
    { apart: { transport: 'udp', delayMs: 5 } },
  ];
  for (const shape of beyond) {
    assert.notEqual(beyondNetem(shape), null);
    assert.throws(() => netemText(shape), RangeError);
  }
  assert.equal(beyondNetem({ delayMs: 10, jitterMs: 0 }), null);
});
