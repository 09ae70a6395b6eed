// Rust tests: cargo's own text is what stable Rust offers, so it is read line by line.
import { runStep } from '../command.ts';
import type { Failure, Skip, SuiteResult } from '../tally.ts';

export interface CargoCounts {
  readonly passed: number;
  readonly failures: readonly Failure[];
  readonly skipped: readonly Skip[];
}

const TEST_LINE =
  /^test (?<name>.+?)(?: - should panic)? \.\.\. (?<state>ok|FAILED|ignored)(?:, (?<reason>.+))?$/;
const RESULT_LINE = /^test result: .*? (?<ok>\d+) passed; (?<bad>\d+) failed;/;
const OUTPUT_HEAD = /^---- (?<of>.+) stdout ----$/;
const SOURCE_LINE = /^ +(?:Running (?<binary>.+) \(|Doc-tests (?<doc>.+)$)/;

function readTestLine(line: string): { name: string; state: string; reason: string } | null {
  const { name, state, reason = 'no reason given' } = TEST_LINE.exec(line)?.groups ?? {};
  return name === undefined || state === undefined ? null : { name, state, reason };
}

/** Reads what `cargo test` printed. Tests that printed something carry it as their failure's detail. */
export function readCargoOutput(output: string): CargoCounts {
  const failed: string[] = [];
  const skipped: Skip[] = [];
  const details = new Map<string, string>();
  let passed = 0;
  let failedCount = 0;
  let target = '';
  let failing: string | null = null;

  for (const line of output.split('\n')) {
    const { binary, doc } = SOURCE_LINE.exec(line)?.groups ?? {};
    target = binary ?? (doc === undefined ? target : `${doc} documentation`);
    const test = readTestLine(line);
    if (test?.state === 'FAILED') failed.push(`${target}: ${test.name}`);
    if (test?.state === 'ignored') skipped.push({ name: `${target}: ${test.name}`, reason: test.reason });

    // A test that writes past the capture can break its own line, but not the totals.
    const { ok = 0, bad = 0 } = RESULT_LINE.exec(line)?.groups ?? {};
    passed += Number(ok);
    failedCount += Number(bad);

    const { of } = OUTPUT_HEAD.exec(line)?.groups ?? {};
    if (of !== undefined) failing = `${target}: ${of}`;
    else if (line === 'failures:' || line.startsWith('test result:')) failing = null;
    else if (failing !== null) details.set(failing, `${details.get(failing) ?? ''}${line}\n`);
  }
  const failures = failed.map((name) => ({ name, detail: details.get(name) ?? '' }));
  if (failedCount > failures.length)
    failures.push({ name: `${failedCount - failures.length} tests without a readable name`, detail: output });
  return { passed, failures, skipped };
}

/** Runs the tests of every crate, in the profile that the build has already compiled. */
export async function runCargoTests(): Promise<SuiteResult> {
  let passed = 0;
  const ended = await runStep('cargo test', {
    // cargo names the test binary on standard error, which must stay in order with its results.
    file: 'sh',
    args: ['-c', 'exec cargo test --release --workspace --no-fail-fast 2>&1'],
    env: { CARGO_TERM_COLOR: 'never' },
    onLine(line) {
      if (readTestLine(line)?.state === 'ok') passed += 1;
      return passed > 0 ? `${passed} passed` : line.trim();
    },
    note: () => `${passed} passed`,
  });
  const counts = readCargoOutput(ended.output);
  const failures = [...counts.failures];
  if (!ended.ok && failures.length === 0)
    failures.push({ name: `cargo test, exit code ${ended.code}`, detail: ended.output });
  return { ...counts, suite: 'rust', failures, elapsedMs: ended.elapsedMs };
}
