// Which cells a run has, and that every one of them gets all of its time, spread over the run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import { parseOptions } from '../cost.ts';
import { BadUsage } from '../experiment.ts';
import { type Cell, type Choice, cellsOf, OBJECTS, SERVERS, segmentsOf } from './cells.ts';
import { climbLoads, loadsUpTo } from './loads.ts';

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
    const found = await climbLoads([100, 400, 550, 1000], async (perSecond) => {
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

test('the command line, and every mistake in it', () => {
  const usual = parseOptions([]);
  assert.deepEqual(
    [usual.seconds, usual.extent, usual.servers, usual.objects, usual.loads, usual.cells],
    [60, 'usual', SERVERS, OBJECTS, null, null],
  );
  assert.deepEqual([parseOptions(['--quick']).seconds, parseOptions(['--quick']).extent], [12, 'quick']);
  assert.deepEqual(parseOptions(['--loads', '200,50,50']).loads, [50, 200]);
  assert.deepEqual(parseOptions(['--object', '35']).objects, [35_840]);
  for (const [line, words] of [
    ['--seconds 2', /--seconds takes .* 3 to 600/],
    ['--server nginx', /"nginx".*caddy, own/],
    ['--object 2', /"2".*1, 35/],
    ['--loads 0', /--loads/],
    ['--quick --full', /one of --quick and --full/],
    ['--fast', /--fast/],
  ] as const)
    assert.throws(
      () => parseOptions(line.split(' ')),
      (error) => error instanceof BadUsage && words.test(error.message),
      line,
    );
});
