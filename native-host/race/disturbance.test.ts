// How lateness is measured, on a clock controlled by the test and once on the real event loop; when it may have caused
// a trial's result and when it cannot have; then whole races on virtual time with an event loop reported as late.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { otherFindings, verdictText } from '@photofinish/shared/verdict/verdict-text';
import {
  type Lateness,
  latenessMeter,
  type WatchLateness,
  watchEventLoop,
  withLateness,
} from './disturbance.ts';
import '@photofinish/shared/language/english';
import type { Attempt, Trial } from '@photofinish/shared/race/outcome';
import type { AttemptErrorCode } from '@photofinish/shared/race/terms';
import { attempt, trial } from '@photofinish/shared/testing/race-samples';
import { race } from '../testing/race.ts';

/** A meter whose timer is fired by the test. */
function testbed() {
  let nowMs = 0;
  let suspendedMs = 0;
  let setMs = 0;
  let uptimeReads = 0;
  let due: { readonly atMs: number; readonly run: () => void } | null = null;
  const watch = latenessMeter({
    nowMs: () => nowMs,
    epochMs: () => setMs + nowMs + suspendedMs,
    uptimeMs() {
      uptimeReads += 1;
      return 5000 + nowMs + suspendedMs;
    },
    after(delayMs, run) {
      due = { atMs: nowMs + delayMs, run };
      return () => {
        due = null;
      };
    },
  });
  return {
    watch,
    armed: () => due !== null,
    pass(ms: number) {
      nowMs += ms;
    },
    suspend(ms: number) {
      suspendedMs += ms;
    },
    setClock(ms: number) {
      setMs += ms;
    },
    uptimeReads: () => uptimeReads,
    /** Fires the timer this many milliseconds after it was due. */
    fire(lateByMs: number) {
      assert.ok(due, 'the timer is set');
      const { atMs, run } = due;
      nowMs = atMs + lateByMs;
      run();
    },
  };
}

test('timers that fire when due record no lateness', () => {
  const { watch, fire } = testbed();
  const late = watch();
  for (let i = 0; i < 1000; i += 1) fire(1);
  assert.deepEqual(late.read(), { worstMs: 0, totalMs: 0 });
});

test('the longest delay and the total are recorded, less the timer’s granularity of a millisecond each', () => {
  const { watch, fire } = testbed();
  const late = watch();
  for (const ms of [6, 0, 31, 2]) fire(ms);
  assert.deepEqual(late.read(), { worstMs: 30, totalMs: 36 });
});

test('an overdue timer counts before it has fired, and only once', () => {
  const { watch, fire, pass } = testbed();
  const late = watch();
  pass(10 + 201);
  assert.deepEqual(late.read(), { worstMs: 200, totalMs: 200 });
  fire(201);
  assert.deepEqual(late.read(), { worstMs: 200, totalMs: 200 });
});

test('a watch that begins while the loop is blocked counts only its own part', () => {
  const { watch, fire, pass } = testbed();
  const early = watch();
  pass(10 + 300);
  const late = watch();
  fire(401);
  assert.deepEqual([early.read().worstMs, late.read().worstMs], [400, 100]);
});

test('while the machine was suspended nothing was received, although the clock stood still', () => {
  const { watch, suspend } = testbed();
  const early = watch();
  suspend(1900);
  assert.deepEqual(early.read(), NONE, 'which the precision of the uptime may be');
  suspend(600_000);
  assert.equal(disturbed(failed('udp-timeout'), early.read()), 'outcome');
  assert.deepEqual(watch().read(), NONE, 'a race after it is not concerned');
});

test('a clock that is set is no suspension, and the uptime is read again only then', () => {
  const { watch, pass, setClock, uptimeReads } = testbed();
  const late = watch();
  for (let i = 0; i < 10; i += 1) {
    pass(1);
    assert.deepEqual(late.read(), NONE);
  }
  assert.equal(uptimeReads(), 1);
  for (const ms of [3_600_000, -7_200_000]) {
    setClock(ms);
    assert.deepEqual(late.read(), NONE);
  }
  assert.equal(uptimeReads(), 3);
});

test('no timer runs while there is no watch', () => {
  const { watch, armed } = testbed();
  const [first, second] = [watch(), watch()];
  first.end();
  assert.ok(armed());
  second.end();
  assert.ok(!armed());
  assert.ok(watch().read().totalMs === 0 && armed());
});

