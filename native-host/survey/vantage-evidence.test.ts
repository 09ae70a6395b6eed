// What other hosts of a vantage point say about UDP there, for the verdict on one of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttemptError, OriginRace, Trial } from '@photofinish/shared/race/outcome';
import { attempt, originRace, trial } from '@photofinish/shared/testing/race-samples';
import type { Origin } from '@photofinish/shared/web/origin';
import { vantageEvidence } from './vantage-evidence.ts';

const H3 = attempt({ protocol: 'h3', outcome: 'adopted', establishedMs: 5, firstByteMs: 9 });
const H2 = attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 9, firstByteMs: 12 });
const h3Failing = (code: AttemptError['code']) =>
  attempt({ protocol: 'h3', outcome: 'failed', error: { code, message: 'm' } });

function of(host: string, over: Partial<Trial>, ...attempts: Trial['attempts']): OriginRace {
  const adopted = attempts.find(({ outcome }) => outcome === 'adopted')?.protocol ?? null;
  return originRace([{ ...trial(attempts, adopted), ...over }], { origin: `https://${host}` as Origin });
}
const reached = (host: string) => of(host, {}, H3);
const silent = (host: string) => of(host, {}, h3Failing('udp-timeout'), H2);

function seenBeside(own: string, ...races: readonly OriginRace[]) {
  const evidence = vantageEvidence();
  for (const race of races) evidence.add(race);
  return evidence.except(`https://${own}` as Origin);
}

test('a host counts once, however often and at whatever port it was raced', () => {
  const races = ['a.test', 'a.test', 'a.test:8443', 'b.test'].flatMap((host) => [
    silent(host),
    reached(`r.${host}`),
  ]);
  assert.deepEqual(seenBeside('other.test', ...races), { failedHosts: 2, reachedHosts: 2 });
});

test('the host itself says nothing about the network', () => {
  assert.deepEqual(seenBeside('a.test:8443', silent('a.test'), silent('b.test')), {
    failedHosts: 1,
    reachedHosts: 0,
  });
  assert.deepEqual(seenBeside('a.test', reached('a.test'), reached('b.test')), {
    failedHosts: 0,
    reachedHosts: 1,
  });
});

test('a host failed if nothing came over UDP while TCP worked, by no fault of ours', () => {
  const nothing = { failedHosts: 0, reachedHosts: 0 };
  assert.deepEqual(seenBeside('x.test', of('a.test', {}, h3Failing('udp-unreachable'), H2)), {
    ...nothing,
    failedHosts: 1,
  });
  const others = {
    'TCP fails as well': of('a.test', {}, h3Failing('udp-timeout')),
    'a refusal may be its own': of('a.test', {}, h3Failing('udp-refused'), H2),
    'no datagram could be sent': of('a.test', {}, h3Failing('no-route'), H2),
    'the peer answered over QUIC': of('a.test', {}, h3Failing('alpn-mismatch'), H2),
    'our own fault': of('a.test', {}, h3Failing('internal'), H2),
    'the machine was busy': of('a.test', { disturbed: 'outcome' }, h3Failing('udp-timeout'), H2),
    'HTTP/3 was not tried': of('a.test', {}, H2),
    'nothing advertises HTTP/3': { ...silent('a.test'), discovered: { altSvc: null, knownRoot: true } },
  };
  for (const [why, race] of Object.entries(others))
    assert.deepEqual(seenBeside('x.test', race), nothing, why);
});

test('only so many hosts of each kind are remembered', () => {
  const many = Array.from({ length: 1005 }, (_, index) => `h${index}.test`);
  const beside = seenBeside('x.test', ...many.map(silent), ...many.map((host) => reached(`r-${host}`)));
  assert.deepEqual(beside, { failedHosts: 1000, reachedHosts: 1000 });
});

test('on another network nothing of it holds', () => {
  const evidence = vantageEvidence();
  for (const race of [silent('a.test'), reached('b.test')]) evidence.add(race);
  evidence.forget();
  assert.deepEqual(evidence.except('https://x.test' as Origin), { failedHosts: 0, reachedHosts: 0 });
});
