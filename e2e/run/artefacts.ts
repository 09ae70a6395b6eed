// Every artefact that is built or downloaded before something else can run, each produced by one step: for `npm run
// build`, for the tests and for benchmarks. Tests and hooks build nothing; they use what was built here.
import {
  cargoEnvironment,
  copyRustPrograms,
  GO_MISSING,
  type GoProgram,
  goBuild,
  isGoProgramCurrent,
} from '../test-programs.ts';
import { type ArtefactName, artefactsFor, PRODUCT, readCommandLine } from './command-lines.mjs';
import { beginStep, heading, printLine } from './display.ts';
import { onPath } from './find-browser.mjs';
import { findPython, isPythonCurrent, PYTHON_NEEDED, pythonCommands, recordPython } from './python.mjs';
import { type Command, endCommandsOnSignals, runStep } from './step-command.ts';

/** The result of building an artefact; if `skipped` or `failed`, it is missing or out of date. */
export type BuildResult =
  | { readonly state: 'made' }
  | { readonly state: 'skipped'; readonly reason: string }
  | { readonly state: 'failed'; readonly output: string };

interface Recipe {
  readonly title: string;
  readonly needs?: readonly ArtefactName[];
  /** Serialises steps that share a tool: in parallel they would do the same work twice. */
  readonly tool?: 'go';
  /** What is missing on this machine, in one sentence; null if nothing is. */
  readonly missing?: () => string | null | Promise<string | null>;
  /** Whether the artefact is up to date; if absent, the commands determine that themselves, and quickly. */
  readonly current?: () => boolean;
  /** Run in sequence. */
  readonly commands: () => readonly Command[] | Promise<readonly Command[]>;
  /** Runs after all commands have succeeded. */
  readonly finish?: () => void;
}

const RUST_MISSING = 'Rust is needed to build the QUIC addon. Get it from https://rustup.rs.';
const PYTHON_MISSING = `${PYTHON_NEEDED} is needed for HTTP/3 peers and reports of the laboratory.`;

const ours = (file: string) => () => [{ file: process.execPath, args: [file] }];

function goRecipe(name: GoProgram, title: string): Recipe {
  let build: ReturnType<typeof goBuild> | undefined;
  return {
    title,
    tool: 'go',
    missing: () => (onPath('go') === null ? GO_MISSING : null),
    current: () => isGoProgramCurrent(name),
    commands() {
      build = goBuild(name);
      return [build.command];
    },
    finish: () => build?.place(),
  };
}

/**
 * napi asks cargo by the time to compile the addon once more where the types of an earlier build are missing, as in the
 * first build, and cargo would take the second build, which lacks that time, for a change.
 */
const FORCES_NO_BUILD = ["value=''", 'force=true'].flatMap((setting) => [
  '--config',
  `env.NAPI_FORCE_BUILD_PHOTOFINISH_QUIC_NAPI.${setting}`,
]);

const RECIPES: Readonly<Record<ArtefactName, Recipe>> = {
  rust: {
    title: 'QUIC addon, local origins, links and SCTP (Rust)',
    missing: () => (onPath('cargo') === null ? RUST_MISSING : null),
    commands: () => [
      {
        file: 'npm',
        args: ['run', '--silent', 'build:quic', '-w', 'native-host', '--', ...FORCES_NO_BUILD],
        env: cargoEnvironment(),
      },
      // The whole workspace, so that members share their dependencies.
      {
        file: 'cargo',
        args: ['build', '--locked', '--release', '--workspace', '--bins', '--examples'],
        env: cargoEnvironment(),
      },
    ],
    finish: copyRustPrograms,
  },
  helper: { title: 'helper', needs: ['rust'], commands: ours('native-host/build.ts') },
  extension: { title: 'extension', commands: ours('extension/build.ts') },
  fixtures: { title: 'fixtures for Playwright', commands: ours('e2e/playwright/build.ts') },
  python: {
    title: 'aioquic, libcurl and analysis (Python)',
    missing: async () => ((await findPython()) === null ? PYTHON_MISSING : null),
    current: isPythonCurrent,
    commands: async () => pythonCommands((await findPython()) ?? 'python3'),
    finish: recordPython,
  },
  caddy: goRecipe('caddy', 'Caddy (Go)'),
  'go-peer': goRecipe('go-peer', "the paper's code (Go)"),
  'nats-server': goRecipe('nats-server', 'NATS server (Go)'),
};

/** Each artefact is built once per process, however often it is requested. */
const builds = new Map<ArtefactName, Promise<BuildResult>>();
const lastOfTool = new Map<string, Promise<unknown>>();

async function runCommands({ title, commands, finish }: Recipe): Promise<BuildResult> {
  const ended = await runStep(title, await commands());
  if (!ended.ok) return { state: 'failed', output: ended.output };
  try {
    finish?.();
  } catch (error) {
    return { state: 'failed', output: `${ended.output}\n${error instanceof Error ? error.message : error}` };
  }
  return { state: 'made' };
}

function inTurn(tool: string | undefined, run: () => Promise<BuildResult>): Promise<BuildResult> {
  if (tool === undefined) return run();
  const turn = (lastOfTool.get(tool) ?? Promise.resolve()).then(run);
  lastOfTool.set(
    tool,
    turn.catch(() => {}),
  );
  return turn;
}

async function makeNow(name: ArtefactName): Promise<BuildResult> {
  const recipe = RECIPES[name];
  const { title, needs = [], missing, current, tool } = recipe;
  const without = (reason: string): BuildResult => {
    beginStep(title).end('skipped', reason);
    return { state: 'skipped', reason };
  };
  for (const need of needs) {
    const made = await make(need);
    if (made.state === 'skipped') return without(made.reason);
    if (made.state === 'failed') return without(`${RECIPES[need].title} could not be built`);
  }
  if (current?.()) {
    beginStep(title).end(true, 'unchanged');
    return { state: 'made' };
  }
  const why = (await missing?.()) ?? null;
  return why === null ? inTurn(tool, () => runCommands(recipe)) : without(why);
}

/** Builds an artefact and its dependencies, at most once. Never throws. */
export function make(name: ArtefactName): Promise<BuildResult> {
  const made = builds.get(name) ?? makeNow(name);
  builds.set(name, made);
  return made;
}

/** Builds these artefacts in parallel; returns the output of each failed one and the reason for each skipped one. */
export async function makeAll(names: readonly ArtefactName[]) {
  const made = await Promise.all(
    names.map(async (name) => ({ name, title: RECIPES[name].title, ...(await make(name)) })),
  );
  return {
    failed: made.filter((each) => each.state === 'failed'),
    skipped: made.filter((each) => each.state === 'skipped'),
  };
}

/**
 * Builds these artefacts, by default the product, and prints errors. Returns whether it succeeded: only peers may be
 * skipped, if their toolchain is missing.
 */
export async function build(names: readonly ArtefactName[] = PRODUCT): Promise<boolean> {
  heading('Build');
  const { failed, skipped } = await makeAll(names);
  for (const { title, output } of failed) printLine(`\n✗ ${title}\n${output.trimEnd()}`);
  return failed.length === 0 && skipped.every(({ name }) => !PRODUCT.includes(name));
}

if (import.meta.main) {
  endCommandsOnSignals();
  const wanted = artefactsFor(readCommandLine('build', process.argv.slice(2)));
  process.exitCode = (await build(wanted)) ? 0 : 1;
}
