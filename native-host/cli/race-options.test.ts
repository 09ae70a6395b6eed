// The command line of `race`: accepted options, their values, and the one-line answer to every mistake.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PACED_BY_PATH } from '../race/pacing.ts';
import { commandFor, inShard, Pins, parseRaceCommand, readShard } from './race-options.ts';
import { Complaint } from './usage.ts';

const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  ['', 'bad-usage', /at least one origin/],
  ['a.test --no-such', 'bad-usage', /--no-such.*race --help/],
  ['a.test --mode', 'bad-usage', /--mode takes a value; see .*race --help/],
  [
    'a.test --ca --json',
    'bad-usage',
    /--ca takes a value; one that begins with a dash is given as --ca=VALUE/,
  ],
  ['a.test --json=1', 'bad-usage', /--json/],
  ['http://a.test', 'bad-origin', /not https/],
  ['a.test/path', 'bad-origin', /path/],
  ['https://u:p@a.test', 'bad-origin', /user or password/],
  ['a.test:99999', 'bad-origin', /not an origin/],
  ['a.test:0', 'bad-origin', /port 0/],
  ['a.test --mode fastest', 'bad-mode', /race, v3, alt-svc, naive, compare, h3 or h2, not "fastest"/],
  ['a.test --memory some', 'bad-memory', /none, hints or full/],
  ['a.test --trials 0', 'bad-number', /--trials .* 1 to 100000/],
  ['a.test --trials 100001', 'bad-number', /--trials/],
  ['a.test --trials 1.5', 'bad-number', /--trials/],
  ['a.test --trials=-1', 'bad-number', /--trials/],
  ['a.test --trials 1e3', 'bad-number', /--trials/],
  ['a.test --concurrency 0', 'bad-number', /--concurrency .* 1 to 256/],
  ['- a.test', 'bad-usage', /not both/],
  ['- --concurrency 4097', 'bad-number', /--concurrency .* 1 to 4096/],
  ['a.test --concurrency 257', 'bad-number', /--concurrency/],
  ['a.test --start-delay 10001', 'bad-number', /--start-delay .* 0 to 10000/],
  ['a.test --attempt-delay 9', 'bad-number', /--attempt-delay .* 10 to 2000/],
  ['a.test --attempt-delay 2001', 'bad-number', /--attempt-delay/],
  ['a.test --fresh-quic --no-fresh-quic', 'bad-usage', /cannot be combined/],
  ['a.test --initial-rtt 0', 'bad-number', /--initial-rtt/],
  ['a.test --mode v3 --fresh-quic', 'bad-usage', /--fresh-quic is for modes race and h3 only/],
  ['a.test --timeout 0', 'bad-number', /--timeout .* 1 to 600000/],
  ['a.test --timeout 600001', 'bad-number', /--timeout/],
  ['a.test --resolve a.test:443', 'bad-resolve', /a part is missing/],
  ['a.test --resolve a.test:443:b.test', 'bad-resolve', /"b\.test" is not an IP address/],
  ['a.test --resolve a.test:443:[fe80::1%eth0]', 'bad-resolve', /"\[fe80::1%eth0\]" has a zone/],
  ['a.test --resolve a.test:0:127.0.0.1', 'bad-resolve', /port "0"/],
  ['a.test --resolve a.test:x:127.0.0.1', 'bad-resolve', /port "x"/],
  ['a.test --resolve :443:127.0.0.1', 'bad-resolve', /not a host name/],
  ['a.test --resolver localhost:53', 'bad-resolver', /localhost:53/],
  ['a.test --resolver 127.0.0.1:99999', 'bad-resolver', /IP address/],
  ['a.test --network=', 'bad-network', /1 to 64/],
  ['a.test --shard 1/2', 'bad-usage', /are for origins read with "-"/],
  ['a.test --resume x', 'bad-usage', /are for origins read with "-"/],
  ['a.test --seed x', 'bad-usage', /are for origins read with "-"/],
  ['- --seed x', 'bad-usage', /--seed is for --shard/],
  ['- --shard 3/2', 'bad-number', /K from 1 to N.*"3\/2"/],
  ['- --shard 1/2 --seed=', 'bad-usage', /1 to 128/],
];

