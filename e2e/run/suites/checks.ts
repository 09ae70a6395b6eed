// What machines can judge without running the product: types, style, lint, and that generated files are current.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { TOP } from '../../scratch.ts';
import { runStep } from '../command.ts';
import type { Failure, Skip, SuiteResult } from '../tally.ts';

const WORKSPACES = ['shared', 'extension', 'native-host', 'e2e'];
/** Written by the addon's build and committed, so that types can be checked without building Rust. */
const ADDON_TYPES = 'native-host/quic/napi/index.d.ts';

const bin = (name: string) => join(TOP, 'node_modules', '.bin', name);

interface Check {
  readonly title: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const CHECKS: readonly Check[] = [
  ...WORKSPACES.map((name) => ({ title: `types of ${name}`, file: bin('tsc'), args: ['-p', name] })),
  {
    title: 'format and lint',
    file: bin('biome'),
    args: ['check', '--error-on-warnings', '--diagnostic-level=warn', '--max-diagnostics=200', '.'],
  },
  { title: 'Rust format', file: 'cargo', args: ['fmt', '--all', '--check'] },
  {
    title: 'Rust lint',
    file: 'cargo',
    args: ['clippy', '--release', '--all-targets', '--workspace', '--', '-D', 'warnings'],
  },
];

/** Needs a build before it. Asks nobody whether there is a newer web-ext. */
const STORE_LINT: Check = {
  title: "the Firefox edition passes its store's lint",
  file: bin('web-ext'),
  args: ['lint', '--source-dir=extension/dist/firefox', '--warnings-as-errors', '--no-config-discovery'],
  env: { NO_UPDATE_NOTIFIER: '1' },
};

/** Needs a build before it, for it compares what the build wrote with what is committed. */
const DRIFT: Check = {
  title: 'generated types are committed',
  file: 'git',
  args: ['diff', '--exit-code', '--no-ext-diff', 'HEAD', '--', ADDON_TYPES],
};

/** Runs every check, each counted as a test. The build must have been run before. */
export async function runChecks(): Promise<SuiteResult> {
  const startedMs = performance.now();
  const failures: Failure[] = [];
  const skipped: Skip[] = [];
  let passed = 0;
  const run = async (check: Check) => {
    const ended = await runStep(check.title, check);
    if (ended.ok) passed += 1;
    else failures.push({ name: check.title, detail: ended.output });
  };
  for (const check of [...CHECKS, STORE_LINT]) await run(check);
  if (existsSync(join(TOP, '.git'))) await run(DRIFT);
  else skipped.push({ name: DRIFT.title, reason: 'not a git checkout' });
  return { suite: 'checks', passed, failures, skipped, elapsedMs: performance.now() - startedMs };
}
