// A whole race from options to record, in virtual time: series, progress, cancellation, and results; and what it knows
// with each memory setting: hints, decisions, and how often the host cache was right.
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAltSvc } from '@photofinish/shared/web/alt-svc';
import { type Hints, NO_HINTS, NO_KNOWLEDGE } from '../cache/policy.ts';
import { adopted, arrange, race } from '../testing/race.ts';
import { countTurns, scripted, TURNS_OF_PAUSE } from '../testing/virtual-time.ts';
import { raceOrigin } from './run.ts';
import type { AttemptTarget } from './transport.ts';

test('attempts get the pinned address, the authority with its port, and the remaining time', async () => {
  const { transports } = await race([{ handshakeMs: 60 }], [{ handshakeMs: 20 }]);
  const [target] = transports.h2.targets;
  assert.deepEqual(
    { ...target, onTransport: null },
    {
      address: '127.0.0.1',
      port: 8443,
      host: 'a.test',
      authority: 'a.test:8443',
      initialRttMs: 67,
      handshakeTimeoutMs: 2990,
      onTransport: null,
    },
  );
});

test('memory none: what one trial taught does not affect the next', async () => {
  const { result, transports } = await race([{ handshakeMs: 80 }], [{ handshakeMs: 20 }], { trials: 3 });
  assert.deepEqual(adopted(result), ['h2', 'h2', 'h2']);
  assert.equal(transports.h3.targets.length, 3);
  assert.ok(result.trials.every((t) => t.lateH3 && !t.cacheHit));
});

test('memory full: a late HTTP/3 is learnt and adopted from then on (P2, rule 4)', async () => {
  const { result, transports } = await race([{ handshakeMs: 80 }], [{ handshakeMs: 20 }], {
    trials: 3,
    memory: 'full',
  });
  assert.deepEqual(adopted(result), ['h2', 'h3', 'h3']);
  assert.deepEqual(
    result.trials.map((t) => t.cacheHit),
    [false, true, true],
  );
  assert.equal(transports.h2.targets.length, 1);
});

test('memory full: a host whose HTTP/3 failed is tried with TCP only from then on', async () => {
  const { result, transports } = await race(
    [{ handshakeMs: 80, refusal: 'udp-refused' }],
    [{ handshakeMs: 20, protocol: 'http/1.1' }],
    { trials: 3, memory: 'full' },
  );
  assert.deepEqual(result.summary.adoption, { h3: 0, h2: 0, 'http/1.1': 3 });
  assert.equal(transports.h3.targets.length, 1);
});

test('memory full: a remembered HTTP/3 that has died is unlearnt by the fallback race', async () => {
  const { result } = await race([{ handshakeMs: 2, refusal: 'udp-refused' }], [{ handshakeMs: 20 }], {
    trials: 2,
    memory: 'full',
    known: { ...NO_KNOWLEDGE, decision: 'h3' },
  });
  assert.deepEqual(adopted(result), ['h2', 'h2']);
  assert.equal(result.trials[1]?.attempts.length, 1);
});

test('prior knowledge is read with memory full only', async () => {
  const known = { ...NO_KNOWLEDGE, decision: 'h2' } as const;
  const cold = await race([{ handshakeMs: 5 }], [{ handshakeMs: 5 }], { known });
  assert.deepEqual(adopted(cold.result), ['h3']);
  const warm = await race([{ handshakeMs: 5 }], [{ handshakeMs: 5 }], { known, memory: 'full' });
  assert.deepEqual(adopted(warm.result), ['h2']);
});

test('HTTP/3 is tried at a known alternative on another port while it is fresh', async () => {
  const known = NO_KNOWLEDGE;
  const at = async (ageSeconds: number): Promise<number | undefined> => {
    const { transports } = await race([{ handshakeMs: 5 }], [{ handshakeMs: 5 }], {
      memory: 'full',
      known: { ...known, altSvc: parseAltSvc('h3=":4433"; ma=60', ageSeconds) },
    });
    return transports.h3.targets[0]?.port;
  };
  assert.equal(await at(59), 4433);
  assert.equal(await at(60), 8443);
});

