// What one result of a survey shows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt } from '@photofinish/shared/race/outcome';
import { attempt, trial } from '@photofinish/shared/testing/race-samples';
import { isH3 } from '@photofinish/shared/verdict/evidence';
import { surveyRace } from '../testing/survey-archive.ts';
import { advertisedFailure, factsOf, tellingAttempt, withOrigin } from './facts.ts';

const silent = attempt({ protocol: 'h3', outcome: 'failed', error: { code: 'udp-timeout', message: '' } });
const h2 = attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 9, firstByteMs: 12, rttMs: 4 });

test('of several attempts the one that got furthest speaks for the protocol', () => {
  const cancelled = attempt({ protocol: 'h3', outcome: 'cancelled' });
  const late = attempt({ protocol: 'h3', outcome: 'established-late', establishedMs: 30 });
  assert.equal(tellingAttempt([h2, cancelled, silent], isH3), silent);
  assert.equal(tellingAttempt([h2, silent, late, cancelled], isH3), late);
  assert.equal(tellingAttempt([h2], isH3), undefined);
});

test('whether a response offers HTTP/3 is unknown without one', () => {
  const answered = (altSvc: string | null) =>
    factsOf(surveyRace('a', [trial([silent, h2], 'h2')], { altSvc })).altSvcH3;
  assert.deepEqual([answered('h3=":443"'), answered('clear'), answered(null)], [true, false, false]);
  assert.equal(factsOf(surveyRace('a', [trial([silent], null)])).altSvcH3, null);
  const h3 = { ...h2, protocol: 'h3' } as const;
  assert.equal(factsOf(surveyRace('a', [trial([h3], 'h3')])).altSvcH3, null, 'over TCP it may be sent');
  assert.equal(factsOf(surveyRace('a', [trial([silent, h2], 'h2')])).rttMs, 4);
});

test('silence where HTTP/3 is not advertised is no failure of what is advertised', () => {
  const failure = (altSvc: string, ...h3: Attempt[]) =>
    advertisedFailure(factsOf(surveyRace('a', [trial([...h3, h2], 'h2')], { altSvc })))?.code ?? null;
  const at8443 = attempt({ ...silent, port: 8443, error: { code: 'udp-refused', message: '' } });
  assert.equal(failure('h3=":443"', silent), 'udp-timeout');
  assert.equal(failure('h3=":8443"', silent), null, 'only the origin’s own port was tried');
  assert.equal(failure('h3=":8443"', silent, at8443), 'udp-refused');
});

test('silence is evidence about a network only beside a TCP that works, and only while this machine was in time', () => {
  const none = { failedHosts: 0, reachedHosts: 0 };
  const offered = { altSvc: 'h3=":443"' };
  const of = (...trials: Parameters<typeof surveyRace>[1]) =>
    withOrigin(none, factsOf(surveyRace('a', trials, offered)));
  assert.deepEqual(of(trial([silent, h2], 'h2')), { failedHosts: 1, reachedHosts: 0 });
  assert.deepEqual(of(trial([silent], null)), none);
  assert.deepEqual(of({ ...trial([silent, h2], 'h2'), disturbed: 'outcome' }), none);
  const refused = attempt({ protocol: 'h3', outcome: 'failed', error: { code: 'tls-alert', message: '' } });
  assert.deepEqual(of(trial([refused, h2], 'h2')), none);
});
