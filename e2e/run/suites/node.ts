// Unit tests of one workspace under `node --test`.
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SCRATCH, TOP } from '../../scratch.ts';
import { rustProgram } from '../../test-programs.ts';
import { WITH_EXTENSION, WITH_RUST, type Workspace } from '../command-lines.mjs';
import { beginStep } from '../display.ts';
import { runStep } from '../step-command.ts';
import { type Failure, type Skip, type SuiteResult, sumOf, withExitCode } from '../tally.ts';
import { NO_TEST, type NodeTestLine } from './node-reporter.ts';

const REPORTER = fileURLToPath(new URL('node-reporter.ts', import.meta.url));
/** Arguments for node that seed property tests, in every process that `--test` starts as well. */
export const SEEDED = ['--import', import.meta.resolve('./seed.ts')];

/**
 * Node has no default limit. This is far more than any test needs on a busy machine, so only a hung one is ended;
 * without `--test-force-exit` its open handles would keep the process alive.
 */
const TEST_TIMEOUT_MS = 180_000;

const ADDON = 'native-host/quic/napi/photofinish-quic.node';
const RUST_NOT_BUILT = 'the QUIC addon and the local origins are not built; run: npm run build';
const EXTENSION_NOT_BUILT = 'the extension is not built; run: npm run build -- extension';

/** What keeps a file from running: what it needs is built by `npm test`, but not by `npm run unit`. */
function missingFor(): (file: string) => string | null {
  const isBuilt = (path: string) => existsSync(join(TOP, path));
  const rust =
    isBuilt(ADDON) && isBuilt('native-host/dist/main.cjs') && existsSync(rustProgram('photofinish-origin'));
  const extension = isBuilt('extension/dist/chromium/manifest.json');
  return (file) => {
    if (!rust && WITH_RUST.includes(file)) return RUST_NOT_BUILT;
    return !extension && WITH_EXTENSION.includes(file) ? EXTENSION_NOT_BUILT : null;
  };
}

function readLine(line: string): NodeTestLine | null {
  try {
    return JSON.parse(line) as NodeTestLine;
  } catch {
    // Something that node itself printed outside of any test.
    return null;
  }
}

/**
 * Tests that load modules as another browser's, emit signals that the test runner handles as well, or vary the language,
 * which is chosen once per process.
 */
const WITH_OWN_PROCESS = [
  'extension/background/helper/helper.test.ts',
  'native-host/cli/terminal.test.ts',
  'shared/language/catalog.test.ts',
  'shared/language/markup.test.ts',
  'shared/verdict/verdict-languages.test.ts',
];

/**
 * Files that may share a process instead of each being started in its own: they load only pure code, or restore what
 * they change. Those that need Rust use sockets and child processes.
 */
const shareProcess = (file: string) => !WITH_RUST.includes(file) && !WITH_OWN_PROCESS.includes(file);

/** Runs these files, either in one process or in one each. */
async function runFiles(title: string, files: readonly string[], together: boolean, grep?: string) {
  const failures: Failure[] = [];
  const skipped: Skip[] = [];
  const unreported = new Set(files);
  let passed = 0;
  const ended = await runStep(title, {
    file: process.execPath,
    args: [
      ...SEEDED,
      '--test',
      ...(together ? ['--test-isolation=none'] : []),
      // Node's default leaves one core unused, which is half of a small machine.
      `--test-concurrency=${availableParallelism()}`,
      `--test-timeout=${TEST_TIMEOUT_MS}`,
      `--test-reporter=${REPORTER}`,
      ...(grep === undefined ? [] : [`--test-name-pattern=${RegExp.escape(grep)}`]),
      ...files,
    ],
    // Hundreds of processes load the same files; without the cache each strips types and compiles anew, which is half
    // the cost of the unit tests.
    env: { NODE_COMPILE_CACHE: join(SCRATCH, 'compile-cache') },
    onLine(line) {
      const test = readLine(line);
      if (test === null) return null;
      unreported.delete(test.name.split(' > ')[0] ?? '');
      if (test.kind === 'passed') passed += 1;
      // With `grep`, a file without a matching test is not a failure.
      if (test.kind === 'failed' && !(grep !== undefined && test.detail === NO_TEST)) failures.push(test);
      if (test.kind === 'skipped') skipped.push({ name: test.name, reason: test.detail });
      return `${passed} passed`;
    },
    note: () => `${passed} passed`,
  });
  const ranNothing = passed === 0 && failures.length === 0 && skipped.length === 0;
  // What node itself refuses, such as an invalid seed, is no fault of any file.
  if (!ended.ok && ranNothing && ended.output.trim() !== '')
    failures.push({ name: `node --test, exit code ${ended.code}`, detail: ended.output });
  // In a shared process node reports only tests, and a file that exits ends the later ones too.
  else if (together && grep === undefined)
    failures.push(...[...unreported].map((name) => ({ name, detail: `${NO_TEST}, or was not reached` })));
  const counts = withExitCode({ passed, failures, skipped }, 'node --test', ended);
  return { ...counts, elapsedMs: ended.elapsedMs };
}

/**
 * Runs these files of the workspace, or only tests whose name contains `grep`. Files with missing artefacts are
 * skipped.
 */
export async function runNodeTests(
  workspace: Workspace,
  files: readonly string[],
  grep?: string,
): Promise<SuiteResult> {
  const missing = missingFor();
  const present = files.filter((file) => missing(file) === null);
  const skipped: Skip[] = files.flatMap((name) => {
    const reason = missing(name);
    return reason === null ? [] : [{ name, reason, isFile: true }];
  });
  const title = `unit tests of ${workspace}`;
  if (present.length === 0) beginStep(title).end('skipped', skipped[0]?.reason ?? '');
  const together = present.filter(shareProcess);
  const apart = present.filter((file) => !shareProcess(file));
  const ended = await Promise.all([
    ...(together.length > 0 ? [runFiles(title, together, true, grep)] : []),
    ...(apart.length > 0
      ? [runFiles(together.length > 0 ? `${title} in processes of their own` : title, apart, false, grep)]
      : []),
  ]);
  return {
    suite: `unit ${workspace}`,
    ...sumOf([{ passed: 0, failures: [], skipped }, ...ended]),
    elapsedMs: Math.max(0, ...ended.map(({ elapsedMs }) => elapsedMs)),
  };
}