test('an alternative on another host is followed there, and must still authenticate as the origin', async () => {
  const { result, transports } = await race(
    [{ handshakeMs: 5 }],
    [{ handshakeMs: 5, altSvc: 'h3="elsewhere.test:443"' }],
    { mode: 'alt-svc', dns: { elsewhere: new Map([['elsewhere.test', '127.0.0.9']]) } },
  );
  assert.deepEqual(adopted(result), ['h3']);
  const [target] = transports.h3.targets;
  assert.deepEqual([target?.address, target?.port, target?.host], ['127.0.0.9', 443, 'a.test']);
  const [attempt] = (result.trials[0]?.attempts ?? []).filter((a) => a.protocol === 'h3');
  assert.deepEqual([attempt?.host, attempt?.source], ['elsewhere.test', 'alt-svc']);
});

test('a response that was not completed is recorded, and its Alt-Svc counts as received', async () => {
  const begun = { handshakeMs: 5, answerFailure: 'connection-closed', altSvc: 'h3=":443"' } as const;
  const over = { h2: { tcp: 'h3=":443"' }, h3: { h3: 'h3=":443"' } };
  for (const mode of ['h2', 'h3'] as const) {
    const { result } = await race([begun], [begun], { mode });
    assert.deepEqual(adopted(result), [null]);
    assert.equal(result.discovered.altSvc, 'h3=":443"');
    assert.deepEqual(result.discovered.altSvcOver, over[mode]);
    const [trial] = result.trials;
    const recorded = trial?.attempts.map(({ outcome, firstByteMs, status }) => [
      outcome,
      firstByteMs,
      status,
    ]);
    assert.deepEqual(recorded, [['failed', 9, 200]]);
    assert.equal(trial?.firstByteMs, null);
  }
});

test('the status of a complete response is recorded', async () => {
  const { result } = await race([{ handshakeMs: 5 }], [{ handshakeMs: null }]);
  const adopted = result.trials[0]?.attempts.find(({ outcome }) => outcome === 'adopted');
  assert.deepEqual([adopted?.protocol, adopted?.status], ['h3', 200]);
});

test('a response that begins in an attempt cut short proves nothing', async () => {
  // Established so late that the rest of the trial is too short to wait for a response.
  const begun = { handshakeMs: 2990, answerFailure: 'response-timeout', altSvc: 'h3=":443"' } as const;
  const { result } = await race([{ handshakeMs: null }], [begun], { mode: 'h2' });
  const recorded = result.trials[0]?.attempts.map(({ outcome, firstByteMs }) => [outcome, firstByteMs]);
  assert.deepEqual(recorded, [['cancelled', null]]);
});

test('an alternative without usable endpoints changes nothing', async () => {
  const { result, transports } = await race(
    [{ handshakeMs: 5 }],
    [{ handshakeMs: 5, altSvc: 'h3="elsewhere.test:443"' }],
    { mode: 'alt-svc' },
  );
  assert.deepEqual(adopted(result), ['h2']);
  assert.equal(transports.h3.targets.length, 0);
});

test('alt-svc with memory full: learnt over HTTP/2 once, then HTTP/3 alone', async () => {
  const { result, transports } = await race(
    [{ handshakeMs: 30 }],
    [{ handshakeMs: 40, altSvc: 'h3=":8443"; ma=3600' }],
    { mode: 'alt-svc', memory: 'full', trials: 2 },
  );
  assert.deepEqual(
    result.trials.map((t) => t.establishedMs),
    [75, 30],
  );
  assert.equal(transports.h2.targets.length, 1);
});

test('compare: alternating order, never overlapping, nothing cancelled, gain from medians', async () => {
  const h3 = [10, 30, 20, 10, 30, 20].map((handshakeMs) => ({ handshakeMs }));
  const h2 = [50, 40, 60, 50, 40, 60].map((handshakeMs) => ({ handshakeMs }));
  const { result } = await race(h3, h2, { mode: 'compare', pairs: 6 });
  assert.deepEqual(adopted(result).slice(0, 6), ['h3', 'h2', 'h2', 'h3', 'h3', 'h2']);
  assert.ok(result.trials.every((t) => t.attempts.length === 1 && t.attempts[0]?.outcome === 'adopted'));
  assert.equal(result.summary.gainMs, 30);
  assert.deepEqual(result.summary.adoption, { h3: 6, h2: 6, 'http/1.1': 0 });
  assert.equal(result.summary.establishedMs, null, 'one median of two protocols is the time of neither');
});

