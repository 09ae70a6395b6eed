// How each suite is counted, and the rules that decide whether `npm test` may report success. cargo's output format is
// not stable, so its parser is tested against real samples; unit tests run under the real `node --test`: the reporter
// with misbehaving files, and the seed in property tests.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { JSONReport, JSONReportSpec, JSONReportTest } from '@playwright/test/reporter';
import { anyFailed, formatSummary, formatTotal, found, judge, merge, type SuiteResult } from '../tally.ts';
import { readCargoOutput } from './checks.ts';
import { runNodeTests, SEEDED } from './node.ts';
import type { NodeTestLine } from './node-reporter.ts';
import { readPlaywrightReport } from './playwright.ts';

const SAMPLE = `
     Running unittests src/lib.rs (target/release/deps/core-1)

running 4 tests
test guard::refuses_loopback ... ok
test guard::panics - should panic ... ok
test wire::reads ... FAILED
test wire::slow ... ignored, needs an hour

failures:

---- wire::reads stdout ----
thread 'wire::reads' panicked at src/wire.rs:7:5:
left: 1

failures:
    wire::reads

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/attempt.rs (target/release/deps/attempt-1)

running 1 test
noise without a newline test connects ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests photofinish_core

running 1 test
test src/lib.rs - attempt (line 3) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
`;

test('every test binary counts, and a failure carries its own output', () => {
  const counts = readCargoOutput(SAMPLE);
  assert.equal(counts.passed, 4);
  assert.deepEqual(
    counts.failures.map(({ name }) => name),
    ['unittests src/lib.rs: wire::reads'],
  );
  assert.match(counts.failures[0]?.detail ?? '', /src\/wire\.rs:7:5[\s\S]*left: 1/);
  assert.doesNotMatch(counts.failures[0]?.detail ?? '', /test result/);
  assert.deepEqual(counts.skipped, [{ name: 'unittests src/lib.rs: wire::slow', reason: 'needs an hour' }]);
});

test('a failure whose line cannot be parsed still counts', () => {
  const counts = readCargoOutput('test result: FAILED. 0 passed; 2 failed; 0 ignored;');
  assert.equal(counts.failures.length, 1);
  assert.match(counts.failures[0]?.name ?? '', /2 without a readable name/);
});

test('a test binary that crashes is a failure in addition to the tests it had finished', () => {
  const died = `
     Running tests/attempt.rs (target/release/deps/attempt-1)

running 2 tests
test connects ... ok
error: test failed, to rerun pass \`--test attempt\`
  process didn't exit successfully (signal: 6, SIGABRT)
`;
  const counts = readCargoOutput(died + SAMPLE);
  assert.equal(counts.passed, 5);
  assert.deepEqual(
    counts.failures.map(({ name }) => name),
    ['tests/attempt.rs: ended before its last test', 'unittests src/lib.rs: wire::reads'],
  );
  assert.match(counts.failures[0]?.detail ?? '', /SIGABRT/);
});

function spec(title: string, outcome: Partial<JSONReportTest>): JSONReportSpec {
  const results = [{ errors: [{ message: '\u001b[31mexpected h3\u001b[39m' }] }];
  const base = { projectName: '', annotations: [], results };
  return { title, tests: [{ ...base, ...outcome }] } as unknown as JSONReportSpec;
}

function playwrightReport(specs: JSONReportSpec[], errors: { message: string }[] = []): JSONReport {
  const inner = { title: 'upgrade', specs };
  return { errors, suites: [{ title: 'a.spec.ts', specs: [], suites: [inner] }] } as unknown as JSONReport;
}

test('specs are counted by their status and named by their path', () => {
  const annotations = [{ type: 'skip', description: 'Go is not installed' }];
  const counts = readPlaywrightReport(
    playwrightReport([
      spec('good', { status: 'expected' }),
      spec('bad', { status: 'unexpected' }),
      spec('moody', { status: 'flaky' }),
      spec('absent', { status: 'skipped', annotations }),
    ]),
  );
  assert.equal(counts.passed, 1);
  assert.deepEqual(
    counts.failures.map(({ name }) => name),
    ['a.spec.ts > upgrade > bad', 'a.spec.ts > upgrade > moody'],
  );
  assert.equal(counts.failures[0]?.detail, 'expected h3');
  assert.match(counts.failures[1]?.detail ?? '', /^passed only when repeated/);
  assert.deepEqual(counts.skipped, [{ name: 'a.spec.ts > upgrade > absent', reason: 'Go is not installed' }]);
});