test('a blocked event loop is measured as late', () => {
  const late = watchEventLoop();
  const beganMs = performance.now();
  while (performance.now() - beganMs < 60);
  const { worstMs } = late.read();
  late.end();
  assert.ok(worstMs >= 45, `${worstMs} ms`);
});

const LIMIT_MS = 3000;
const NONE: Lateness = { worstMs: 0, totalMs: 0 };

function established(establishedMs: number): Trial {
  return trial([attempt({ protocol: 'h3', outcome: 'adopted', establishedMs })]);
}

function failed(code: AttemptErrorCode): Trial {
  return trial([attempt({ protocol: 'h3', outcome: 'failed', error: { code, message: code } })], null);
}

function disturbed(of: Trial, lateness: Lateness, limitMs = LIMIT_MS): Trial['disturbed'] {
  return withLateness(of, { decided: lateness, ended: lateness }, limitMs).disturbed;
}

test('a time-out of which half was lost proves nothing', () => {
  for (const code of ['udp-timeout', 'tcp-timeout', 'handshake-timeout', 'response-timeout'] as const) {
    assert.equal(disturbed(failed(code), { worstMs: 1500, totalMs: 1500 }), 'outcome', code);
    assert.equal(disturbed(failed(code), { worstMs: 1499, totalMs: 1499 }), undefined, code);
  }
});

test('a peer that closed while it waited for us proves nothing either', () => {
  for (const code of ['connection-closed', 'h3-error', 'goaway', 'stateless-reset'] as const) {
    assert.equal(disturbed(failed(code), { worstMs: 1500, totalMs: 1500 }), 'outcome', code);
    assert.equal(disturbed(failed(code), { worstMs: 1000, totalMs: 1000 }), undefined, code);
  }
});

test('a stall that matters for a short time-out does not matter for a long one', () => {
  const stall = { worstMs: 200, totalMs: 200 };
  assert.equal(disturbed(failed('udp-timeout'), stall, 300), 'outcome');
  assert.equal(disturbed(failed('udp-timeout'), stall, 3000), undefined);
});

test('an attempt that started late in a trial had only the rest of its time', () => {
  const error = { code: 'handshake-timeout', message: '' } as const;
  const late = (over: Partial<Attempt>) =>
    trial([attempt({ protocol: 'h3', outcome: 'failed', error, ...over })], null);
  for (const over of [{ startedMs: 1800 }, { startedMs: 100, establishedMs: 1800 }]) {
    assert.equal(disturbed(late(over), { worstMs: 600, totalMs: 600 }), 'outcome');
    assert.equal(disturbed(late(over), { worstMs: 599, totalMs: 599 }), undefined);
  }
});

test('many short delays cost an attempt no more than the number of turns it waits for', () => {
  assert.equal(disturbed(failed('udp-timeout'), { worstMs: 187, totalMs: 2500 }), undefined);
  assert.equal(disturbed(failed('udp-timeout'), { worstMs: 188, totalMs: 2500 }), 'outcome');
});

test('what the peer or the network reported counts, however late it was processed', () => {
  const stall = { worstMs: 2900, totalMs: 2900 };
  for (const code of ['udp-refused', 'tcp-refused', 'certificate-invalid', 'misdirected'] as const)
    assert.equal(disturbed(failed(code), stall), undefined, code);
  assert.equal(disturbed(established(2950), stall), 'times', 'a handshake that was is no less true');
});

test('times count as disturbed from a fifth of their length on, and never below 50 ms', () => {
  const stall = (ms: number): Lateness => ({ worstMs: ms, totalMs: ms });
  assert.equal(disturbed(established(49), stall(49)), undefined, 'what a trial itself keeps the loop for');
  assert.equal(disturbed(established(60), stall(50)), 'times');
  assert.equal(disturbed(established(20), stall(500)), undefined, 'it was heard late, but had been quick');
  assert.equal(disturbed(established(1000), stall(199)), undefined);
  assert.equal(disturbed(established(1000), stall(200)), 'times');
});

test('lateness after the decision does not affect its times', () => {
  const ended = { worstMs: 1000, totalMs: 1000 };
  const after = withLateness(established(20), { decided: NONE, ended }, LIMIT_MS);
  assert.deepEqual([after.lateMs, after.disturbed], [0, undefined]);
});

