// What one result of a survey shows, and what the hosts of a vantage point show together about UDP there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  Attempt,
  AttemptError,
  NetworkEvidence,
  OriginRace,
  Trial,
} from '@photofinish/shared/race/outcome';
import { attempt, originRace, serviceRecord, trial } from '@photofinish/shared/testing/race-samples';
import { isH3 } from '@photofinish/shared/verdict/evidence';
import { blocksUdp } from '@photofinish/shared/verdict/verdict';
import type { Origin } from '@photofinish/shared/web/origin';
import { surveyRace } from '../testing/survey-archive.ts';
import { advertisedFailure, decisiveAttempt, factsOf, VantageEvidence } from './facts.ts';

const silent = attempt({ protocol: 'h3', outcome: 'failed', error: { code: 'udp-timeout', message: '' } });
const h2 = attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 9, firstByteMs: 12, rttMs: 4 });

test('of several attempts the one that got furthest speaks for the protocol', () => {
  const cancelled = attempt({ protocol: 'h3', outcome: 'cancelled' });
  const late = attempt({ protocol: 'h3', outcome: 'established-late', establishedMs: 30 });
  assert.equal(decisiveAttempt([h2, cancelled, silent], isH3), silent);
  assert.equal(decisiveAttempt([h2, silent, late, cancelled], isH3), late);
  assert.equal(decisiveAttempt([h2], isH3), undefined);
});

test('whether a response offers HTTP/3 is unknown without one', () => {
  const answered = (altSvc: string | null) =>
    factsOf(surveyRace('a', [trial([silent, h2], 'h2')], { altSvc })).altSvcH3;
  assert.deepEqual([answered('h3=":443"'), answered('clear'), answered(null)], [true, false, false]);
  assert.equal(factsOf(surveyRace('a', [trial([silent], null)])).altSvcH3, null);
  const h3 = { ...h2, protocol: 'h3' } as const;
  assert.equal(factsOf(surveyRace('a', [trial([h3], 'h3')])).altSvcH3, null, 'over TCP it may be sent');
  const own = 'h3=":443"';
  const told = (altSvcOver: { tcp?: string | null; h3: string }) =>
    factsOf(surveyRace('a', [trial([h3, h2], 'h3')], { altSvc: own, altSvcOver })).altSvcH3;
  assert.deepEqual([told({ tcp: 'clear', h3: own }), told({ tcp: null, h3: own })], [false, false]);
  assert.deepEqual([told({ tcp: own, h3: 'clear' }), told({ h3: own })], [true, true]);
  assert.equal(factsOf(surveyRace('a', [trial([silent, h2], 'h2')])).rttMs, 4);
});

test('whether a record offers HTTP/3 is unknown if only that of an Alt-Svc host was answered', () => {
  const lookup = { kind: 'HTTPS', tookMs: 5, records: 0 } as const;
  const recordH3 = (outcome: 'empty' | 'failed') =>
    factsOf(
      originRace([trial([H2], 'h2')], {
        discovered: {
          altSvc: 'h3="alt.test:443"',
          knownRoot: true,
          names: {
            addresses: [],
            services: [serviceRecord('alt.test', { alpn: ['h3'] })],
            lookups: [
              { ...lookup, name: 'example.org', outcome },
              { ...lookup, name: 'alt.test', outcome: 'answered', records: 1 },
            ],
          },
        },
      }),
    ).recordH3;
  assert.deepEqual([recordH3('empty'), recordH3('failed')], [false, null]);
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
  const none = { failedHosts: 0, reachedHosts: 0, answeredHosts: 0 };
  const offered = { altSvc: 'h3=":443"' };
  const of = (...trials: Parameters<typeof surveyRace>[1]) => {
    const evidence = new VantageEvidence();
    evidence.add(surveyRace('a', trials, offered));
    return evidence.all();
  };
  assert.deepEqual(of(trial([silent, h2], 'h2')), { ...none, failedHosts: 1 });
  assert.deepEqual(of(trial([silent], null)), none);
  assert.deepEqual(of({ ...trial([silent, h2], 'h2'), disturbed: 'outcome' }), none);
  const refused = attempt({ protocol: 'h3', outcome: 'failed', error: { code: 'tls-alert', message: '' } });
  assert.deepEqual(of(trial([refused, h2], 'h2')), { ...none, answeredHosts: 1 });
  const elsewhere = { ...refused, port: 8443 };
  assert.deepEqual(of(trial([silent, elsewhere, h2], 'h2')), { ...none, answeredHosts: 1 });
});