for (const [line, code, words] of REFUSED)
  test(`race ${line}: ${code}`, () => {
    assert.throws(
      () => parseRaceCommand(line.split(' ').filter((word) => word !== '')),
      (error) => {
        assert.ok(error instanceof Complaint);
        assert.equal(error.code, code);
        assert.equal(error.exitCode, 2);
        assert.match(error.message, words);
        assert.doesNotMatch(error.message, /\n/);
        return true;
      },
    );
  });

test('absent options have their defaults', () => {
  const { origins, ...command } = parseRaceCommand(['a.test']);
  assert.deepEqual(
    origins.map(({ origin, host, port }) => [origin, host, port]),
    [['https://a.test', 'a.test', 443]],
  );
  assert.deepEqual(command, {
    fromInput: false,
    mode: 'race',
    memory: 'full',
    memoryAsked: false,
    fleet: false,
    trials: 1,
    trialsAsked: null,
    concurrency: 1,
    concurrencyAsked: null,
    pacing: PACED_BY_PATH,
    postQuantum: true,
    timeoutMs: 3000,
    caFiles: [],
    pins: new Pins(),
    resolver: null,
    cacheFile: null,
    network: null,
    allowPrivate: false,
    shard: null,
    resumeFile: null,
    json: false,
  });
});

test('outcomes are shared only where memory is read', () => {
  assert.equal(parseRaceCommand(['a.test', '--fleet']).fleet, true);
  assert.equal(parseRaceCommand(['a.test', '--fleet', '--memory', 'hints']).fleet, true);
  for (const cold of [
    ['--memory', 'none'],
    ['--trials', '2'],
  ])
    assert.throws(
      () => parseRaceCommand(['a.test', '--fleet', ...cold]),
      /^Error: --fleet needs --memory hints or full/,
    );
});

test('several trials are cold unless memory is given', () => {
  assert.equal(parseRaceCommand(['a.test', '--trials', '2']).memory, 'none');
  assert.equal(parseRaceCommand(['a.test', '--trials', '2', '--memory', 'full']).memory, 'full');
  assert.equal(parseRaceCommand(['a.test', '--memory', 'none']).memory, 'none');
});

test('delays and the hedged QUIC attempt are used as given', () => {
  const asked = 'a.test --start-delay 0 --attempt-delay 10 --fresh-quic --memory hints'.split(' ');
  const { pacing, memory } = parseRaceCommand(asked);
  const delays = { tcpAttemptDelayMs: 0, attemptDelayMs: 10, hedge: true, initialRttMs: null };
  assert.deepEqual([pacing, memory], [delays, 'hints']);
  const ablation = 'a.test --no-fresh-quic --initial-rtt 333 --no-post-quantum'.split(' ');
  const { pacing: ablated, postQuantum } = parseRaceCommand(ablation);
  assert.deepEqual([ablated.hedge, ablated.initialRttMs, postQuantum], [false, 333, false]);
  assert.equal(parseRaceCommand(['a.test', '--mode', 'v3']).mode, 'v3');
  assert.equal(parseRaceCommand(['a.test', '--mode', 'naive']).mode, 'naive');
});

test('compare has as many pairs as it may need to decide', () => {
  assert.equal(parseRaceCommand(['a.test', '--mode', 'compare']).trials, 15);
  assert.equal(parseRaceCommand(['a.test', '--mode', 'compare', '--trials', '1']).trials, 1);
});

test('a line that compares has the pairs and the cold cache of a comparison, unless others were asked for', () => {
  const comparing = (...options: readonly string[]) => {
    const { mode, trials, memory } = commandFor(parseRaceCommand(['-', ...options]), 'compare');
    return [mode, trials, memory];
  };
  assert.deepEqual(comparing('--mode', 'h3'), ['compare', 15, 'none']);
  assert.deepEqual(comparing('--trials', '5'), ['compare', 5, 'none']);
  assert.deepEqual(comparing('--trials', '1'), ['compare', 1, 'full']);
  assert.deepEqual(comparing('--memory', 'hints'), ['compare', 15, 'hints']);
  const single = commandFor(parseRaceCommand(['-']), 'h2');
  assert.deepEqual([single.mode, single.trials, single.memory], ['h2', 1, 'full']);
});

test('a single hyphen reads requests from standard input, with an adaptive pace unless one is given', () => {
  const { origins, fromInput, concurrencyAsked, mode } = parseRaceCommand(['-', '--mode', 'h3']);
  assert.deepEqual([origins, fromInput, concurrencyAsked, mode], [[], true, null, 'h3']);
  assert.equal(parseRaceCommand(['-', '--concurrency', '4096']).concurrencyAsked, 4096);
});