/** An event loop that is late by this much in the given trials. */
function lateIn(trials: readonly number[], lateness: Lateness): WatchLateness {
  let begun = 0;
  return () => {
    const late = trials.includes(begun) ? lateness : NONE;
    begun += 1;
    return { read: () => late, end() {} };
  };
}

const SILENT = [{ handshakeMs: null }];
const STALLED = { worstMs: 2000, totalMs: 2000 };

test('without measured lateness a trial has no disturbance', async () => {
  const { result } = await race([{ handshakeMs: 20 }], [{ handshakeMs: 30 }]);
  assert.ok(result.trials.every((t) => !('lateMs' in t) && !('disturbed' in t)));
});

test('a race disturbed in all trials reports that and nothing else', async () => {
  const { result } = await race(SILENT, SILENT, {
    trials: 2,
    // The first watch is that of the look-up.
    watchLateness: lateIn([1, 2], STALLED),
  });
  assert.deepEqual(
    result.trials.map((t) => [t.disturbed, t.adopted, t.attempts.length]),
    [
      ['outcome', null, 2],
      ['outcome', null, 2],
    ],
    'kept, but no evidence',
  );
  assert.equal(result.verdict.code, 'machine-too-busy');
  assert.doesNotMatch(verdictText(result.verdict), /UDP|TCP|firewall|down|server/);
  assert.deepEqual(otherFindings(result.verdict), []);
  assert.deepEqual([result.summary.trials, result.summary.failed], [2, 2]);
});

test('the trials that were not disturbed decide', async () => {
  const { result } = await race([...SILENT, { handshakeMs: 20 }], SILENT, {
    mode: 'h3',
    trials: 2,
    watchLateness: lateIn([1], STALLED),
  });
  assert.deepEqual(
    result.trials.map((t) => t.disturbed),
    ['outcome', undefined],
  );
  assert.equal(result.verdict.code, 'h3-available');
});

test('nothing is learnt from a disturbed trial', async () => {
  const late = { memory: 'full', trials: 2, watchLateness: lateIn([1], STALLED) } as const;
  const onTime = { ...late, watchLateness: lateIn([], NONE) };
  const peers = [SILENT, [{ handshakeMs: 30 }]] as const;
  const cacheHits = async (options: typeof late) =>
    (await race([...peers[0]], [...peers[1]], options)).result.trials.map((t) => t.cacheHit);
  assert.deepEqual(await cacheHits(onTime), [false, true], 'HTTP/3 was silent, so HTTP/2 it is');
  assert.deepEqual(await cacheHits(late), [false, false]);
});

test('disturbed times count in no median and no pair', async () => {
  const options = { mode: 'compare', pairs: 8 } as const;
  const h3 = [{ handshakeMs: 300 }, ...Array.from({ length: 7 }, () => ({ handshakeMs: 20 }))];
  const late = lateIn([1], { worstMs: 280, totalMs: 280 });
  const { result } = await race(h3, [{ handshakeMs: 50 }], { ...options, watchLateness: late });
  assert.equal(result.trials[0]?.disturbed, 'times');
  assert.equal(result.summary.gainMs, 30);
  assert.deepEqual([result.summary.comparison?.pairs, result.summary.comparison?.h3Ms], [7, 20]);
  const few = await race(h3, [{ handshakeMs: 50 }], {
    ...options,
    pairs: 3,
    watchLateness: lateIn([1], STALLED),
  });
  assert.equal(few.result.summary.gainMs, null, 'two pairs are left');
  assert.equal(few.result.verdict.code, 'h3-not-advertised', 'what was reached was reached');
});

test('a look-up that failed because this machine was late is not a failure of the name', async () => {
  const dns = { takesMs: null };
  const { result } = await race([], [], { dns, watchLateness: lateIn([0], STALLED) });
  assert.deepEqual([result.error?.code, result.error?.disturbed], ['dns-failed', true]);
  assert.equal(result.verdict.code, 'machine-too-busy');
  const unheard = await race([], [], { dns, watchLateness: lateIn([], NONE) });
  assert.equal(unheard.result.error?.disturbed, undefined);
  assert.equal(unheard.result.verdict.code, 'unknown');
  const live = await race([], [], { dns, mode: 'v3', watchLateness: lateIn([0], STALLED) });
  assert.equal(live.result.verdict.code, 'machine-too-busy');
});
