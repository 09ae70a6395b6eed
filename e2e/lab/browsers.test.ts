// Which sweeps a run of `browsers` makes, and that none can disturb another.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostOf, WAYS, type Way } from './browsers/avoidance.ts';
import { SUBJECTS } from './browsers/subjects.ts';
import { DELAYS_MS, hostsOf, SWEEPS } from './browsers/sweeps.ts';
import { expectedMs, parseOptions } from './browsers.ts';

test('everything at 21 delays unless the command line says otherwise', () => {
  const { sweeps, delaysMs, subjects, trials } = parseOptions([]);
  assert.deepEqual([sweeps.length, delaysMs.length, subjects.length], [SWEEPS.length, 21, 5]);
  assert.deepEqual(
    delaysMs.toSorted((a, b) => a - b),
    DELAYS_MS,
  );
  assert.ok(parseOptions(['--full']).trials > trials);
});

test('a part of it, in its own order', () => {
  const { sweeps, delaysMs, subjects } = parseOptions([
    '--sweeps=ipv6,quic-https',
    '--delays=250,0',
    '--only=v3,chromium',
    '--trials=2',
  ]);
  assert.deepEqual(
    [sweeps.map(({ name }) => name), delaysMs, subjects.map(({ name }) => name)],
    [
      ['quic-https', 'ipv6'],
      [0, 250],
      ['chromium', 'v3'],
    ],
  );
});

test('QUIC that fails is part of a run, on its own where only that is named', () => {
  assert.ok(parseOptions([]).ways.length > 0);
  const { sweeps, ways } = parseOptions(['--sweeps=broken-once']);
  assert.deepEqual([sweeps, ways.map(({ way, trials }) => [way.name, trials])], [[], [['broken-once', 1]]]);
  assert.ok(expectedMs(parseOptions(['--sweeps=broken-once'])) > 5 * 60_000);
  const hosts = SUBJECTS.map((subject) => hostOf(WAYS[0] as Way, subject).name);
  assert.equal(new Set(hosts).size, SUBJECTS.length, 'no client shares a host with another');
});

test('rejects what it does not know', () => {
  for (const [bad, why] of [
    ['--delays=251', /does not know "251"/],
    ['--sweeps=tcp', /does not know "tcp"/],
    ['--only=curl', /does not know "curl"/],
    ['--trials=0', /from 1 to/],
  ] as const)
    assert.throws(() => parseOptions([bad]), why);
  assert.throws(() => parseOptions(['--full', '--trials=3']), /one of --full and --trials/);
});

test('no two cells share a host, so that nothing learnt at one delay is known at another', () => {
  const names = hostsOf(SWEEPS, DELAYS_MS).map(({ name }) => name);
  assert.equal(new Set(names).size, SWEEPS.length * DELAYS_MS.length);
});

test('a longer run is expected to take longer', () => {
  assert.ok(expectedMs(parseOptions(['--full'])) > 5 * expectedMs(parseOptions(['--trials=1'])));
});
