// The experiments under load, `cost` and `p1`: which cells a run has, and that every one gets all of its time, spread over
// the run, or in turns with the others of its group; the client's command line, equal for all cells except for what they
// compare; and when a load counts as driven: at the limit of each condition, exceeding a single one is enough to fail.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import {
  BASIC,
  type Cell,
  type Choice,
  cellOf,
  cellsOf,
  OBJECTS,
  RTT_MS,
  SERVERS,
  segmentsOf,
  type Way,
} from './cost/cells.ts';
import { cachedRequests, commandOf, exponentialMoments } from './cost/generator.ts';
import { loadsUpTo, tryAscendingLoads } from './cost/loads.ts';
import { type Drive, judgeDrive, lateness } from './cost/segment.ts';
import { parseOptions as parseCostOptions } from './cost.ts';
import { BadUsage } from './experiment.ts';
import type { LoadResult } from './p1/transports.ts';
import { type DrivenLoads, faultsOf, groupsOf, parseOptions as parseP1Options, turnsOf } from './p1.ts';

const choice: Choice = {
  servers: ['caddy'],
  objects: OBJECTS,
  loads: { caddy: [50, 100] },
  extent: 'usual',
};
const count = (cells: readonly Cell[], test: (cell: Cell) => boolean) => cells.filter(test).length;

test('one object at all loads, both at the highest, every hit ratio there for all three winners', () => {
  const cells = cellsOf(choice);
  assert.equal(new Set(cells.map(({ id }) => id)).size, cells.length);
  const at = (bytes: number, perSecond: number) =>
    count(
      cells,
      ({ objectBytes, perSecond: load, way, postQuantum }) =>
        objectBytes === bytes && load === perSecond && way.kind === 'cached' && postQuantum,
    );
  assert.deepEqual([at(1024, 50), at(1024, 100), at(35_840, 50), at(35_840, 100)], [3, 18, 0, 18]);
  assert.equal(
    count(cells, ({ way }) => way.kind === 'part'),
    2,
  );
  assert.equal(
    count(cells, ({ way, rttMs }) => way.kind === 'near' && rttMs === 0),
    2,
  );
  assert.equal(
    count(cells, ({ postQuantum }) => !postQuantum),
    3,
  );
});

test('quick leaves out the hit ratios of the second object, full leaves out nothing', () => {
  const sweeps = (extent: Choice['extent']) =>
    count(
      cellsOf({ ...choice, extent }),
      ({ objectBytes, way }) => objectBytes === 35_840 && way.kind === 'cached',
    );
  assert.deepEqual([sweeps('quick'), sweeps('usual'), sweeps('full')], [3, 18, 36]);
});

test('a server that cannot sustain any load has no cells', () => {
  assert.deepEqual(cellsOf({ ...choice, servers: ['own'] }), []);
});

test('every cell gets all of its seconds, once per round, in a randomised order', () => {
  const cells = cellsOf(choice);
  const segments = segmentsOf(cells, 60, seededRandom(1));
  for (const cell of cells) {
    const own = segments.filter((segment) => segment.cell === cell);
    assert.equal(
      own.reduce((sum, { seconds }) => sum + seconds, 0),
      60,
    );
    assert.deepEqual(
      own.map(({ round }) => round),
      [0, 1, 2, 3],
    );
  }
  const order = (round: number) => segments.filter((one) => one.round === round).map(({ cell }) => cell.id);
  assert.notDeepEqual(order(0), order(1));
  assert.deepEqual(segments, segmentsOf(cells, 60, seededRandom(1)));
});

test("P1's loads where they can be driven, otherwise steps up to the highest", () => {
  assert.deepEqual(loadsUpTo(1000), [100, 400, 700, 1000]);
  assert.deepEqual(loadsUpTo(700), [100, 400, 700]);
  assert.deepEqual(loadsUpTo(200), [50, 100, 150, 200]);
  assert.deepEqual(loadsUpTo(20), [5, 10, 15, 20]);
});

test('loads are tried upward until one is not driven, and each that is left out is told with its reason', async () => {
  const climb = async (most: number) => {
    const tried: number[] = [];
    const found = await tryAscendingLoads([100, 400, 550, 1000], async (perSecond) => {
      tried.push(perSecond);
      return perSecond <= most ? [] : ['starts late', 'processors'];
    });
    return { ...found, tried };
  };
  assert.deepEqual(await climb(1000), {
    tried: [100, 400, 550, 1000],
    driven: [100, 400, 700, 1000],
    notDriven: [],
  });
  const why = 'starts late; processors';
  const headroom = 'above 80 % of 400/s, the highest load that was driven';
  assert.deepEqual(await climb(500), {
    tried: [100, 400, 550],
    driven: [80, 100, 160, 240, 320],
    notDriven: [
      { perSecond: 400, why: headroom },
      { perSecond: 700, why },
      { perSecond: 1000, why },
    ],
  });
  const none = await climb(0);
  assert.deepEqual([none.tried, none.driven], [[100], []]);
  assert.deepEqual(
    none.notDriven,
    [100, 400, 700, 1000].map((perSecond) => ({ perSecond, why })),
  );
});

