// A whole race from options to record, in virtual time: series, memory, progress, cancellation, and results.
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAltSvc } from '@photofinish/shared/web/alt-svc';
import { NO_KNOWLEDGE } from '../cache/policy.ts';
import { adopted, arrange, race } from '../testing/race.ts';
import { countTurns, TURNS_OF_PAUSE } from '../testing/turns.ts';
import { scripted } from '../testing/virtual-time.ts';
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

test('memory full: a host whose HTTP/3 failed is tried with old HTTP only from then on', async () => {
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
