import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { down, up } from '../testing/cache-samples.ts';
import { handshakeSampleMs, lossSample, rttSampleMs, smoothedRtt, undisturbed } from './estimate.ts';

test('RFC 6298 section 2.2: the first measurement is the mean, half of it the variance', () => {
  assert.deepEqual(smoothedRtt(null, 40), { srttMs: 40, rttvarMs: 20 });
});

test('RFC 6298 section 2.3: variance moves by a quarter from the old mean, the mean by an eighth', () => {
  assert.deepEqual(smoothedRtt({ srttMs: 40, rttvarMs: 20 }, 80), { srttMs: 45, rttvarMs: 25 });
  assert.deepEqual(smoothedRtt({ srttMs: 40, rttvarMs: 20 }, 40), { srttMs: 40, rttvarMs: 15 });
});

test('the mean stays within the measured values, and the variance is never negative', () => {
  const sample = fc.double({ min: 0, max: 60_000, noNaN: true });
  fc.assert(
    fc.property(fc.array(sample, { minLength: 1 }), (samples) => {
      let estimate = smoothedRtt(null, samples[0] ?? 0);
      for (const each of samples.slice(1)) estimate = smoothedRtt(estimate, each);
      assert.ok(estimate.srttMs >= Math.min(...samples) - 1e-6);
      assert.ok(estimate.srttMs <= Math.max(...samples) + 1e-6);
      assert.ok(estimate.rttvarMs >= 0);
    }),
  );
});

test("a round trip is the transport's own estimate, else the time to the first sign of life", () => {
  assert.equal(rttSampleMs(up('h3')), 20);
  assert.equal(rttSampleMs(up('h3', { rttMs: 7 })), 7);
  assert.equal(rttSampleMs(up('h3', { outcome: 'cancelled', establishedMs: null })), 20);
  assert.equal(rttSampleMs(down('h3', 'udp-timeout')), null);
});

test('RFC 6298 section 3: an answer possibly caused by a retransmission is no measurement', () => {
  assert.equal(rttSampleMs(up('h3', { packets: { sent: 6, lost: 1 } })), null);
  assert.equal(rttSampleMs(up('h3', { packets: { sent: 6, lost: 1 }, rttMs: 9 })), 9);
  // Established without anything acknowledged: the first sign of life may have been a retransmission by the server.
  assert.equal(rttSampleMs(up('h3', { transportMs: 213, packets: { sent: 6, lost: 0 } })), null);
  assert.equal(rttSampleMs(up('h2', { transportMs: 1010 })), null);
  assert.equal(rttSampleMs(up('h2', { transportMs: 1010, rttMs: 1000 })), null);
  assert.equal(rttSampleMs(up('h2', { transportMs: 1009 })), 999);
});

test('RFC 9002 section 5.2: handshake time is an ageing minimum, not a mean of retransmission timers', () => {
  assert.equal(undisturbed(null, 40), 40);
  assert.equal(undisturbed(40, 20), 20);
  assert.equal(undisturbed(40, 48), 41);
  assert.equal(undisturbed(40, 1000), 45);
  const often = Array.from({ length: 200 }, (_, index) => (index % 4 === 0 ? 1000 : 50));
  assert.ok(often.reduce<number>(undisturbed, 50) < 60);
  const longer = Array<number>(40).fill(150);
  assert.ok(Math.abs(longer.reduce<number>(undisturbed, 50) - 150) < 5);
});

test('a handshake is measured only if an answer followed', () => {
  assert.equal(handshakeSampleMs(up('h3')), 40);
  assert.equal(handshakeSampleMs(up('h3', { outcome: 'failed' })), null);
  assert.equal(handshakeSampleMs(down('h3', 'udp-timeout')), null);
});

test('loss is the share of packets sent, and undefined for a dead path', () => {
  assert.equal(lossSample(up('h3', { packets: { sent: 10, lost: 1 } })), 0.1);
  assert.equal(lossSample(up('h3', { packets: { sent: 0, lost: 0 } })), null);
  assert.equal(lossSample({ ...down('h3', 'udp-timeout'), packets: { sent: 5, lost: 5 } }), null);
  assert.equal(lossSample(up('h2')), null);
});