const H3 = attempt({ protocol: 'h3', outcome: 'adopted', establishedMs: 5, firstByteMs: 9 });
const H2 = attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 9, firstByteMs: 12 });
const h3Failing = (code: AttemptError['code']) =>
  attempt({ protocol: 'h3', outcome: 'failed', error: { code, message: 'm' } });

const at = (address: string, attempts: Trial['attempts']) => attempts.map((each) => ({ ...each, address }));

function of(host: string, over: Partial<Trial>, ...attempts: Trial['attempts']): OriginRace {
  const adopted = attempts.find(({ outcome }) => outcome === 'adopted')?.protocol ?? null;
  return originRace([{ ...trial(at(`address of ${host.split(':')[0]}`, attempts), adopted), ...over }], {
    origin: `https://${host}` as Origin,
  });
}
const reached = (host: string) => of(host, {}, H3);
const answering = (host: string) => of(host, {}, h3Failing('certificate-invalid'), H2);
const silentHost = (host: string) => of(host, {}, h3Failing('udp-timeout'), H2);

function seenBeside(own: string, ...races: readonly OriginRace[]) {
  const evidence = new VantageEvidence();
  for (const race of races) evidence.add(race);
  const { failedHosts, reachedHosts } = evidence.except(of(own, {}, H2));
  return { failedHosts, reachedHosts };
}

test('a host counts once, however often and at whatever port it was raced', () => {
  const races = ['a.test', 'a.test', 'a.test:8443', 'b.test'].flatMap((host) => [
    silentHost(host),
    reached(`r.${host}`),
  ]);
  assert.deepEqual(seenBeside('other.test', ...races), { failedHosts: 2, reachedHosts: 2 });
});

test('the host itself says nothing about the network', () => {
  assert.deepEqual(seenBeside('a.test:8443', silentHost('a.test'), silentHost('b.test')), {
    failedHosts: 1,
    reachedHosts: 0,
  });
  assert.deepEqual(seenBeside('a.test', reached('a.test'), reached('b.test')), {
    failedHosts: 0,
    reachedHosts: 1,
  });
});

/** The same race at these addresses. */
function placed(race: OriginRace, ...addresses: string[]): OriginRace {
  const trials = addresses.flatMap((address) =>
    race.trials.map((each) => ({ ...each, attempts: at(address, each.attempts) })),
  );
  return { ...race, trials };
}

test('names with an address in common, be it by way of a third, are one host', () => {
  const silentAt = (host: string, ...addresses: string[]) => placed(silentHost(host), ...addresses);
  const names = [
    silentAt('a.test', '192.0.2.1'),
    silentAt('b.test', '192.0.2.2'),
    silentAt('c.test', '192.0.2.1', '192.0.2.2'),
  ];
  assert.equal(seenBeside('x.test', ...names).failedHosts, 1);
  const evidence = new VantageEvidence();
  for (const race of [...names, silentHost('d.test')]) evidence.add(race);
  assert.equal(evidence.all().failedHosts, 2);
  assert.equal(evidence.except(silentAt('other.test', '192.0.2.1')).failedHosts, 1);
});

