// A walk through the resolution's state machine, to read before resolution.ts: IPv4 answers first and is held for the
// resolution delay, IPv6 arrives in time and leads the list. No DNS and no clock: the caller provides both.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOrigin } from '@photofinish/shared/web/origin';
import { a, aaaa, DUAL_STACK, https } from '../testing/resolution.ts';
import { Resolution, type ResolutionAction } from './resolution.ts';

/** The actions in words. */
function words(actions: readonly ResolutionAction[]): string[] {
  return actions.map((action) => {
    if (action.type === 'query') return `query ${action.query}: ${action.kind} ${action.name}`;
    if (action.type === 'timer') return `${action.timer} at ${action.atMs ?? 'no time'}`;
    if (action.type === 'failed') return `failed: ${action.message}`;
    return action.endpoints.map(({ transport, address }) => `${transport} ${address}`).join(', ');
  });
}

test('a resolution: timestamped DNS answers in; queries, timers and sorted endpoints out', () => {
  const origin = parseOrigin('https://a.test');
  assert.ok(origin.ok);
  const resolution = new Resolution({
    origin: origin.value,
    alternatives: [],
    assumeH3: false,
    connectivity: DUAL_STACK,
    history: new Map(),
    sourceFor: (destination) => (destination.includes(':') ? '2001:db8:ffff::1' : '203.0.113.1'),
    random: () => 0.5,
  });
  const answer = (query: number, { answer: given }: ReturnType<typeof a>, nowMs: number): string[] =>
    words(resolution.handle({ type: 'answer', query, answer: given }, nowMs));

  // All three questions at once (section 4.1 of the draft).
  assert.deepEqual(words(resolution.start(0)), [
    'query 0: HTTPS a.test',
    'query 1: AAAA a.test',
    'query 2: A a.test',
  ]);

  // An address of the other family waits for the preferred one, 50 ms at most (section 4.2).
  assert.deepEqual(answer(2, a('a.test', 0, ['192.0.2.1']), 20), ['resolution at 70']);
  assert.deepEqual(answer(1, aaaa('a.test', 0, ['2001:db8::1']), 30), []);

  // Service information was the last thing missing: it names HTTP/3, and the list is sorted (section 5).
  const record = https('a.test', 0, { alpn: ['h3', 'h2'] });
  assert.deepEqual(answer(0, record, 40), [
    'resolution at no time',
    'h3 2001:db8::1, h3 192.0.2.1, h2 2001:db8::1, h2 192.0.2.1',
    'expiry at 300020',
  ]);
});
