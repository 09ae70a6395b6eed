// The client's command line under load: equal for all cells except for what they compare.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import { BASIC, type Cell, cellOf, RTT_MS, type Way } from './cells.ts';
import { cachedRequests, commandOf, exponentialMoments } from './generator.ts';

test('gaps are exponentially distributed: mean and deviation both match the rate', () => {
  const moments = exponentialMoments(200, 500_000, seededRandom(1));
  const gaps = moments.map((atMs, index) => atMs - (moments[index - 1] ?? 0));
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const deviation = Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length);
  const memoryless = gaps.filter((gap) => gap > mean).length / gaps.length;
  assert.ok(Math.abs(mean - 5) < 0.1, `mean ${mean}`);
  assert.ok(Math.abs(deviation - 5) < 0.1, `deviation ${deviation}`);
  assert.ok(Math.abs(memoryless - Math.exp(-1)) < 0.01, `share above the mean ${memoryless}`);
});

test('moments increase, stay within the duration, and are determined by the seed', () => {
  const moments = exponentialMoments(100, 3000, seededRandom(7));
  assert.deepEqual(moments, exponentialMoments(100, 3000, seededRandom(7)));
  assert.notDeepEqual(moments, exponentialMoments(100, 3000, seededRandom(8)));
  assert.deepEqual(
    moments,
    moments.toSorted((a, b) => a - b),
  );
  assert.ok((moments[0] ?? -1) >= 0 && (moments.at(-1) ?? 3000) < 3000);
});

for (const hitShare of [0, 0.2, 0.8, 1])
  test(`every block has exactly ${100 * hitShare} % of hits for each winner`, () => {
    const requests = cachedRequests(['h2', 'h3'], hitShare, seededRandom(3));
    const drawn = Array.from({ length: 100 }, () => requests.next().value);
    for (const winner of ['h2', 'h3']) {
      const own = drawn.filter((request) => request.winner === winner);
      assert.equal(own.length, 50);
      assert.equal(own.filter(({ hit }) => hit).length, Math.round(50 * hitShare));
    }
  });

const reached = (host: string, port: number) => ({
  host,
  port,
  address: '10.77.1.2',
  origin: `https://${host}:${port}`,
});
const SERVER = { origins: { h2: reached('h2.test', 443), h3: reached('h3.test', 8443) }, caPath: 'ca.pem' };
const cell = (way: Way, postQuantum = true): Cell =>
  cellOf({ server: 'caddy', objectBytes: 1024, perSecond: 100, rttMs: RTT_MS, postQuantum, way });
const optionsOf = (of: Cell) => commandOf(of, SERVER)[1];

test('only the race measured as ours may add a fresh QUIC attempt', () => {
  assert.ok(!optionsOf(cell({ kind: 'near', mode: 'race' })).includes('--no-fresh-quic'));
  for (const way of [...Object.values(BASIC), { kind: 'near', mode: 'h3' } as const])
    assert.ok(optionsOf(cell(way)).includes('--no-fresh-quic'), JSON.stringify(way));
});

test("both hosts are pinned, and the key exchange is the cell's", () => {
  const options = optionsOf(cell(BASIC.naive, false));
  assert.ok(options.includes('h2.test:443:10.77.1.2') && options.includes('h3.test:8443:10.77.1.2'));
  assert.ok(options.includes('--no-post-quantum'));
  assert.ok(!optionsOf(cell(BASIC.naive)).includes('--no-post-quantum'));
});

test('a part of a connection is made by a separate program', () => {
  const [file, options] = commandOf(cell({ kind: 'part', part: 'tls' }), SERVER);
  assert.equal(file, process.execPath);
  assert.deepEqual(options.slice(1), ['10.77.1.2', '443', 'h2.test', 'ca.pem']);
});