test('the command line of cost, and every mistake in it', () => {
  const usual = parseCostOptions([]);
  assert.deepEqual(
    [usual.seconds, usual.extent, usual.servers, usual.objects, usual.loads, usual.cells],
    [60, 'usual', SERVERS, OBJECTS, null, null],
  );
  assert.deepEqual(
    [parseCostOptions(['--quick']).seconds, parseCostOptions(['--quick']).extent],
    [12, 'quick'],
  );
  assert.deepEqual(parseCostOptions(['--loads', '200,50,50']).loads, [50, 200]);
  assert.deepEqual(parseCostOptions(['--object', '35']).objects, [35_840]);
  for (const [line, words] of [
    ['--seconds 2', /--seconds takes .* 3 to 600/],
    ['--server nginx', /"nginx".*caddy, own/],
    ['--object 2', /"2".*1, 35/],
    ['--loads 0', /--loads/],
    ['--quick --full', /one of --quick and --full/],
    ['--fast', /--fast/],
  ] as const)
    assert.throws(
      () => parseCostOptions(line.split(' ')),
      (error) => error instanceof BadUsage && words.test(error.message),
      line,
    );
});

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

test('only hosts that requests are to are pinned: of another the client warns', () => {
  const [h2, h3] = ['h2.test:443:10.77.1.2', 'h3.test:8443:10.77.1.2'];
  for (const [way, expected] of [
    [BASIC.naive, [h2]],
    [BASIC.h3, [h3]],
    [{ kind: 'cached', winner: 'half', hitShare: 0 }, [h2, h3]],
    [{ kind: 'near', mode: 'race' }, [h3]],
  ] as const) {
    const pins = optionsOf(cell(way)).filter((_, index, all) => all[index - 1] === '--resolve');
    assert.deepEqual(pins, expected, JSON.stringify(way));
  }
});

test("the key exchange is the cell's", () => {
  assert.ok(optionsOf(cell(BASIC.naive, false)).includes('--no-post-quantum'));
  assert.ok(!optionsOf(cell(BASIC.naive)).includes('--no-post-quantum'));
});

test('a part of a connection is made by a separate program', () => {
  const [file, options] = commandOf(cell({ kind: 'part', part: 'tls' }), SERVER);
  assert.equal(file, process.execPath);
  assert.deepEqual(options.slice(1), ['10.77.1.2', '443', 'h2.test', 'ca.pem']);
});

const scheduledMs = Array.from({ length: 100 }, (_, index) => 10 * index);
const good: Drive = {
  scheduledMs,
  startedMs: scheduledMs.map((atMs) => atMs + 2),
  ended: 100,
  expected: 100,
  failed: 0,
  idleShare: 0.4,
  complaints: [],
};

test('a schedule that was kept', () => {
  const { lateP99Ms, rateShare, failedShare, why } = judgeDrive(good);
  assert.deepEqual([lateP99Ms, rateShare, failedShare, why], [2, 1, 0, []]);
});

test('early by the resolution of a clock is not late; starts beyond the schedule cannot be late', () => {
  assert.deepEqual(lateness([10, 20], [9, 25, 30]), [0, 5, 0]);
});

test('exactly at the limits it counts as driven', () => {
  const startedMs = scheduledMs.map((atMs) => atMs + 20);
  const drive = { ...good, startedMs, ended: 97, failed: 0, idleShare: 0.03 };
  assert.deepEqual(judgeDrive(drive).why, []);
});

for (const [name, change, words] of [
  [
    'late',
    { startedMs: scheduledMs.map((atMs, index) => atMs + (index > 97 ? 21 : 0)) },
    /starts late: p99 21 ms/,
  ],
  ['slow', { ended: 192, expected: 200 }, /rate: 96\.0 %/],
  ['without processors', { idleShare: 0.029 }, /processors: 2\.9 % left/],
  ['failing', { failed: 2 }, /failed: 2\.0 %/],
  ['complaining', { complaints: ['photofinish: races-wait: many'] }, /generator: photofinish: races-wait/],
] as const)
  test(`not driven: ${name}`, () => {
    const { why } = judgeDrive({ ...good, ...change });
    assert.equal(why.length, 1);
    assert.match(why[0] ?? '', words);
  });

test('a few requests still under way do not make a low load slow', () => {
  assert.deepEqual(judgeDrive({ ...good, ended: 26, expected: 30 }).why, []);
});

test('without a start nothing was driven', () => {
  const { why, lateP99Ms } = judgeDrive({ ...good, startedMs: [], ended: 0 });
  assert.equal(lateP99Ms, null);
  assert.ok(why.length >= 2);
});

