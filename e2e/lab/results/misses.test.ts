// Why a race was lost, read from its trace, and the link's lateness in the turn that it was run in.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Attempt } from '@photofinish/shared/outcome';
import type { LinkReport } from '../../network/shape.ts';
import type { Cell, CellResult } from '../adoption/run.ts';
import type { LabTrial } from '../trial.ts';
import { latenessWords, linkAccuracy } from './link-accuracy.ts';
import { causeOf, countCauses, formatMisses, missesOfRun, missingClients, traceWords } from './misses.ts';

const place = { address: '10.0.0.2', port: 443 };
const TCP: Attempt = {
  ...place,
  protocol: 'h2',
  startedMs: 10,
  transportMs: 61,
  establishedMs: 112,
  outcome: 'adopted',
};
const quic = (rest: Partial<Attempt> = {}): Attempt => ({
  ...place,
  protocol: 'h3',
  startedMs: 0,
  transportMs: null,
  establishedMs: null,
  outcome: 'cancelled',
  ...rest,
});

function lost(...attempts: readonly Attempt[]): LabTrial {
  const [adopted, establishedMs] = ['h2', 112] as const;
  const trace = { adopted, establishedMs, firstByteMs: 163, lateH3: false, cacheHit: false };
  return { adopted, establishedMs, firstByteMs: 163, trace: { ...trace, attempts: [...attempts] } };
}

const WON: LabTrial = { adopted: 'h3', establishedMs: 51, firstByteMs: 102 };
const FAILED: LabTrial = { adopted: null, establishedMs: null, firstByteMs: null, error: 'time-out' };

function report(maxUs: number, lostDown = 0): LinkReport {
  const direction = { delivered: 90, lost: 0, overflowed: 0, oversized: 0, shortestUs: 25_010 };
  const lateUs = { median: 10, p99: 50, max: maxUs };
  return { up: { ...direction, lateUs }, down: { ...direction, lost: lostDown, lateUs: null } };
}

function resultOf(trials: readonly LabTrial[], cell: Partial<Cell> = {}, turns = [report(120)]): CellResult {
  return {
    cell: { id: 'delay-50', delayMs: 50, loss: 0, ...cell },
    trials: { race: trials },
    link: turns.map((each) => ({ contestant: 'race', report: each })),
  };
}

describe('the cause of a miss', () => {
  test('is what was known of QUIC when old HTTP was established', () => {
    assert.equal(causeOf(lost(quic(), TCP)), 'silent');
    assert.equal(causeOf(lost(quic({ transportMs: 113 }), TCP)), 'silent');
    assert.equal(causeOf(lost(quic({ transportMs: 112 }), TCP)), 'unfinished');
    assert.equal(causeOf(lost(quic({ transportMs: 51, establishedMs: 115 }), TCP)), 'unfinished');
    const error = { code: 'udp-refused', message: '' } as const;
    assert.equal(causeOf(lost(quic({ outcome: 'failed', error }), TCP)), 'quic-failed');
    assert.equal(causeOf(lost(quic({ outcome: 'failed', error }), quic({ fresh: true }), TCP)), 'silent');
    assert.equal(causeOf(lost(TCP)), 'not-tried');
    assert.equal(causeOf(FAILED), 'nothing-adopted');
    assert.equal(causeOf({ ...lost(quic({}), TCP), adopted: null }), 'unanswered');
    assert.equal(causeOf({ adopted: 'h2', establishedMs: 112, firstByteMs: null }), 'untraced');
  });

  test('its line has every attempt, its times and the margin', () => {
    assert.equal(
      traceWords(lost(quic({ transportMs: 51.04, establishedMs: 115.2 }), TCP)),
      'QUIC started 0.0, first datagram 51.0, established 115.2; TCP started 10.0, connected 61.0, established 112.0; HTTP/3 3.2 ms late',
    );
    const error = { code: 'handshake-timeout', message: '' } as const;
    assert.match(
      traceWords(lost(quic({ error, outcome: 'failed' }), TCP)),
      /failed: handshake-timeout; TCP.*not established/,
    );
    assert.match(
      traceWords(lost(quic(), quic({ fresh: true, startedMs: 20 }), TCP)),
      /fresh QUIC started 20.0/,
    );
    assert.equal(traceWords(FAILED), 'time-out');
  });
});

describe('the misses of a run', () => {
  test('without loss each has its line, with the lateness of its own turn', () => {
    const result = resultOf([WON, WON, WON, lost(quic(), TCP)], {}, [report(120), report(4560)]);
    const text = formatMisses({ cells: [result] });
    assert.match(text, /race, delay-50: 1 of 4 trials\n {2}1: no datagram/);
    assert.match(text, /trial 4: .*in this turn: 99 % of packets at most 0.05 ms late, the latest 4.56 ms$/);
  });

  test('where turns may be of unequal length the worst is said', () => {
    const result = resultOf([WON, WON, lost(quic(), TCP)], {}, [report(4560), report(120)]);
    assert.match(latenessWords(result, 'race', 2), /in the worst of its turns: .*4.56 ms/);
  });

  test('with loss they are counted by cause, the most frequent first', () => {
    const trials = [
      lost(quic(), TCP),
      lost(quic({ transportMs: 51 }), TCP),
      lost(quic({ transportMs: 60 }), TCP),
    ];
    const result = resultOf(trials, { id: 'loss-10', loss: 0.1 });
    assert.deepEqual(
      countCauses(missesOfRun({ cells: [result] })).map(({ cause, count }) => [cause, count]),
      [
        ['unfinished', 2],
        ['silent', 1],
      ],
    );
    assert.doesNotMatch(formatMisses({ cells: [result] }), /trial 1/);
  });

  test('many are not all told one by one', () => {
    const result = resultOf(Array.from({ length: 30 }, () => lost(quic(), TCP)));
    const lines = formatMisses({ cells: [result] }).split('\n');
    assert.equal(lines.filter((line) => /^ {2}trial \d/.test(line)).length, 20);
    assert.equal(lines.at(-1), '  10 more in the JSON file');
  });

  test('none is said as none', () => {
    assert.match(formatMisses({ cells: [resultOf([WON])] }), /\nnone$/);
  });
});

test('clients that are missing are named with the reason', () => {
  const absent = [{ name: 'curl', title: 'curl', kind: 'peer', why: 'no Python' }] as const;
  const cells = [{ ...resultOf([WON]), crashed: { quinn: 'it hung', race: 'killed' } }];
  assert.deepEqual(missingClients({ absent, cells }), [
    'curl: no Python',
    'quinn: broke off in delay-50 after 0 trials: it hung',
    'race: broke off in delay-50 after 1 trials: killed',
  ]);
});

describe('the accuracy of the link', () => {
  test('adds up turns and says the worst', () => {
    const [up, down] = linkAccuracy({ cells: [resultOf([WON], {}, [report(120, 10), report(4560, 10)])] });
    assert.deepEqual(up?.lateUs, { median: 10, p99: 50, max: 4560 });
    assert.equal(up?.shortestMs, 25.01);
    assert.equal(up?.askedDelayMs, 25);
    assert.equal(down?.packets, 200);
    assert.equal(down?.gotLoss?.value, 0.1);
    assert.equal(down?.lateUs, null);
  });

  test('without turns knows nothing', () => {
    const [up] = linkAccuracy({ cells: [resultOf([], {}, [])] });
    assert.equal(up?.gotLoss, null);
    assert.equal(up?.shortestMs, null);
    assert.equal(latenessWords(resultOf([], {}, []), 'race', 0), 'the link reported nothing');
  });
});
