// Everything that is built or downloaded before something else can run, each made by one step of its own: for `npm run
// build`, for the tests, and for what is measured. Tests and hooks make nothing; they find what is made here.
import { GO_MISSING, type GoProgram, goBuild, isGoProgramCurrent } from '../go-programs.ts';
import { cargoEnvironment, placeRustPrograms } from '../rust-programs.ts';
import { type ArtefactName, artefactsFor, PRODUCT, readCommandLine } from './command-lines.mjs';
import { beginStep, heading, say } from './display.ts';
import { onPath } from './find-browser.mjs';
import { findPython, isPythonCurrent, PYTHON_NEEDED, pythonCommands, recordPython } from './python.mjs';
import { type Command, endCommandsOnSignals, runStep } from './step-command.ts';

/** How the making of one ended; in either of the latter states it is not there, or not the present one. */
export type Made =
  | { readonly state: 'made' }
  | { readonly state: 'skipped'; readonly reason: string }
  | { readonly state: 'failed'; readonly output: string };

interface Recipe {
  readonly title: string;
  readonly needs?: readonly ArtefactName[];
  /** Two at once would do the same work twice. */
  readonly tool?: 'go';
  /** What is missing on this machine, in one sentence; null: nothing. */
  readonly missing?: () => string | null | Promise<string | null>;
  /** Whether there is nothing to do; where it is not said the commands find out themselves, and soon. */
  readonly current?: () => boolean;
  /** One after the other. */
  readonly commands: () => readonly Command[] | Promise<readonly Command[]>;
  /** What is left to do once they have ended well. */
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

const RECIPES: Readonly<Record<ArtefactName, Recipe>> = {
  rust: {
    // With the whole workspace, whose members then share what they depend on.
    title: 'QUIC addon, local origins and links (Rust)',
    missing: () => (onPath('cargo') === null ? RUST_MISSING : null),
    commands: () => [
      { file: 'npm', args: ['run', '--silent', 'build:quic', '-w', 'native-host'], env: cargoEnvironment() },
    ],
    finish: placeRustPrograms,
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
};

/** Each of them is made once in a process, whoever asks. */
const asked = new Map<ArtefactName, Promise<Made>>();
const lastOfTool = new Map<string, Promise<unknown>>();

async function runCommands({ title, commands, finish }: Recipe): Promise<Made> {
  const ended = await runStep(title, await commands());
  if (!ended.ok) return { state: 'failed', output: ended.output };
  finish?.();
  return { state: 'made' };
}

function inTurn(tool: string | undefined, run: () => Promise<Made>): Promise<Made> {
  if (tool === undefined) return run();
  const turn = (lastOfTool.get(tool) ?? Promise.resolve()).then(run);
  lastOfTool.set(
    tool,
    turn.catch(() => {}),
  );
  return turn;
}

async function makeNow(name: ArtefactName): Promise<Made> {
  const recipe = RECIPES[name];
  const { title, needs = [], missing, current, tool } = recipe;
  const without = (reason: string): Made => {
    beginStep(title).end('skipped', reason);
    return { state: 'skipped', reason };
  };
  for (const need of needs) {
    const made = await make(need);
    if (made.state === 'skipped') return without(made.reason);
    if (made.state === 'failed') return without(`${RECIPES[need].title} could not be made`);
  }
  if (current?.()) {
    beginStep(title).end(true, 'as it was');
    return { state: 'made' };
  }
  const why = (await missing?.()) ?? null;
  return why === null ? inTurn(tool, () => runCommands(recipe)) : without(why);
}

/** Makes it and what it needs, unless that has been done. Never throws. */
export function make(name: ArtefactName): Promise<Made> {
  const made = asked.get(name) ?? makeNow(name);
  asked.set(name, made);
  return made;
}

/** Makes all of these, side by side; gives what each that failed has said, and why each that is not there is skipped. */
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
 * Makes these, the product unless said; says what went wrong. Gives whether it went well: only peers may be missing, where
 * what they are made with is.
 */
export async function build(names: readonly ArtefactName[] = PRODUCT): Promise<boolean> {
  heading('Build');
  const { failed, skipped } = await makeAll(names);
  for (const { title, output } of failed) say(`\n✗ ${title}\n${output.trimEnd()}`);
  return failed.length === 0 && skipped.every(({ name }) => !PRODUCT.includes(name));
}

if (import.meta.main) {
  endCommandsOnSignals();
  const wanted = artefactsFor(readCommandLine('build', process.argv.slice(2)));
  process.exitCode = (await build(wanted)) ? 0 : 1;
}