const drivenLoads: DrivenLoads[] = [
  { objectBytes: 1024, security: 'plain', driven: [100, 400] },
  { objectBytes: 35_840, security: '1.2', driven: [100] },
  { objectBytes: 35_840, security: 'plain', driven: [] },
];

test('the basic cells at every load; hit ratios and what is beyond P1 at the highest', () => {
  const sizes = (full: boolean) => groupsOf(drivenLoads, full).map((group) => group.length);
  // TCP alone, SCTP alone, race; three winners at six ratios; six candidates and a middlebox.
  assert.deepEqual(sizes(false), [3, 18 + 2, 3 + 2]);
  assert.deepEqual(sizes(true), [3, 18 + 2, 18 + 2]);
  const ids = groupsOf(drivenLoads, true)
    .flat()
    .map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(ids.includes('35k-tls1.2-100rps-half-hit80'));
});

test('every cell of a group has one turn in each round, and groups do not mix', () => {
  const groups = groupsOf(drivenLoads, false);
  const turns = turnsOf(groups, 12, seededRandom(1));
  let at = 0;
  for (const group of groups)
    for (let round = 0; round < 4; round += 1) {
      const own = turns.slice(at, at + group.length);
      assert.deepEqual(new Set(own.map(({ cell }) => cell)), new Set(group));
      assert.ok(own.every((turn) => turn.round === round));
      at += group.length;
    }
  assert.equal(at, turns.length);
  assert.deepEqual(turns, turnsOf(groups, 12, seededRandom(1)));
  assert.notDeepEqual(turns, turnsOf(groups, 12, seededRandom(2)));
});

const LOAD: LoadResult = {
  scheduled: 300,
  ended: 300,
  ok: 300,
  races: 0,
  learning: 0,
  winners: [],
  failures: {},
  establishedMs: null,
  doneMs: null,
  lateMs: { p10: 0, median: 1, p90: 2, p99: 25, max: 30 },
  wasLate: false,
  offeredPerSecond: 100,
  achievedPerSecond: 100,
  droppedPackets: 0,
};

test('a turn counts only if it kept its schedule, on a machine with time left, without failures', () => {
  assert.deepEqual(faultsOf(LOAD, 0.5), []);
  assert.deepEqual(faultsOf({ ...LOAD, ok: 297, failures: { reset: 3 } }, 0.5), []);
  assert.deepEqual(faultsOf({ ...LOAD, ok: 296, failures: { reset: 4 } }, 0.5), ['failed: 1.3 % (reset)']);
  assert.deepEqual(faultsOf({ ...LOAD, wasLate: true }, 0.02), [
    'starts late: p99 25 ms',
    'processors: 2.0 % left',
  ]);
  assert.deepEqual(faultsOf({ ...LOAD, droppedPackets: 2 }, 0.5), ['our own packets dropped: 2']);
  const astray = { transport: 'tcp', address: '2001:db8::2', ofRaces: 16, all: 16 } as const;
  assert.deepEqual(faultsOf({ ...LOAD, winners: [astray] }, 0.5), ['won by the other: 5.3 %']);
  assert.deepEqual(faultsOf({ ...LOAD, winners: [astray] }, 0.5, true), []);
  const right = { transport: 'sctp', address: '2001:db8::2', ofRaces: 300, all: 300 } as const;
  assert.deepEqual(faultsOf({ ...LOAD, winners: [right] }, 0.5), []);
  const none = { ...LOAD, scheduled: 0, ended: 0, ok: 0 };
  assert.deepEqual(faultsOf(none, 0.5), ['failed: 100.0 % (nothing was sent)']);
});

test('the command line of p1, and every mistake in it', () => {
  const usual = parseP1Options([]);
  assert.deepEqual([usual.seconds, usual.securities, usual.sctp], [60, ['plain', '1.2'], 'sctp']);
  assert.deepEqual(parseP1Options(['--full']).securities, ['plain', '1.2', '1.3']);
  assert.equal(parseP1Options(['--quick']).seconds, 12);
  assert.deepEqual(parseP1Options(['--tls', '1.3', '--loads', '400,100']).securities, ['1.3']);
  assert.deepEqual(parseP1Options(['--loads', '400,100']).loads, [100, 400]);
  for (const [line, words] of [
    ['--sctp tcp', /"tcp".*sctp-udp/],
    ['--sctp sctp,sctp-udp', /--sctp takes one name/],
    ['--tls 1.1', /"1.1".*plain/],
    ['--quick --full', /one of --quick and --full/],
    ['--loads 0', /--loads/],
  ] as const)
    assert.throws(
      () => parseP1Options(line.split(' ')),
      (error) => error instanceof BadUsage && words.test(error.message),
      line,
    );
});
