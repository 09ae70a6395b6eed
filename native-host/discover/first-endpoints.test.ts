import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TransportName } from '@photofinish/shared/race/terms';
import type { Endpoint } from './discovering.ts';
import { areEnough, firstEndpoints, MOST_ENDPOINTS } from './first-endpoints.ts';

function places(transport: TransportName, count: number, net = '192.0.2'): Endpoint[] {
  return Array.from({ length: count }, (_, i) => ({
    ...{ transport, address: `${net}.${i}`, port: 443, host: 'a.test', source: 'origin' },
  }));
}

function counts(endpoints: readonly Endpoint[]): [h3: number, h2: number] {
  const h3 = endpoints.filter(({ transport }) => transport === 'h3').length;
  return [h3, endpoints.length - h3];
}

test('a list short enough for a race is unchanged', () => {
  const list = [...places('h3', 12), ...places('h2', 12)];
  assert.deepEqual(firstEndpoints(list), { endpoints: list, untried: 0 });
});

test('a longer one is truncated, and neither transport displaces the other', () => {
  for (const [h3, h2, expected] of [
    [200, 200, [12, 12]],
    [200, 3, [21, 3]],
    [0, 200, [0, 24]],
    [200, 0, [24, 0]],
  ] as const) {
    const list = [...places('h3', h3), ...places('h2', h2)];
    const { endpoints, untried } = firstEndpoints(list);
    assert.deepEqual(counts(endpoints), expected);
    assert.equal(endpoints.length, MOST_ENDPOINTS);
    assert.deepEqual(
      endpoints,
      list.filter((endpoint) => endpoints.includes(endpoint)),
    );
    assert.equal(untried, Math.max(h3, h2) - Math.max(...expected));
  }
});

test('an address counts as tried if either transport tries it', () => {
  const list = [...places('h3', 13), ...places('h2', 12)];
  assert.deepEqual([firstEndpoints(list).endpoints.length, firstEndpoints(list).untried], [24, 1]);
  const apart = [...places('h3', 20), ...places('h2', 20, '198.51.100')];
  assert.equal(firstEndpoints(apart).untried, 16);
});

test('entries after enough of both transports change nothing', () => {
  const enough = [...places('h3', 12), ...places('h2', 12)];
  assert.equal(areEnough(enough), true);
  for (const more of [places('h3', 30, '198.51.100'), places('h2', 30, '198.51.100')])
    assert.deepEqual(firstEndpoints([...enough, ...more]).endpoints, enough);
  for (const few of [[], places('h3', 40), [...places('h3', 40), ...places('h2', 11)]])
    assert.equal(areEnough(few), false);
});

test('addresses that were named but not even sorted count as untried', () => {
  const sorted = [...places('h3', 12), ...places('h2', 12)];
  assert.equal(firstEndpoints(sorted, [sorted, places('h2', 100, '198.51.100')]).untried, 100);
});