test('hosts on the local network are no evidence about paths beyond it, nor the other way round', () => {
  const far = ['1.1.1.1', '2606:4700::1111'].map((address) =>
    placed(silentHost(`far-${address.length}.test`), address),
  );
  const near = ['192.168.1.2', 'fd00::2'].map((address) =>
    placed(reached(`near-${address.length}.test`), address),
  );
  const evidence = new VantageEvidence();
  const counts = ({ failedHosts, reachedHosts, reachedLater }: NetworkEvidence) => [
    failedHosts,
    reachedHosts,
    reachedLater,
  ];
  for (const race of near) evidence.add(race);
  assert.deepEqual(
    evidence.all(),
    { failedHosts: 0, reachedHosts: 2, answeredHosts: 0 },
    'nothing else is there',
  );
  for (const race of far) evidence.add(race);
  assert.deepEqual(evidence.all(), { failedHosts: 2, reachedHosts: 0, answeredHosts: 0 });
  const [other, neighbour] = [
    placed(silentHost('x.test'), '8.8.8.8'),
    placed(silentHost('y.test'), '10.0.0.1'),
  ];
  assert.deepEqual(counts(evidence.except(other)), [2, 0, false]);
  assert.deepEqual(counts(evidence.except(neighbour)), [0, 2, true]);
  assert.deepEqual(
    counts(evidence.except({ ...other, trials: [] })),
    [2, 2, false],
    'it may be on either side',
  );
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
    'nothing advertises HTTP/3': { ...silentHost('a.test'), discovered: { altSvc: null, knownRoot: true } },
  };
  for (const [why, race] of Object.entries(others))
    assert.deepEqual(seenBeside('x.test', race), nothing, why);
});

test('a network on which another host answered over UDP does not block it, although HTTP/3 failed there', () => {
  const evidence = new VantageEvidence();
  for (const host of ['a.test', 'b.test']) evidence.add(silentHost(host));
  assert.equal(blocksUdp(evidence.all()), true);
  evidence.add(answering('c.test:8443'));
  evidence.add(answering('c.test'));
  assert.deepEqual(evidence.all(), { failedHosts: 2, reachedHosts: 0, answeredHosts: 1 });
  assert.equal(blocksUdp(evidence.all()), false);
  assert.equal(blocksUdp(evidence.except(of('x.test', {}, H2))), false);
  assert.equal(blocksUdp(evidence.except(of('c.test', {}, H2))), true, 'not what it says of itself');
});

test('only so many hosts of each kind are remembered', () => {
  const many = Array.from({ length: 1005 }, (_, index) => `h${index}.test`);
  const beside = seenBeside('x.test', ...many.map(silentHost), ...many.map((host) => reached(`r-${host}`)));
  assert.deepEqual(beside, { failedHosts: 1000, reachedHosts: 1000 });
});

test('whether the newest success of other hosts is later than the newest failure, in any order of arrival', () => {
  const evidence = new VantageEvidence();
  const add = (race: OriginRace, atMs: number) => evidence.add({ ...race, atMs });
  const reachedLater = (own: string) => evidence.except(of(own, {}, H2)).reachedLater;
  for (const atMs of [7, 9, 8]) add(silentHost('a.test'), atMs);
  add(silentHost('b.test'), 5);
  add(reached('c.test'), 6);
  assert.equal(reachedLater('x.test'), false);
  assert.equal(reachedLater('a.test'), true);
  assert.equal(reachedLater('c.test'), false);
  for (let i = 0; i < 1005; i += 1) add(silentHost(`h${i}.test`), 100 + i);
  add(reached('d.test'), 1104.5);
  assert.equal(reachedLater('x.test'), true);
  add(silentHost('e.test'), 1105);
  assert.equal(reachedLater('x.test'), false, 'the newest are remembered');
});

test('on another network nothing of it holds', () => {
  const evidence = new VantageEvidence();
  for (const race of [silentHost('a.test'), reached('b.test'), answering('c.test')]) evidence.add(race);
  evidence.forget();
  assert.deepEqual(evidence.except(of('x.test', {}, H2)), {
    ...{ failedHosts: 0, reachedHosts: 0, answeredHosts: 0 },
    reachedLater: false,
  });
});
