// What machines can judge without running the product: types, style, lint, what comes from others, and that
// generated files are current.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { TOP } from '../../scratch.ts';
import { make } from '../artefacts.ts';
import type { ArtefactName } from '../command-lines.mjs';
import { beginStep } from '../display.ts';
import { runStep } from '../step-command.ts';
import type { Failure, Skip, SuiteResult } from '../tally.ts';
import { LINTED_BUILD } from './cargo.ts';

/** Written by the addon's build and committed, so that types can be checked without building Rust. */
const ADDON_TYPES = 'native-host/quic/napi/index.d.ts';

const bin = (name: string) => join(TOP, 'node_modules', '.bin', name);

interface Check {
  readonly title: string;
  /** What it looks at, which has to be there. */
  readonly needs?: ArtefactName;
  /** What may be written while it looks, and is therefore waited for. */
  readonly after?: ArtefactName;
  /** Why it cannot be done here; null: it can. */
  readonly missing?: () => string | null;
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: () => Readonly<Record<string, string>>;
  readonly nice?: number;
}

const typesOf = (name: string): Check => ({
  title: `types of ${name}`,
  file: bin('tsc'),
  args: ['-p', name],
});

/** A toolchain can be installed without these. */
function missingCargo(command: string): string | null {
  const found = spawnSync('cargo', [command, '--version']).status === 0;
  return found ? null : `cargo ${command} is not installed; rustup component add clippy rustfmt`;
}

/** Quick, and nothing to wait for. */
const AT_ONCE: readonly Check[] = [
  ...['shared', 'extension', 'e2e'].map(typesOf),
  {
    title: 'format and lint',
    file: bin('biome'),
    args: ['check', '--error-on-warnings', '--diagnostic-level=warn', '--max-diagnostics=200', '.'],
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
    // Asks nobody whether there is a newer web-ext.
    args: ['lint', '--source-dir=extension/dist/firefox', '--warnings-as-errors', '--no-config-discovery'],
    env: () => ({ NO_UPDATE_NOTIFIER: '1' }),
  },
];

/** Of Rust, or of what its build writes. */
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

/** Runs the checks one after the other, each counted as a test. */
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
      failures.push({ name: title, detail: 'what it looks at could not be made' });
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
