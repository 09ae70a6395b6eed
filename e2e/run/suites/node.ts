// Unit tests of one workspace under `node --test`.
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rustProgram } from '../../rust-programs.ts';
import { SCRATCH, TOP } from '../../scratch.ts';
import { runStep } from '../command.ts';
import type { Workspace } from '../command-lines.mjs';
import { beginStep } from '../display.ts';
import type { Failure, Skip, SuiteResult } from '../tally.ts';
import { NO_TEST, type NodeTestLine } from './node-reporter.ts';

const REPORTER = fileURLToPath(new URL('node-reporter.ts', import.meta.url));

/**
 * Node sets no limit of its own. Far more than any test takes on a busy machine, so only a hung one is ended; without
 * `--test-force-exit` what it left open would still keep its process alive.
 */
const TEST_TIMEOUT_MS = 180_000;

const ADDON = 'native-host/quic/napi/photofinish-quic.node';
/** Whose tests load the QUIC addon or start local origins. */
const WITH_RUST = [
  'native-host/cli.test.ts',
  'native-host/discover/connectivity.test.ts',
  'native-host/discover/discovery.test.ts',
  'native-host/discover/dns.test.ts',
  'native-host/main.test.ts',
  'native-host/quic/addon.test.ts',
  'native-host/race/h2-exchange.test.ts',
  'native-host/race/h2-handshake.test.ts',
  'native-host/race/h2.test.ts',
  'native-host/race/h3.test.ts',
  'native-host/race/key-shares.test.ts',
  'native-host/trust.test.ts',
  'native-host/wire/race-over-port.test.ts',
];
const RUST_NOT_BUILT = 'the QUIC addon and the local origins are not built; run: npm run build';

function isRustBuilt(): boolean {
  return existsSync(join(TOP, ADDON)) && existsSync(rustProgram('photofinish-origin'));
}

function readLine(line: string): NodeTestLine | null {
  try {
    return JSON.parse(line) as NodeTestLine;
  } catch {
    // Something that node itself said outside of any test.
    return null;
  }
}

/**
 * Runs these files of the workspace, or of them the tests whose name contains `grep`. Files that need what is not built
 * are skipped.
 */
export async function runNodeTests(
  workspace: Workspace,
  files: readonly string[],
  grep?: string,
): Promise<SuiteResult> {
  const built = isRustBuilt();
  const present = files.filter((file) => built || !WITH_RUST.includes(file));
  const absent = files.filter((file) => !present.includes(file));
  const failures: Failure[] = [];
  const skipped: Skip[] = absent.map((name) => ({ name, reason: RUST_NOT_BUILT }));
  let passed = 0;
  if (present.length === 0) {
    beginStep(`unit tests of ${workspace}`).end('skipped', RUST_NOT_BUILT);
    return { suite: `unit ${workspace}`, passed, failures, skipped, elapsedMs: 0 };
  }
  const ended = await runStep(`unit tests of ${workspace}`, {
    file: process.execPath,
    args: [
      '--test',
      // Node itself leaves a core free, on a small machine half of it.
      `--test-concurrency=${availableParallelism()}`,
      `--test-timeout=${TEST_TIMEOUT_MS}`,
      `--test-reporter=${REPORTER}`,
      ...(grep === undefined ? [] : [`--test-name-pattern=${RegExp.escape(grep)}`]),
      ...present,
    ],
    // Hundreds of processes load the same files; without this each strips their types and compiles them anew, which is
    // half of what unit tests cost.
    env: { NODE_COMPILE_CACHE: join(SCRATCH, 'compile-cache') },
    onLine(line) {
      const test = readLine(line);
      if (test === null) return null;
      if (test.kind === 'passed') passed += 1;
      // A file without such a test is none that should have had one.
      if (test.kind === 'failed' && !(grep !== undefined && test.detail === NO_TEST)) failures.push(test);
      if (test.kind === 'skipped') skipped.push({ name: test.name, reason: test.detail });
      return `${passed} passed`;
    },
    note: () => `${passed} passed`,
  });
  if (!ended.ok && failures.length === 0)
    failures.push({ name: `node --test, exit code ${ended.code}`, detail: ended.output });
  return { suite: `unit ${workspace}`, passed, failures, skipped, elapsedMs: ended.elapsedMs };
}
