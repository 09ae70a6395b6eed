import assert from 'node:assert/strict';
import { test } from 'node:test';
import { names } from '../testing/race-samples.ts';
import { type DnsResults, ownRecords } from './discovered.ts';

/** Answered queries for HTTPS records, beside those for addresses. */
function lookups(...queried: string[]): DnsResults['lookups'] {
  return queried.flatMap((name) =>
    (['HTTPS', 'A'] as const).map((kind) => ({ name, kind, tookMs: 1, outcome: 'answered', records: 1 })),
  );
}

const alias = (owner: string, target: string) => ({ owner, priority: 0, alpn: [], target });

function own(port: number, known: DnsResults) {
  const { services, lookups: queries } = ownRecords(known, { host: 'a.test', port });
  return [services.map(({ owner, target }) => `${owner} ${target}`), queries.map(({ name }) => name)];
}

test('records along the origin’s aliases are its own, and to whatever target they point', () => {
  const queries = lookups('a.test', 'b.test', 'c.test');
  const known = names([
    { owner: 'c.test', target: 'svc.test' },
    alias('b.test', 'c.test'),
    alias('a.test', 'b.test'),
  ]);
  assert.deepEqual(own(443, { ...known, lookups: queries }), [
    ['c.test svc.test', 'b.test c.test', 'a.test b.test'],
    ['a.test', 'b.test', 'c.test'],
  ]);
});

test('those queried for an alternative are not, whether on another host or on another port', () => {
  const others = ['alt.test', 'x.test', '_8443._https.a.test'];
  const known = names(
    [
      {},
      alias('alt.test', 'x.test'),
      { owner: 'x.test' },
      { owner: '_8443._https.a.test', target: 'a.test' },
    ],
    { lookups: lookups('a.test', ...others) },
  );
  assert.deepEqual(own(443, known), [['a.test a.test'], ['a.test']]);
  assert.deepEqual(own(8443, known), [['_8443._https.a.test a.test'], ['_8443._https.a.test']]);
});

test('an alias that must be ignored leads nowhere, and one to itself to no end', () => {
  const ignored = { ...alias('a.test', 'b.test'), incompatible: true };
  const known = names([ignored, alias('a.test', 'a.test'), { owner: 'b.test' }], {
    lookups: lookups('a.test', 'b.test'),
  });
  assert.deepEqual(own(443, known), [['a.test b.test', 'a.test a.test'], ['a.test']]);
});

test('a record with a name that was not queried is one behind a CNAME, from an older version', () => {
  const known = names([{ owner: 'x.cdn.test' }], { lookups: lookups('a.test') });
  assert.deepEqual(own(443, known), [['x.cdn.test a.test'], ['a.test']]);
});
