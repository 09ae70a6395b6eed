// Values derived from a record rather than contained in it.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Attempt, Trial } from '@photofinish/shared/race/outcome';
import fc from 'fast-check';
import { afterRefusalMs } from './own-scenarios.ts';

const WHERE = { address: '10.77.1.2', port: 443 };

function refusedTrial(quicMs: number, tcpMs: number, roundTripMs: number): Trial {
  const quic: Attempt = {
    ...WHERE,
    protocol: 'h3',
    startedMs: quicMs,
    establishedMs: null,
    outcome: 'failed',
    error: { code: 'udp-refused', message: 'refused' },
  };
  const tcp: Attempt = {
    ...WHERE,
    protocol: 'h2',
    startedMs: tcpMs,
    transportMs: tcpMs + roundTripMs,
    establishedMs: tcpMs + 2 * roundTripMs,
    outcome: 'adopted',
  };
  const establishedMs = tcp.establishedMs;
  const end = { establishedMs, firstByteMs: null, lateH3: false, cacheHit: false };
  return { adopted: 'h2', ...end, attempts: [quic, tcp] };
}

describe('from the refusal to the start of TCP', () => {
  const times = fc.integer({ min: 0, max: 10_000 });

  test('is the time TCP waited beyond a round trip', () => {
    fc.assert(
      fc.property(times, times, times, (quicMs, waitedMs, roundTripMs) => {
        const trial = refusedTrial(quicMs, quicMs + roundTripMs + waitedMs, roundTripMs);
        assert.equal(afterRefusalMs(trial), waitedMs);
      }),
    );
  });

  test('is negative if the start delay ended first', () => {
    assert.equal(afterRefusalMs(refusedTrial(0, 10, 50)), -40);
  });

  test('is undefined if HTTP/3 was not refused', () => {
    const trial = refusedTrial(0, 50, 50);
    const [quic, tcp] = trial.attempts as [Attempt, Attempt];
    const lost: Attempt = { ...quic, error: { code: 'udp-timeout', message: 'silence' } };
    assert.throws(() => afterRefusalMs({ ...trial, attempts: [lost, tcp] }), /not refused: udp-timeout/);
    assert.throws(() => afterRefusalMs({ ...trial, attempts: [tcp] }), /no attempt over h3/);
  });

  test('is undefined if TCP was not connected', () => {
    const trial = refusedTrial(0, 50, 50);
    const [quic, tcp] = trial.attempts as [Attempt, Attempt];
    const silent: Attempt = { ...tcp, transportMs: null };
    assert.throws(() => afterRefusalMs({ ...trial, attempts: [quic, silent] }), /TCP was not connected/);
  });
});
