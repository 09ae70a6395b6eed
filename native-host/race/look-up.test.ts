// The look-up before the trials: how many run at once, and what a final silence is reported as.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DnsResults } from '@photofinish/shared/race/discovered';
import { parseOrigin } from '@photofinish/shared/web/origin';
import type { Discoverer, Discovery } from '../discover/discovering.ts';
import { virtualTime } from '../testing/virtual-time.ts';
import { LOOK_UPS_AT_ONCE, lookUp, notInTime } from './look-up.ts';

const NOBODY_LATE = { worstMs: 0, totalMs: 0 };

function lookups(
  ...outcomes: readonly (readonly ['A' | 'AAAA' | 'HTTPS', 'empty' | 'failed'])[]
): DnsResults {
  return {
    addresses: [],
    services: [],
    lookups: outcomes.map(([kind, outcome]) => ({ name: 'a.test', kind, tookMs: 3, outcome, records: 0 })),
  };
}

test('a name without addresses in DNS is reported as such, whatever else was not answered', () => {
  const code = (names: DnsResults): string => notInTime('a.test', names, 3000, NOBODY_LATE).code;
  assert.equal(code(lookups(['A', 'empty'], ['AAAA', 'empty'], ['HTTPS', 'failed'])), 'no-address');
  assert.equal(code(lookups(['A', 'empty'], ['AAAA', 'failed'], ['HTTPS', 'empty'])), 'dns-failed');
  assert.equal(code(lookups(['HTTPS', 'empty'])), 'dns-failed');
  assert.equal(code(lookups()), 'dns-failed');
});

/** Runs many look-ups that take this long; returns how each ended, and the maximum that ran concurrently. */
async function many(count: number, takesMs: number | null, timeoutMs: number) {
  const { clock, run } = virtualTime();
  const parsed = parseOrigin('a.test');
  assert.ok(parsed.ok);
  const query = { origin: parsed.value, alternatives: [], assumeH3: true, history: new Map() };
  let [running, most] = [0, 0];
  const discovery = {
    settle: (_query, signal) =>
      new Promise<Discovery>((resolve) => {
        running += 1;
        most = Math.max(most, running);
        const end = (code: 'no-address' | 'cancelled') => {
          running -= 1;
          resolve({ ok: false, error: { code, message: code }, names: lookups() });
        };
        if (takesMs !== null) clock.after(takesMs, () => end('no-address'));
        else signal.addEventListener('abort', () => end('cancelled'), { once: true });
      }),
  } as Discoverer;
  const each = { discovery, query, timeoutMs, clock, watchLateness: null, signal: null };
  const settled = await run(Promise.all(Array.from({ length: count }, () => lookUp(each))));
  return {
    codes: new Set(settled.map((one) => (one.ok ? 'ok' : one.error.code))),
    most,
    endedMs: clock.nowMs(),
  };
}

test('two hundred dead names: concurrency is bounded, and waiting for a slot uses no time-out', async () => {
  const { codes, most, endedMs } = await many(200, 1000, 3000);
  assert.deepEqual([...codes], ['no-address'], 'the last ones began after 6 s, and had their own 3 s');
  assert.equal(most, LOOK_UPS_AT_ONCE);
  assert.equal(endedMs, 7000);
});

test('a resolver that answers none of them is reported as such', async () => {
  const { codes } = await many(200, null, 3000);
  assert.deepEqual([...codes], ['dns-failed']);
});

test('a look-up waiting for its slot ends with its signal', async () => {
  const { clock, run } = virtualTime();
  const parsed = parseOrigin('a.test');
  assert.ok(parsed.ok);
  const query = { origin: parsed.value, alternatives: [], assumeH3: true, history: new Map() };
  const stop = new AbortController();
  const discovery = {
    settle: (_query, signal) =>
      new Promise<Discovery>((resolve) => {
        const error = { code: 'cancelled', message: 'given up' } as const;
        const end = () => resolve({ ok: false, error, names: lookups() });
        if (signal.aborted) end();
        else signal.addEventListener('abort', end, { once: true });
      }),
  } as Discoverer;
  const each = { discovery, query, timeoutMs: 60_000, clock, watchLateness: null, signal: stop.signal };
  clock.after(10, () => stop.abort());
  const all = Array.from({ length: 2 * LOOK_UPS_AT_ONCE }, () => lookUp(each));
  await run(Promise.all(all));
  assert.equal(clock.nowMs(), 10);
});