test('compare: fewer than three complete pairs are no measurement', async () => {
  const two = await race([{ handshakeMs: 10 }], [{ handshakeMs: 20 }], { mode: 'compare', pairs: 2 });
  assert.equal(two.result.summary.gainMs, null);
  const broken = await race(
    [{ handshakeMs: 10 }, { handshakeMs: 1, refusal: 'udp-refused' }, { handshakeMs: 10 }],
    [{ handshakeMs: 20 }],
    { mode: 'compare', pairs: 3 },
  );
  assert.equal(broken.result.summary.gainMs, null);
  assert.equal(broken.result.summary.failed, 1);
});

test('a race whose loser was cancelled never reports a gain', async () => {
  const { result } = await race([{ handshakeMs: 30 }], [{ handshakeMs: 60 }], { trials: 6 });
  assert.equal(result.summary.gainMs, null);
});

test('one protocol only: the other transport is not loaded', async () => {
  const { transports } = await race([{ handshakeMs: 5 }], [{ handshakeMs: 5 }], { mode: 'h2', trials: 2 });
  assert.equal(transports.h3.prepared(), 0);
  assert.equal(transports.h2.prepared(), 1);
});

test('progress names the trial, and its times count from the start of that trial', async () => {
  const told: string[] = [];
  await race([{ handshakeMs: 2, refusal: 'udp-refused' }], [{ handshakeMs: 20 }], {
    trials: 2,
    onProgress: (p) => told.push(`${p.trial}/${p.trials} ${p.contender} ${p.event} ${p.atMs}`),
  });
  assert.deepEqual(told.slice(0, 6), [
    '1/2 h3 started 0',
    '1/2 h3 failed 2',
    '1/2 h2 started 2',
    '1/2 h2 established 22',
    '1/2 h2 adopted 22',
    '1/2 h2 first-byte 27',
  ]);
  assert.equal(told[6], '2/2 h3 started 0');
});

test("discovery uses the race's own answers, and the verdict is based on them", async () => {
  const { result } = await race(
    [{ handshakeMs: 2, refusal: 'udp-refused' }],
    [{ handshakeMs: 20, altSvc: 'h3=":8443"', knownRoot: false }],
  );
  const { names, ...discovered } = result.discovered;
  assert.deepEqual(discovered, {
    altSvc: 'h3=":8443"',
    altSvcOver: { tcp: 'h3=":8443"' },
    knownRoot: false,
    alternatives: [
      { alpn: 'h3', host: '', port: 8443, persist: false, expiresInSeconds: 86_400, source: 'answer' },
    ],
  });
  assert.deepEqual(
    names?.addresses.map(({ address }) => address),
    ['127.0.0.1'],
  );
  assert.equal(result.verdict.code, 'h3-advertised-unreachable');
});

test('an Alt-Svc value is kept with the protocol of the response that carried it', async () => {
  const discovered = async (tcp: string | undefined, overH3: string | undefined) => {
    const script = (altSvc: string | undefined) => [{ handshakeMs: 20, ...(altSvc && { altSvc }) }];
    const { result } = await race(script(overH3), script(tcp), { mode: 'compare', pairs: 2 });
    const { altSvc, altSvcOver, alternatives = [] } = result.discovered;
    return { altSvc, altSvcOver, ports: alternatives.map(({ port }) => port), code: result.verdict.code };
  };
  const own = 'h3=":8443"';
  assert.deepEqual(await discovered('h3=":5"', own), {
    ...{ altSvc: own, altSvcOver: { tcp: 'h3=":5"', h3: own }, ports: [5, 8443] },
    code: 'h3-available',
  });
  assert.deepEqual(await discovered('clear', own), {
    ...{ altSvc: own, altSvcOver: { tcp: 'clear', h3: own }, ports: [8443] },
    code: 'h3-not-advertised',
  });
  assert.deepEqual(await discovered(undefined, own), {
    ...{ altSvc: own, altSvcOver: { tcp: null, h3: own }, ports: [8443] },
    code: 'h3-not-advertised',
  });
  assert.deepEqual((await discovered(own, own)).ports, [8443], 'named by both, listed once');
  const { result } = await race([{ handshakeMs: 5, altSvc: 'clear' }], [{ handshakeMs: 50 }]);
  assert.deepEqual(result.discovered.altSvcOver, { h3: 'clear' }, 'no response came over TCP');
});

