// What a race knows with each memory setting, in virtual time: hints, decisions, and how often the host cache was
// right.
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAltSvc } from '@photofinish/shared/web/alt-svc';
import { type Hints, NO_HINTS, NO_KNOWLEDGE } from '../cache/policy.ts';
import { adopted, race } from '../testing/race.ts';

const HINTS: Hints = {
  ...NO_HINTS,
  h3: { srttMs: 40, rttvarMs: 5, handshakeMs: null, lossRate: null },
  addresses: new Map([['127.0.0.1', { srttMs: 40, usedAtMs: 5 }]]),
};

test('memory hints: path and advertisements are known, the decision is not', async () => {
  const known = { ...NO_KNOWLEDGE, decision: 'h2', altSvc: parseAltSvc('h3=":4433"'), hints: HINTS } as const;
  const { result, transports, discovery } = await race([{ handshakeMs: 80 }], [{ handshakeMs: 50 }], {
    memory: 'hints',
    tcpAttemptDelayMs: null,
    known,
  });
  assert.equal(transports.h3.targets[0]?.initialRttMs, 20);
  assert.equal(transports.h3.targets[0]?.port, 4433);
  assert.deepEqual(adopted(result), ['h3']);
  assert.equal(result.discovered.altSvc, 'h3=":4433"');
  assert.deepEqual(
    result.discovered.alternatives?.map(({ alpn, port, source }) => [alpn, port, source]),
    [['h3', 4433, 'memory']],
  );
  assert.deepEqual(
    result.trials[0]?.attempts.map((a) => [a.protocol, a.fresh, a.startedMs]),
    [
      ['h3', undefined, 0],
      ['h3', true, 60],
      ['h2', undefined, 70],
    ],
  );
  assert.equal(result.startDelayMs, 70);
  assert.equal(discovery.settled[0]?.history.get('127.0.0.1')?.srttMs, 40);
  assert.equal(result.summary.cache, undefined);
});

test('a hedged QUIC attempt joins HTTP/3 alone, and never a trial of a comparison', async () => {
  const known = { ...NO_KNOWLEDGE, hints: HINTS } as const;
  const attempts = async (mode: 'h3' | 'compare') => {
    const options = { mode, memory: 'hints', tcpAttemptDelayMs: null, known, pairs: 1 } as const;
    const { result } = await race([{ handshakeMs: 300 }], [{ handshakeMs: 50 }], options);
    return result.trials.flatMap((t) => t.attempts.map((a) => [a.protocol, a.fresh ?? false]));
  };
  assert.deepEqual(await attempts('h3'), [
    ['h3', false],
    ['h3', true],
  ]);
  assert.deepEqual(await attempts('compare'), [
    ['h3', false],
    ['h2', false],
  ]);
});

test('what the first connection of a pair teaches is looked up before the next pair, not within this one', async () => {
  const options = { mode: 'compare', memory: 'full' } as const;
  const h3 = [{ handshakeMs: 10, altSvc: 'h3=":9443"' }];
  const one = await race(h3, [{ handshakeMs: 20 }], { ...options, pairs: 1 });
  assert.equal(one.discovery.settled.length, 1);
  const two = await race(h3, [{ handshakeMs: 20 }], { ...options, pairs: 2 });
  assert.equal(two.discovery.settled.length, 2);
  assert.deepEqual(
    two.result.trials.map(({ attempts }) => attempts[0]?.port),
    [8443, 8443, 8443, 9443],
  );
});

test('a start delay from a measured path is reported in whole microseconds, like all times', async () => {
  const measured = { srttMs: 10, rttvarMs: 4.0227277, handshakeMs: null, lossRate: null };
  const known = { ...NO_KNOWLEDGE, hints: { ...NO_HINTS, h3: measured } };
  const { result } = await race([{ handshakeMs: 5 }], [], {
    memory: 'hints',
    tcpAttemptDelayMs: null,
    known,
  });
  assert.equal(result.startDelayMs, 36.091);
});

test('what other machines shared takes the head start, and is in the record, unless memory is none', async () => {
  const shared = { atMs: 0, h3Failure: 'udp-timeout', tcpProtocol: 'h2' } as const;
  const known = { ...NO_KNOWLEDGE, hints: { ...NO_HINTS, shared } };
  const raced = async (memory: 'hints' | 'none') =>
    (await race([{ handshakeMs: 5 }], [{ handshakeMs: 9 }], { memory, tcpAttemptDelayMs: null, known }))
      .result;
  const told = await raced('hints');
  assert.deepEqual([told.sharedOutcome, told.startDelayMs], [shared, 0]);
  assert.deepEqual(adopted(told), ['h3'], 'attempted all the same');
  const fresh = await raced('none');
  assert.deepEqual([fresh.sharedOutcome, fresh.startDelayMs], [undefined, 10]);
});

