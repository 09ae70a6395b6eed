// Why a first visit did not use HTTP/3, according to its attempts.
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DnsResults } from '@photofinish/shared/race/discovered';
import { attempt, originRace, serviceRecord, trial } from '@photofinish/shared/testing/race-samples';
import { firstVisitText } from './first-visit.ts';

const h2 = attempt({ protocol: 'h2', startedMs: 20, establishedMs: 31, outcome: 'adopted' });
const record = serviceRecord('a.test', { alpn: ['h3'], target: 'b.test' });
const names = { addresses: [], services: [record], lookups: [] };
function why(...h3: Partial<typeof h2>[]): string {
  const attempts = h3.map((over) => attempt({ protocol: 'h3', outcome: 'cancelled', ...over }));
  return firstVisitText({ v3: originRace([trial([...attempts, h2], 'h2')], { mode: 'v3' }), names });
}

test('each reason for which HTTP/2 is first has its own explanation', () => {
  assert.match(
    why(),
    /^A Happy Eyeballs v3 client uses HTTP\/2 on its first visit: an HTTPS record advertises HTTP\/3, but/,
  );
  assert.match(why(), /no address of its target b\.test was known before/);
  assert.match(
    why({ startedMs: 54 }),
    /was started 34(\.0)? ms later, when .* addresses of b\.test had arrived/,
  );
  assert.match(why({ startedMs: 10 }), /its handshake took longer/);
  const error = { code: 'udp-timeout', message: 'silence' } as const;
  assert.match(why({ startedMs: 10, outcome: 'failed', error }), /that failed \(.*UDP.*\)/);
  assert.match(
    why({ startedMs: 10, establishedMs: 12, outcome: 'failed', error }),
    /no complete response came over it/,
  );
});

test('the record of an Alt-Svc host is none of the origin', () => {
  const lookup = { kind: 'HTTPS', tookMs: 1, records: 0 } as const;
  const said = (outcome: 'empty' | 'failed', ...services: DnsResults['services']): string => {
    const lookups: DnsResults['lookups'] = [
      { ...lookup, name: 'example.org', outcome },
      { ...lookup, name: 'alt.test', outcome: 'answered', records: 1 },
    ];
    const v3 = originRace([trial([h2], 'h2')], { mode: 'v3' });
    return firstVisitText({ v3, names: { addresses: [], services, lookups } });
  };
  const other = serviceRecord('alt.test', { alpn: ['h3'] });
  assert.match(said('empty', other), /: no HTTPS record advertises HTTP\/3, and Alt-Svc/);
  assert.match(said('empty', { ...other, incompatible: true }), /: no HTTPS record advertises HTTP\/3,/);
  assert.match(said('failed', other), /: DNS has not answered whether an HTTPS record advertises HTTP\/3,/);
});

test('a record that was in time for another race only was too late', () => {
  const lookup = { name: 'example.org', kind: 'HTTPS', tookMs: 400, records: 0 } as const;
  const own = serviceRecord('example.org', { alpn: ['h3'] });
  const address = { host: 'example.org', address: '192.0.2.1', source: 'a', ttlSeconds: 60 } as const;
  const known: DnsResults = {
    addresses: [address],
    services: [own],
    lookups: [{ ...lookup, tookMs: 2, outcome: 'answered', records: 1 }],
  };
  const said = (here: Partial<DnsResults>, all: DnsResults = known): string => {
    const discovered = { altSvc: null, knownRoot: true, names: { ...known, services: [], ...here } };
    return firstVisitText({
      v3: originRace([trial([h2], 'h2')], { mode: 'v3', discovered }),
      names: all,
    });
  };
  const late = /HTTP\/2 on its first visit: its HTTPS record, which advertises HTTP\/3, arrived too late\.$/;
  const unanswered = { ...lookup, outcome: 'failed', unanswered: true } as const;
  assert.match(said({ lookups: [unanswered] }), late);
  const failed = { ...lookup, outcome: 'failed', message: 'SERVFAIL' } as const;
  assert.match(said({ lookups: [failed] }), /: DNS has not answered whether an HTTPS record advertises/);
  const answered = { ...lookup, outcome: 'answered', records: 1 } as const;
  assert.match(said({ services: [own], lookups: [answered] }), late);
  assert.match(
    said({ services: [own], lookups: [{ ...answered, tookMs: 5 }] }),
    /but that was not started before another protocol was established\.$/,
  );
  assert.match(
    said({ services: [own], addresses: [], lookups: [{ ...answered, tookMs: 5 }] }),
    /no address of its target example\.org was known before/,
  );
  const none: DnsResults = { ...known, services: [], lookups: [{ ...lookup, outcome: 'empty' }] };
  assert.match(said({ lookups: [unanswered] }, none), /: no HTTPS record advertises HTTP\/3, and Alt-Svc/);
  assert.match(said(none), /: no HTTPS record advertises HTTP\/3, and Alt-Svc/, 'its own answer counts');
});

test('that a client cannot connect takes attempts that the peer or the path refused', () => {
  const said = (...attempts: readonly Parameters<typeof attempt>[0][]): string =>
    firstVisitText({
      v3: originRace(
        [
          trial(
            attempts.map((over) => attempt(over)),
            null,
          ),
        ],
        { mode: 'v3' },
      ),
      names,
    });
  const failed = (code: 'tcp-refused' | 'tcp-timeout') =>
    ({ protocol: 'h2', outcome: 'failed', error: { code, message: 'm' } }) as const;
  assert.match(said(failed('tcp-refused')), /cannot connect on its first visit/);
  for (const short of [
    [],
    [failed('tcp-refused'), failed('tcp-timeout')],
    [{ protocol: 'h2', outcome: 'cancelled' } as const],
  ])
    assert.match(said(...short), /^Not known: nothing was adopted within the time-out/);
});
