// Checks that do not run the product: types, style, lint, dependencies, and that generated files are current; and Rust
// tests, whose build is linted, so that one of the checks is done with it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SCRATCH, TOP } from '../../scratch.ts';
import { cargoEnvironment } from '../../test-programs.ts';
import { make } from '../artefacts.ts';
import type { ArtefactName } from '../command-lines.mjs';
import { beginStep } from '../display.ts';
import { onPath } from '../find-browser.mjs';
import { type Command, runStep } from '../step-command.ts';
import { type Counts, type Failure, type Skip, type SuiteResult, sumOf, withExitCode } from '../tally.ts';

// Stable Rust has only cargo's text output, so it is parsed line by line.
const TEST_LINE =
  /^test (?<name>.+?)(?: - should panic)? \.\.\. (?<state>ok|FAILED|ignored)(?:, (?<reason>.+))?$/;
const RESULT_LINE = /^test result: .*? (?<ok>\d+) passed; (?<bad>\d+) failed;/;
const OUTPUT_HEAD = /^---- (?<of>.+) stdout ----$/;
/** The output of one test binary begins with it. */
const SOURCE_LINE = /^ +(?:Running (?<binary>.+) \(|Doc-tests (?<doc>.+)$)/;

function readTestLine(line: string): { name: string; state: string; reason: string } | null {
  const { name, state, reason = 'no reason given' } = TEST_LINE.exec(line)?.groups ?? {};
  return name === undefined || state === undefined ? null : { name, state, reason };
}

/** The output of each failed test, by name. */
function failureDetails(lines: readonly string[]): Map<string, string> {
  const details = new Map<string, string>();
  let failing: string | null = null;
  for (const line of lines) {
    const { of } = OUTPUT_HEAD.exec(line)?.groups ?? {};
    if (of !== undefined) failing = of;
    else if (line === 'failures:' || line.startsWith('test result:')) failing = null;
    else if (failing !== null) details.set(failing, `${details.get(failing) ?? ''}${line}\n`);
  }
  return details;
}

function readSection(section: string): Counts {
  const lines = section.split('\n');
  const { binary, doc } = SOURCE_LINE.exec(lines[0] ?? '')?.groups ?? {};
  const target = doc === undefined ? (binary ?? '') : `${doc} documentation`;
  const tests = lines.map(readTestLine).filter((test) => test !== null);
  const named = (state: string) => tests.filter((test) => test.state === state);
  const details = failureDetails(lines);
  const failures = named('FAILED').map(({ name }) => ({
    name: `${target}: ${name}`,
    detail: details.get(name) ?? '',
  }));
  const skipped = named('ignored').map(({ name, reason }) => ({ name: `${target}: ${name}`, reason }));

  // A test that bypasses output capture can break its own line, but not the totals.
  const result = lines.map((line) => RESULT_LINE.exec(line)?.groups).find((groups) => groups !== undefined);
  const nameless = Number(result?.bad ?? 0) - failures.length;
  if (nameless > 0)
    failures.push({ name: `${target}: ${nameless} without a readable name`, detail: lines.join('\n') });
  // A crash or kill also ends the remaining tests of the binary.
  if (result === undefined && lines.some((line) => /^running \d+ tests?$/.test(line)))
    failures.push({ name: `${target}: ended before its last test`, detail: lines.join('\n') });
  return { passed: Number(result?.ok ?? named('ok').length), failures, skipped };
}

/** Parses the output of `cargo test`, one test binary at a time. */
export function readCargoOutput(output: string): Counts {
  return sumOf(output.split(/^(?= +(?:Running .+ \(|Doc-tests .))/m).map(readSection));
}

/** Compilation leaves the processors to tests. */
const LOWEST = 19;

/**
 * Clippy as RUSTC_WORKSPACE_WRAPPER for our own crates, so that the linted build is the tested one and dependencies are
 * neither checked nor compiled again. It reads its arguments as `cargo clippy` passes them. Without Clippy, rustc
 * compiles.
 */
const testEnvironment = (): Readonly<Record<string, string>> => ({
  ...cargoEnvironment(),
  ...(onPath('clippy-driver') === null
    ? {}
    : {
        RUSTC_WORKSPACE_WRAPPER: 'clippy-driver',
        CLIPPY_ARGS: ['-D', 'warnings', ''].join('__CLIPPY_HACKERY__'),
      }),
});

/** Compiles and lints every target of the workspace, in the build's profile. */
const LINTED_BUILD = {
  file: 'cargo',
  args: ['build', '--locked', '--release', '--workspace', '--all-targets'],
  env: testEnvironment,
  nice: LOWEST,
} as const;

/** cargo prints the test binary's name on standard error, which must stay in order with its results. */
const cargoTest = (): Command => ({
  file: 'sh',
  args: ['-c', 'exec cargo test --locked --release --workspace --no-fail-fast 2>&1'],
  env: { ...testEnvironment(), CARGO_TERM_COLOR: 'never' },
});

/** Runs the tests of every crate, in the profile that the build used. */
export async function runCargoTests(): Promise<SuiteResult> {
  const startedMs = performance.now();
  const result = (counts: Counts): SuiteResult => ({
    ...counts,
    suite: 'rust',
    elapsedMs: performance.now() - startedMs,
  });
  const failed = (name: string, detail: string) =>
    result({ passed: 0, failures: [{ name, detail }], skipped: [] });
  const built = await make('rust');
  if (built.state === 'skipped') {
    beginStep('Rust tests').end('skipped', built.reason);
    return result({ passed: 0, failures: [], skipped: [{ name: 'Rust tests', reason: built.reason }] });
  }
  if (built.state === 'failed') return failed('Rust tests', 'what they test could not be built');
  const compiled = await runStep('Rust tests are compiled', { ...LINTED_BUILD, env: testEnvironment() });
  if (!compiled.ok) return failed('Rust tests are compiled', compiled.output);

  let passed = 0;
  const ended = await runStep('Rust tests', {
    ...cargoTest(),
    onLine(line) {
      if (readTestLine(line)?.state === 'ok') passed += 1;
      return passed > 0 ? `${passed} passed` : line.trim();
    },
    note: () => `${passed} passed`,
  });
  return result(withExitCode(readCargoOutput(ended.output), 'cargo test', ended));
}

/** Generated by the addon's build and committed, so that types can be checked without building Rust. */
const ADDON_TYPES = 'native-host/quic/napi/index.d.ts';

const bin = (name: string) => join(TOP, 'node_modules', '.bin', name);

interface Check extends Pick<Command, 'file' | 'args' | 'nice'> {
  readonly title: string;
  /** The artefact it examines, which must exist. */
  readonly needs?: ArtefactName;
  /** An artefact whose build may write files it examines, so it waits for that build. */
  readonly after?: ArtefactName;
  /** Why it cannot run here; null if it can. */
  readonly missing?: () => string | null;
  readonly env?: () => Readonly<Record<string, string>>;
}

const typesOf = (name: string): Check => ({
  title: `types of ${name}`,
  file: bin('tsc'),
  args: ['-p', name],
});

/** Components that a Rust toolchain may lack. */
function missingCargo(command: string): string | null {
  const found = spawnSync('cargo', [command, '--version']).status === 0;
  return found ? null : `cargo ${command} is not installed; rustup component add clippy rustfmt`;
}

/** Fast checks without dependencies on a build. */
const AT_ONCE: readonly Check[] = [
  ...['shared', 'extension', 'e2e'].map(typesOf),
  {
    title: 'format and lint',
    file: bin('biome'),
    args: ['check', '--error-on-warnings', '--diagnostic-level=warn', '--max-diagnostics=200', '.'],
    // It makes a directory for its log.
    env: () => ({ XDG_CACHE_HOME: join(SCRATCH, 'cache') }),
  },
  {
    title: 'no file, export or dependency without use',
    file: bin('knip'),
    args: ['--no-progress', '--treat-config-hints-as-errors'],
  },
  {
    title: 'downloads are pinned by digest',
    file: process.execPath,
    args: ['e2e/supply/check.ts', 'locks'],
  },
  {
    title: "the Firefox edition passes its store's lint",
    needs: 'extension',
    file: bin('web-ext'),
    // Does not check for a newer web-ext.
    args: ['lint', '--source-dir=extension/dist/firefox', '--warnings-as-errors', '--no-config-discovery'],
    env: () => ({ NO_UPDATE_NOTIFIER: '1' }),
  },
];

/** Checks of Rust, or of files that its build writes. */
const WITH_RUST: readonly Check[] = [
  {
    title: 'Rust format',
    missing: () => missingCargo('fmt'),
    file: 'cargo',
    args: ['fmt', '--all', '--check'],
  },
  {
    title: 'licences of what is passed on',
    needs: 'rust',
    file: process.execPath,
    args: ['e2e/supply/check.ts', 'licences'],
  },
  { ...typesOf('native-host'), after: 'rust' },
  {
    title: 'generated types are committed',
    needs: 'rust',
    missing: () => (existsSync(join(TOP, '.git')) ? null : 'not a git checkout'),
    file: 'git',
    args: ['diff', '--exit-code', '--no-ext-diff', 'HEAD', '--', ADDON_TYPES],
  },
  {
    title: 'Rust lint',
    needs: 'rust',
    missing: () => missingCargo('clippy'),
    ...LINTED_BUILD,
  },
];

/** Runs the checks in sequence, each counted as a test. */
async function runChecks(checks: readonly Check[]): Promise<SuiteResult> {
  const startedMs = performance.now();
  const failures: Failure[] = [];
  const skipped: Skip[] = [];
  let passed = 0;
  for (const { title, needs, after, missing, file, args, env, nice = 0 } of checks) {
    if (after !== undefined) await make(after);
    const made = needs === undefined ? null : await make(needs);
    const why = made?.state === 'skipped' ? made.reason : (missing?.() ?? null);
    if (made?.state === 'failed') {
      failures.push({ name: title, detail: 'what it looks at could not be built' });
    } else if (why !== null) {
      beginStep(title).end('skipped', why);
      skipped.push({ name: title, reason: why });
    } else {
      const ended = await runStep(title, { file, args, env: env?.() ?? {}, nice });
      if (ended.ok) passed += 1;
      else failures.push({ name: title, detail: ended.output });
    }
  }
  return { suite: 'checks', passed, failures, skipped, elapsedMs: performance.now() - startedMs };
}

export const runQuickChecks = (): Promise<SuiteResult> => runChecks(AT_ONCE);
export const runRustChecks = (): Promise<SuiteResult> => runChecks(WITH_RUST);