test('an error outside of any test is a failure', () => {
  const counts = readPlaywrightReport(playwrightReport([], [{ message: 'no such config' }]));
  assert.deepEqual(counts.failures, [{ name: 'outside of any test', detail: 'no such config' }]);
});

const REPORTER = fileURLToPath(new URL('node-reporter.ts', import.meta.url));

function reportedLines(source: string): NodeTestLine[] {
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
  const lines = reportedLines(`
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
  assert.deepEqual(brief(reportedLines('')), [['failed', 'sample.test.mjs']]);
  const died = reportedLines(`console.error('last words'); process.exit(3);`);
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

test('what keeps node from running any test is reported, and not taken for files without tests', async (t) => {
  const { PHOTOFINISH_SEED: before } = process.env;
  t.after(() => {
    if (before === undefined) delete process.env.PHOTOFINISH_SEED;
    else process.env.PHOTOFINISH_SEED = before;
  });
  process.env.PHOTOFINISH_SEED = 'randm';
  const { passed, failures } = await runNodeTests('shared', ['shared/web/network-name.test.ts']);
  assert.equal(passed, 0);
  assert.equal(failures.length, 1);
  assert.match(failures[0]?.detail ?? '', /not "randm"/);
});

const result = (parts: Partial<SuiteResult>): SuiteResult => ({
  suite: 'unit shared',
  passed: 0,
  failures: [],
  skipped: [],
  elapsedMs: 1500,
  ...parts,
});
const skipped = [{ name: 'caddy > upgrades', reason: 'Go is not installed' }];

test('a suite that ran no test has failed, with or without skipped tests', () => {
  assert.ok(anyFailed([judge(result({}), false)]));
  assert.ok(anyFailed([judge(result({ skipped }), false)]));
});

test('a run without any suite has failed', () => assert.ok(anyFailed([])));

test('a search by title may find nothing in a suite, but not in all of them', () => {
  const [nothing, something] = [result({}), result({ passed: 1 })];
  assert.deepEqual(found([nothing, something]), [something]);
  assert.deepEqual(found([nothing]), [nothing]);
});

test('a search by title that found only skipped tests in a suite found them, unlike files that cannot run', () => {
  const something = result({ suite: 'unit e2e', passed: 1 });
  const browser = result({ suite: 'browser', skipped });
  const unbuilt = result({ skipped: [{ name: 'trust.test.ts', reason: 'not built', isFile: true }] });
  assert.deepEqual(found([something, unbuilt, browser]), [something, browser]);
  assert.deepEqual(found([unbuilt]), [unbuilt]);
});

test('a skipped test is listed with its reason, and is a failure where skips fail', () => {
  const lenient = judge(result({ passed: 3, skipped }), false);
  assert.equal(anyFailed([lenient]), false);
  assert.match(formatSummary([lenient]), /caddy > upgrades\n {2}skipped: Go is not installed/);
  assert.equal(formatTotal([lenient]), '3 passed, 0 failed, 1 skipped');

  const strict = judge(result({ passed: 3, skipped }), true);
  assert.ok(anyFailed([strict]));
  assert.equal(formatTotal([strict]), '3 passed, 1 failed');
});

test('totals are sums over suites, and every failure is shown in full', () => {
  const failures = [{ name: 'adds', detail: 'expected 1\nfound 2' }];
  const results = [result({ passed: 2 }), result({ suite: 'rust', passed: 5, failures })];
  assert.equal(formatTotal(results), '7 passed, 1 failed');
  assert.match(formatSummary(results), /✗ rust: adds\nexpected 1\nfound 2/);
});

test('parts of one suite are merged into one line without losing anything', () => {
  const failures = [{ name: 'lint', detail: 'unused' }];
  const [checks, rust, ...others] = merge([
    result({ suite: 'checks', passed: 2 }),
    result({ suite: 'rust', passed: 1 }),
    result({ suite: 'checks', passed: 3, failures, skipped }),
  ]);
  assert.deepEqual(others, []);
  assert.deepEqual(checks, { suite: 'checks', passed: 5, failures, skipped, elapsedMs: 3000 });
  assert.equal(rust?.passed, 1);
});