test('both protocols dead: one failed trial, no statistics, no verdict about HTTP/3', async () => {
  const { result } = await race(
    [{ handshakeMs: 1, refusal: 'udp-refused' }],
    [{ handshakeMs: 1, refusal: 'tcp-refused' }],
  );
  assert.deepEqual([result.summary.failed, result.summary.establishedMs], [1, null]);
  assert.equal(result.verdict.code, 'unknown');
  assert.equal(result.error, undefined);
});

test('no address: an error and no trials', async () => {
  const { result, transports } = await race([], [], { dns: { addresses: [] } });
  assert.equal(result.error?.code, 'no-address');
  assert.equal(result.trials.length, 0);
  assert.equal(transports.h3.targets.length, 0);
});

test('cancelling ends everything at once; finished trials are kept, the current one is left out', async () => {
  const abort = new AbortController();
  const { time, transports, options } = arrange([{ handshakeMs: 5 }], [{ handshakeMs: 5 }], {
    trials: 5,
    signal: abort.signal,
  });
  time.clock.after(32, () => {
    assert.equal(transports.h3.running(), 1);
    abort.abort();
    assert.equal(transports.h3.running(), 0);
  });
  const result = await time.run(raceOrigin(options));
  assert.equal(result.error?.code, 'cancelled');
  assert.equal(result.trials.length, 3);
});

test('a signal that is already aborted starts nothing', async () => {
  const { result, transports } = await race([{ handshakeMs: 5 }], [{ handshakeMs: 5 }], {
    signal: AbortSignal.abort(),
  });
  assert.equal(result.error?.code, 'cancelled');
  assert.equal(transports.h3.targets.length, 0);
});

test('an attempt started after the deadline, before its timer, gets a time-out that a transport accepts', async () => {
  const { time, options } = arrange([{ handshakeMs: 1 }], [{ handshakeMs: 1 }]);
  const { clock } = time;
  // A machine that is suspended during the start delay: the timer fires long after the time-out.
  let lateMs = 0;
  const waits: number[] = [];
  const late = {
    ...clock,
    nowMs: () => clock.nowMs() + lateMs,
    after: (delayMs: number, fire: () => void) =>
      clock.after(delayMs, () => {
        if (delayMs === 10) lateMs = 100;
        fire();
      }),
  };
  const never = scripted('h3', late, { handshakeMs: null });
  const h2 = scripted('h2', late, { handshakeMs: 1 });
  const start = h2.start.bind(h2);
  const watched = {
    ...h2,
    start(target: AttemptTarget) {
      waits.push(target.handshakeTimeoutMs);
      return start(target);
    },
  };
  await time.run(
    raceOrigin({ ...options, timeoutMs: 50, clock: late, transports: { h3: never, h2: watched } }),
  );
  assert.deepEqual(waits, [1]);
});

test('there is a pause after each trial, before the record and before the verdict, though peers answer at once', async (t) => {
  const { options } = arrange([], [], { mode: 'h2', trials: 20 });
  // Answers arrive in the turn of their question; nothing else ever fires.
  const clock = {
    ...options.clock,
    after(delayMs: number, fire: () => void) {
      if (delayMs <= 5) queueMicrotask(fire);
      return () => {};
    },
  };
  const turn = countTurns(t);
  const begun: number[] = [];
  const h2 = scripted('h2', clock, { handshakeMs: 0 });
  const result = await raceOrigin({
    ...options,
    clock,
    transports: { ...options.transports, h2 },
    onProgress: ({ event }) => {
      if (event === 'started') begun.push(turn());
    },
  });
  const ended = turn();
  assert.deepEqual([result.summary.adoption.h2, begun.length], [20, 20]);
  for (const [index, at] of begun.entries())
    assert.ok(at - (begun[index - 1] ?? -TURNS_OF_PAUSE) >= TURNS_OF_PAUSE, `trial ${index}: ${begun}`);
  assert.ok(ended - (begun.at(-1) ?? ended) >= 3 * TURNS_OF_PAUSE, `${begun}, ${ended}`);
});

const HINTS: Hints = {
  ...NO_HINTS,
  h3: { srttMs: 40, rttvarMs: 5, handshakeMs: null, lossRate: null },
  addresses: new Map([['127.0.0.1', 40]]),
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
  assert.equal(discovery.settled[0]?.history.get('127.0.0.1'), 40);
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
  // Raced; then h3 remembered and right; then remembered, dead, and wrong; then TCP remembered and right.
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