test('a share of standard input, and where to go on', () => {
  const { shard, resumeFile } = parseRaceCommand('- --shard 2/5 --seed mine --resume notes.json'.split(' '));
  assert.deepEqual([shard, resumeFile], [{ index: 2, of: 5, seed: 'mine' }, 'notes.json']);
  assert.equal(parseRaceCommand(['-', '--shard', '1/1']).shard?.seed, 'photofinish');
});

test('an origin given twice in different forms is raced once', () => {
  const { origins } = parseRaceCommand(['a.test', 'https://A.test:443/', 'b.test']);
  assert.deepEqual(
    origins.map(({ origin }) => origin),
    ['https://a.test', 'https://b.test'],
  );
});

test('pins are stored as the resolver looks them up, IPv6 with or without brackets', () => {
  const { pins } = parseRaceCommand(
    'a.test --resolve A.test:8443:127.0.0.1 --resolve b.test:443:[::1] --resolve c.test:443:::1 --resolve [::2]:443:::1'.split(
      ' ',
    ),
  );
  assert.deepEqual(
    [...pins],
    [
      ['a.test:8443', '127.0.0.1'],
      ['b.test:443', '::1'],
      ['c.test:443', '::1'],
      ['[::2]:443', '::1'],
    ],
  );
});

for (const [given, kept] of [
  ['127.0.0.1:5353', '127.0.0.1:5353'],
  ['127.0.0.1', '127.0.0.1:53'],
  ['[::1]:5353', '[::1]:5353'],
  ['::1', '[::1]:53'],
] as const)
  test(`--resolver ${given} asks ${kept}`, () => {
    assert.equal(parseRaceCommand(['a.test', '--resolver', given]).resolver, kept);
  });

const ORIGINS = Array.from({ length: 3000 }, (_, index) => `https://host-${index}.example`);

/** The numbers of the shards that have each origin. */
function shardsOf(count: number, seed: string): number[][] {
  const shards = Array.from({ length: count }, (_, index) => ({ index: index + 1, of: count, seed }));
  return ORIGINS.map((origin) => shards.filter((shard) => inShard(shard, origin)).map(({ index }) => index));
}

test('every origin is in exactly one shard, and the shards are of similar size', () => {
  for (const count of [1, 2, 3, 7]) {
    const sizes = new Map<number | undefined, number>();
    for (const shards of shardsOf(count, 'a')) {
      assert.equal(shards.length, 1);
      sizes.set(shards[0], (sizes.get(shards[0]) ?? 0) + 1);
    }
    assert.equal(sizes.size, count);
    const fair = ORIGINS.length / count;
    for (const size of sizes.values()) assert.ok(Math.abs(size - fair) <= 0.2 * fair, `${size} of ${fair}`);
  }
});

test('another seed divides the list otherwise', () => {
  const [one, two] = [shardsOf(2, 'one'), shardsOf(2, 'two')];
  const moved = one.filter(([shard], index) => shard !== two[index]?.[0]).length;
  assert.ok(Math.abs(moved - ORIGINS.length / 2) < 0.1 * ORIGINS.length, `${moved}`);
});

test('the division never changes: machines with different versions share a list', () => {
  const hosts = ['a.test', 'b.test', 'c.test', 'd.test', 'e.test', 'f.test'];
  const shards = hosts.map((host) =>
    [1, 2, 3].filter((index) => inShard(readShard(`${index}/3`), `https://${host}`)),
  );
  assert.deepEqual(shards.flat(), [1, 2, 3, 1, 3, 1]);
});

for (const text of ['', '0/2', '3/2', '1', '1/', '/2', '1/0', '-1/2', '1/10001', '1/2/3', 'a/b', '1.0/2'])
  test(`--shard ${text} is refused`, () => {
    assert.throws(
      () => readShard(text),
      (error) => error instanceof Complaint && error.code === 'bad-number',
    );
  });

test('a seed has 1 to 128 characters', () => {
  assert.equal(readShard('2/10000', 's'.repeat(128)).of, 10_000);
  for (const seed of ['', 's'.repeat(129)]) assert.throws(() => readShard('1/2', seed), Complaint);
});
