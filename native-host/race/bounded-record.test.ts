// The largest records that servers and resolvers can cause, cut to the limits of schema and port.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { message } from '@photofinish/shared/language/message';
import type { Reply } from '@photofinish/shared/port/reply';
import { MAX_WHOLE_REPLY_BYTES } from '@photofinish/shared/port/wire';
import type { DnsResults, ServiceRecord } from '@photofinish/shared/race/discovered';
import {
  type Attempt,
  type OriginRace,
  originRaceSchema,
  type Trial,
} from '@photofinish/shared/race/outcome';
import type { Verdict } from '@photofinish/shared/race/verdict-schema';
import { boundedFindings } from '@photofinish/shared/verdict/bounded';
import { leftOutText } from '@photofinish/shared/verdict/record-text';
import * as v from 'valibot';
import { race, trial, up } from '../testing/cache-samples.ts';
import '@photofinish/shared/language/english';
import { framesOf } from '../wire/framing.ts';
import { boundedRace } from './bounded-record.ts';

const NAME = `${'\\255'.repeat(300)}.test`;
const LONG = '😀'.repeat(30_000);

function many<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n));
}

const service = (n: number): ServiceRecord => ({
  owner: NAME,
  canonical: NAME,
  priority: 5000 - n,
  target: NAME,
  alpn: [...many(900, () => LONG), 'h3'],
  noDefaultAlpn: false,
  port: 443,
  ipv4Hints: many(900, () => '192.0.2.1'),
  ipv6Hints: many(900, () => '2001:db8::1'),
  ech: false,
  incompatible: false,
  ttlSeconds: 1,
});

const NAMES: DnsResults = {
  addresses: [
    ...many(4000, (n) => ({
      host: NAME,
      address: `192.0.2.${n % 256}`,
      source: 'a' as const,
      ttlSeconds: 1,
    })),
    { host: 'last.test', address: '192.0.2.1', source: 'a' as const, ttlSeconds: 1 },
  ],
  services: many(3000, service),
  lookups: many(4000, () => ({
    ...{ name: NAME, kind: 'A' as const, tookMs: 1, outcome: 'failed' as const, records: 0 },
    message: LONG,
  })),
};

const failed: Attempt = {
  protocol: 'h3',
  address: '192.0.2.1',
  port: 443,
  host: NAME,
  startedMs: 0,
  establishedMs: null,
  outcome: 'failed',
  error: { code: 'misdirected', message: LONG, wireCode: LONG, ignoredAltSvc: LONG },
};
const adopted: Attempt = { ...failed, establishedMs: 1, outcome: 'adopted' };

function hugeRace(): Omit<OriginRace, 'verdict'> {
  const flood: Trial = { ...trial(up('h3')), attempts: [...many(3000, () => failed), adopted] };
  return {
    ...race(many(30, () => flood)),
    discovered: { altSvc: LONG, altSvcOver: { tcp: LONG, h3: LONG }, knownRoot: null, names: NAMES },
    error: { code: 'cancelled', message: LONG },
  };
}

/** As long as a verdict can be that is made of such a record. */
const UNKNOWN: Verdict = {
  code: 'unknown',
  findings: boundedFindings(
    Array.from({ length: 200 }, () => ({
      code: 'unknown',
      ...message('verdictAlsoFails', {
        places: Array.from({ length: 200 }, () => message('placeFailed', { place: LONG, failure: LONG })),
      }),
    })),
  ),
};

test('the largest record fits schema and port, and states how much it leaves out', () => {
  const bounded = {
    ...boundedRace(hugeRace()),
    verdict: UNKNOWN,
  };
  v.parse(originRaceSchema, bounded);
  const frames = framesOf({ ...bounded, id: 1, type: 'race' } as Reply);
  assert.ok(frames.reduce((sum, { length }) => sum + length, 0) < MAX_WHOLE_REPLY_BYTES);
  assert.deepEqual(bounded.leftOut, { addresses: 3873, services: 2968, lookups: 3872, attempts: 88_110 });
  assert.deepEqual(leftOutText(bounded), [
    'Left out, because there were too many: 3,873 addresses, 2,968 HTTPS records, 3,872 DNS queries, 88,110 attempts.',
  ]);
});

test('adopted attempts, each name’s first address, the best records and known protocols are kept', () => {
  const { trials, discovered } = boundedRace(hugeRace());
  assert.ok(trials.every(({ attempts }) => attempts.some(({ outcome }) => outcome === 'adopted')));
  assert.ok(discovered.names?.addresses.some(({ host }) => host === 'last.test'));
  assert.equal(Math.min(...(discovered.names?.services ?? []).map(({ priority }) => priority)), 2001);
  assert.ok(discovered.names?.services.every(({ alpn }) => alpn.includes('h3')));
});

test('a record within the bounds is unchanged', () => {
  const small = race([trial(up('h3'))]);
  assert.deepEqual(boundedRace(small), small);
  assert.deepEqual(leftOutText(boundedRace(small)), []);
});
