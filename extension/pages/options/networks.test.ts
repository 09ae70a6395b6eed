import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_REQUESTS } from '@photofinish/shared/report/adoption';
import { knownNetworks, nameFromEntry } from './networks.ts';

const day = (name: string, network: string, h3: number) => ({
  day: name,
  network,
  counts: { ...NO_REQUESTS, h3, unknown: 1 },
});

test('the current network comes first, then the most recently used; what is no network is not listed', () => {
  const totals = [
    day('2026-11-01', 'net-old', 2),
    day('2026-11-20', 'net-work', 3),
    day('2026-11-21', 'net-work', 4),
    day('2026-11-21', 'unknown', 9),
  ];
  assert.deepEqual(knownNetworks(totals, new Map([['net-named', 'Hotel']]), 'net-now'), [
    { network: 'net-now', seen: null, now: true },
    { network: 'net-work', seen: { day: '2026-11-21', requests: 9 }, now: false },
    { network: 'net-old', seen: { day: '2026-11-01', requests: 3 }, now: false },
    { network: 'net-named', seen: null, now: false },
  ]);
  assert.deepEqual(knownNetworks([], new Map(), 'offline'), []);
});

test('an empty field removes the name; what cannot be read is no name', () => {
  assert.equal(nameFromEntry('  '), null);
  assert.equal(nameFromEntry(' Home '), 'Home');
  assert.equal(nameFromEntry('x'.repeat(41)), undefined);
});
