// Unit tests of one workspace under `node --test`.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { runStep } from '../command.ts';
import type { Failure, Skip, SuiteResult } from '../tally.ts';
import type { NodeTestLine } from './node-reporter.ts';

const REPORTER = fileURLToPath(new URL('node-reporter.ts', import.meta.url));

/**
 * Node sets no limit of its own. Far more than any test takes on a busy machine, so only a hung one is ended; without
 * `--test-force-exit` what it left open would still keep its process alive.
 */
const TEST_TIMEOUT_MS = 180_000;

function readLine(line: string): NodeTestLine | null {
  try {
    return JSON.parse(line) as NodeTestLine;
  } catch {
    // Something that node itself said outside of any test.
    return null;
  }
}

/** Runs every `*.test.ts` of the workspace. */
export async function runNodeTests(workspace: string): Promise<SuiteResult> {
  const failures: Failure[] = [];
  const skipped: Skip[] = [];
  let passed = 0;
  const ended = await runStep(workspace, {
    file: process.execPath,
    args: [
      '--test',
      // Node itself leaves a core free, on a small machine half of it.
      `--test-concurrency=${availableParallelism()}`,
      `--test-timeout=${TEST_TIMEOUT_MS}`,
      `--test-reporter=${REPORTER}`,
      `${workspace}/**/*.test.ts`,
    ],
    onLine(line) {
      const test = readLine(line);
      if (test === null) return null;
      if (test.kind === 'passed') passed += 1;
      if (test.kind === 'failed') failures.push(test);
      if (test.kind === 'skipped') skipped.push({ name: test.name, reason: test.detail });
      return `${passed} passed`;
    },
    note: () => `${passed} passed`,
  });
  if (!ended.ok && failures.length === 0)
    failures.push({ name: `node --test, exit code ${ended.code}`, detail: ended.output });
  return { suite: `unit ${workspace}`, passed, failures, skipped, elapsedMs: ended.elapsedMs };
}