test('memory none: nothing is read, and the delays are those of an unknown host', async () => {
  const { result, transports, discovery } = await race([{ handshakeMs: 80 }], [{ handshakeMs: 50 }], {
    tcpAttemptDelayMs: null,
    known: { ...NO_KNOWLEDGE, decision: 'h2', altSvc: parseAltSvc('h3=":4433"'), hints: HINTS },
  });
  assert.equal(transports.h3.targets[0]?.initialRttMs, 67);
  assert.equal(result.startDelayMs, 10);
  assert.equal(discovery.settled[0]?.history.size, 0);
});

test('memory hints: HTTP/3 known to be broken is left out for now, and no cache hit is claimed', async () => {
  const h3Broken = { code: 'udp-timeout', untilMs: 2_000_000 } as const;
  const known = { ...NO_KNOWLEDGE, hints: { ...NO_HINTS, h3Broken } };
  const { result, transports } = await race([{ handshakeMs: 5 }], [{ handshakeMs: 50 }], {
    memory: 'hints',
    known,
  });
  assert.equal(transports.h3.targets.length, 0);
  assert.deepEqual([result.trials[0]?.establishedMs, result.trials[0]?.cacheHit], [50, false]);
});

test('memory full: hit ratio and accuracy are counted separately', async () => {
  // Raced; then h3 remembered and right; then remembered, dead, and wrong; then old HTTP remembered and right.
  const { result } = await race(
    [{ handshakeMs: 5 }, { handshakeMs: 5 }, { handshakeMs: 1, refusal: 'udp-refused' }],
    [{ handshakeMs: 20 }],
    { memory: 'full', trials: 4 },
  );
  assert.deepEqual(adopted(result), ['h3', 'h3', 'h2', 'h2']);
  assert.deepEqual(result.summary.cache, { lookups: 4, hits: 3, scored: 3, right: 2 });
  const alone = await race([{ handshakeMs: 5 }], [], { memory: 'full', mode: 'h3' });
  assert.equal(alone.result.summary.cache, undefined);
});

test('memory full: a hit whose trial adopts nothing cannot be scored', async () => {
  const { result } = await race(
    [{ handshakeMs: 1, refusal: 'udp-refused' }],
    [{ handshakeMs: 1, refusal: 'tcp-refused' }],
    { memory: 'full', known: { ...NO_KNOWLEDGE, decision: 'h3' } },
  );
  assert.deepEqual(result.summary.cache, { lookups: 1, hits: 1, scored: 0, right: 0 });
});

test('memory full: an alternative that responded with 421 is not tried again, without HTTP/3 being lost', async () => {
  const elsewhere = new Map([['b.test', '127.0.0.9']]);
  const wrong = { handshakeMs: 5, answerFailure: 'misdirected' } as const;
  const old = { handshakeMs: 20, altSvc: 'h3="b.test:444"' };
  for (const mode of ['race', 'alt-svc', 'v3'] as const) {
    const known = { ...NO_KNOWLEDGE, altSvc: parseAltSvc(old.altSvc) };
    const set = { mode, memory: 'full', trials: 3, dns: { elsewhere } } as const;
    const { result, transports } = await race([wrong, { handshakeMs: 1, refusal: 'alpn-mismatch' }], [old], {
      ...set,
      known,
    });
    assert.deepEqual(adopted(result), ['h2', 'h2', 'h2'], mode);
    const asked = transports.h3.targets.filter(({ port }) => port === 444);
    assert.equal(asked.length, 1, `${mode}: once`);
    const told = await race([wrong], [old], { ...set, known: { ...known, misdirected: 'b.test:444' } });
    assert.ok(
      told.transports.h3.targets.every(({ port }) => port !== 444),
      `${mode}: never`,
    );
  }
  const { result } = await race([wrong, { handshakeMs: 5 }], [old], {
    ...{ memory: 'full', trials: 2, dns: { elsewhere } },
    known: { ...NO_KNOWLEDGE, altSvc: parseAltSvc(old.altSvc) },
  });
  assert.deepEqual(adopted(result), ['h2', 'h3']);
});

test('memory none: an alternative that responded with 421 is tried in each trial, because each is cold', async () => {
  const wrong = { handshakeMs: 5, answerFailure: 'misdirected' } as const;
  const { transports } = await race([wrong], [{ handshakeMs: 20, altSvc: 'h3=":444"' }], {
    mode: 'alt-svc',
    trials: 2,
  });
  assert.deepEqual(
    transports.h3.targets.map(({ port }) => port),
    [444, 444],
  );
});
