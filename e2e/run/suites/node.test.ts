// Unit tests as they are started, under the real `node --test`: the reporter with misbehaving files, and the seed where it
// must arrive, in property tests.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SEEDED } from './node.ts';
import type { NodeTestLine } from './node-reporter.ts';

const REPORTER = fileURLToPath(new URL('node-reporter.ts', import.meta.url));

function report(source: string): NodeTestLine[] {
  const dir = mkdtempSync(join(tmpdir(), 'photofinish-reporter-'));
  try {
    writeFileSync(join(dir, 'sample.test.mjs'), `import test from 'node:test';\n${source}`);
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const args = ['--test', `--test-reporter=${REPORTER}`, 'sample.test.mjs'];
    const { stdout } = spawnSync(process.execPath, args, { cwd: dir, env, encoding: 'utf8' });
    const lines = stdout.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as NodeTestLine);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

const brief = (lines: NodeTestLine[]) => lines.map(({ kind, name }) => [kind, name]);

test('tests are counted once, named with their suites', () => {
  const lines = report(`
    test.describe('outer', () => {
      test('good', () => {});
      test('bad', () => { throw new Error('reason of the failure'); });
      test('not here', { skip: 'no display' }, () => {});
    });`);
  assert.deepEqual(brief(lines), [
    ['passed', 'sample.test.mjs > outer > good'],
    ['failed', 'sample.test.mjs > outer > bad'],
    ['skipped', 'sample.test.mjs > outer > not here'],
  ]);
  assert.match(lines[1]?.detail ?? '', /reason of the failure/);
  assert.equal(lines[2]?.detail, 'no display');
});

test('a file without tests, or one that crashes, has failed', () => {
  assert.deepEqual(brief(report('')), [['failed', 'sample.test.mjs']]);
  const died = report(`console.error('last words'); process.exit(3);`);
  assert.deepEqual(brief(died), [['failed', 'sample.test.mjs']]);
  assert.match(died[0]?.detail ?? '', /last words/);
});

/** What a property draws in a file under `node --test` with this seed. */
function draw(t: TestContext, isolation: 'none' | 'process', seed?: string) {
  const dir = mkdtempSync(join(tmpdir(), 'photofinish-seed-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'sample.test.mjs');
  writeFileSync(
    file,
    `import test from 'node:test';
    import fc from ${JSON.stringify(import.meta.resolve('fast-check'))};
    const drawn = [];
    test('draws', () => fc.assert(fc.property(fc.integer(), (value) => void drawn.push(value))));
    test.after(() => console.log('drawn ' + drawn));`,
  );
  const { NODE_TEST_CONTEXT: _, PHOTOFINISH_SEED: __, ...env } = process.env;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [...SEEDED, '--test', `--test-isolation=${isolation}`, file],
    { encoding: 'utf8', env: { ...env, ...(seed !== undefined && { PHOTOFINISH_SEED: seed }) } },
  );
  return { status, drawn: /drawn .+/.exec(stdout)?.[0], said: stdout + stderr };
}

for (const isolation of ['none', 'process'] as const)
  test(`properties draw the same cases each time, others with another seed (isolation: ${isolation})`, (t) => {
    const { drawn } = draw(t, isolation);
    assert.match(drawn ?? '', /-?\d+,/);
    assert.equal(draw(t, isolation).drawn, drawn);
    const other = draw(t, isolation, '-7').drawn;
    assert.match(other ?? '', /-?\d+,/);
    assert.notEqual(other, drawn);
  });

test('with a random seed, properties draw other cases each time', (t) => {
  const { drawn } = draw(t, 'none', 'random');
  assert.match(drawn ?? '', /-?\d+,/);
  assert.notEqual(draw(t, 'none', 'random').drawn, drawn);
});

test('an invalid seed fails and is named in the error', (t) => {
  for (const seed of ['randm', '1.5', '4294967296']) {
    const { status, said } = draw(t, 'none', seed);
    assert.notEqual(status, 0, seed);
    assert.ok(said.includes(`not "${seed}"`), said);
  }
});
