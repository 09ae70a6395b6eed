// What is recorded of DNS answers, and what the verdict makes of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceRecord } from '@photofinish/shared/race/discovered';
import { base, h2, h3, quiet, refused, serviceRecord } from '@photofinish/shared/testing/race-samples';
import { advertisedAlternatives } from '@photofinish/shared/verdict/advertised';
import { verdictOf } from '@photofinish/shared/verdict/verdict';
import { LearntNames } from './learnt-names.ts';

/** What is recorded of the HTTPS records in the answer for a name. */
function recorded(name: string, ...services: ServiceRecord[]) {
  const learnt = new LearntNames();
  const question = { name, kind: 'HTTPS', askedMs: 0 } as const;
  learnt.asked(question);
  learnt.answered(question, { ok: true, kind: 'HTTPS', services }, null, 5);
  return learnt.names(5);
}

const CDN = serviceRecord('x.cdn.test', { alpn: ['h3', 'h2'], ipv4Hints: ['192.0.2.1'] });

test('a record behind a CNAME is recorded as one of the name queried, with its canonical name', () => {
  const { services, addresses } = recorded('a.test', CDN);
  assert.deepEqual(services, [{ ...CDN, owner: 'a.test', target: 'a.test', canonical: 'x.cdn.test' }]);
  assert.deepEqual(
    addresses.map(({ host, address }) => `${host} ${address}`),
    ['a.test 192.0.2.1'],
  );
  const elsewhere = { ...CDN, target: 'svc.test' };
  assert.equal(recorded('a.test', elsewhere).services[0]?.target, 'svc.test');
  const [own] = recorded('a.test', serviceRecord('a.test')).services;
  assert.deepEqual(own, serviceRecord('a.test'));
});

test('the final dot of a host leads to no other name', () => {
  const [record] = recorded('a.test.', serviceRecord('a.test')).services;
  assert.deepEqual([record?.owner, record?.target, record?.canonical], ['a.test.', 'a.test.', undefined]);
});

test('the endpoint of a record behind a CNAME is the origin’s own, which was tried', () => {
  const names = recorded('a.test', CDN);
  const evidence = { ...base, discovered: { ...quiet, names }, attempts: [h3(refused), h2()] };
  assert.deepEqual(
    advertisedAlternatives(evidence).map(({ host, port, reach }) => ({ host, port, reach })),
    [{ host: 'a.test', port: 443, reach: refused }],
  );
  assert.equal(verdictOf(evidence).code, 'h3-advertised-unreachable');
  const discovered = { altSvc: 'h3=":443"', knownRoot: true, names };
  assert.deepEqual(
    verdictOf({ ...base, discovered }).findings.map(({ code }) => code),
    ['h3-available'],
  );
});
