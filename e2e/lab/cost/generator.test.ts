// What the client under load is told: the same for all cells but for what they compare.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BASIC, type Cell, cellOf, RTT_MS, type Way } from './cells.ts';
import { commandOf } from './generator.ts';

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

test('only the race that is measured as ours may add a fresh QUIC attempt', () => {
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

test('a part of a connection is made by a program of its own', () => {
  const [file, options] = commandOf(cell({ kind: 'part', part: 'tls' }), SERVER);
  assert.equal(file, process.execPath);
  assert.deepEqual(options.slice(1), ['10.77.1.2', '443', 'h2.test', 'ca.pem']);
});
