import '../language/english.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OriginRace } from '../race/outcome.ts';
import { originRace } from '../testing/race-samples.ts';
import { sharedInRaceText, sharedOutcomeText } from './record-text.ts';

const HOUR_MS = 3_600_000;
const WORKED = { atMs: 10 * HOUR_MS, h3Failure: null, tcpProtocol: null };
const FAILED = { ...WORKED, h3Failure: 'udp-timeout', tcpProtocol: 'h2' } as const;

test('the age of an outcome is told as far as its hour allows', () => {
  const aged = (ms: number): string => sharedOutcomeText(WORKED, WORKED.atMs + ms);
  assert.match(aged(0), /within the last hour\.$/);
  assert.match(aged(HOUR_MS), /within the last hour\.$/);
  assert.match(aged(HOUR_MS + 1), /within the last 2 hours\.$/);
});

test('a race says what the fleet cache told it, and that HTTP/3 had no head start only if it had none', () => {
  const words = (over: Partial<OriginRace>): string =>
    sharedInRaceText(originRace([], { atMs: FAILED.atMs, startDelayMs: 0, ...over })).join();
  assert.equal(words({}), '');
  const failed =
    'Fleet cache: on a machine of the organisation HTTP/3 failed within the last hour (no reply over UDP).';
  assert.equal(words({ sharedOutcome: FAILED }), `${failed} It had no head start in this race.`);
  assert.equal(words({ sharedOutcome: FAILED, startDelayMs: 10 }), failed, '--start-delay');
  assert.equal(words({ sharedOutcome: FAILED, mode: 'compare' }), failed);
  assert.doesNotMatch(words({ sharedOutcome: WORKED }), /head start/);
});
