// Checks what the machine must provide before anything can be built or run, reports everything missing at once, and
// installs it with a single call of apt-get where possible. Plain JavaScript without dependencies, because it runs
// before the packages are installed.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { BROWSERS, findBrowser, onPath, USRSCTP } from './find-browser.mjs';
import { findPython, PYTHON_NEEDED } from './python.mjs';

/** A problem that only the user can fix; its message says how. */
export class MissingPrerequisite extends Error {}

const OLDEST_NODE = '20.0.0';
/** What the crates in Cargo.lock need; also `rust-version` in Cargo.toml. */
export const OLDEST_RUST = '1.89.0';
/** Required by the modules we build, and able to download a newer toolchain if allowed. */
const OLDEST_GO = '1.26.0';
const OLDEST_GO_THAT_UPDATES = '1.21.0';
/** The extension's `strict_min_version`: an older one refuses to load it. */
export const OLDEST_FIREFOX = '153.0';

/** Runs a command attached to the terminal and prints its duration; throws MissingPrerequisite if it fails. */
export async function run(what, file, args, options) {
  process.stdout.write(`${what}: ${[file, ...args].join(' ')}\n`);
  const began = performance.now();
  const child = spawn(file, args, { stdio: 'inherit', ...options });
  const code = await new Promise((resolve) => {
    child.once('error', () => resolve(null));
    child.once('exit', resolve);
  });
  const elapsed = `${((performance.now() - began) / 1000).toFixed(1)} s`;
  if (code !== 0) throw new MissingPrerequisite(`${what} failed after ${elapsed}; see above.`);
  process.stdout.write(`${what}: done in ${elapsed}\n`);
}

/** A command's output, or else the problem: in the program's own words if it was found. */
export function outputOf(file, args) {
  return new Promise((resolve) => {
    execFile(file, args, { encoding: 'utf8' }, (error, stdout, stderr) => {
      if (error === null) return resolve({ output: stdout.trim(), problem: null });
      const lines = stderr.trim().split('\n');
      const words = lines[0] === '' ? error.message.split('\n') : lines;
      const problem =
        error.code === 'ENOENT' ? `${file} was not found` : `${file}: ${words.slice(0, 2).join('\n')}`;
      resolve({ output: null, problem });
    });
  });
}

/** The numbers in a command's version output. */
const numbersIn = (text) => text?.match(/\d+\.\d+(?:\.\d+)?/)?.[0] ?? null;

/** Compares number by number; 1.26 is 1.26.0. */
export function older(found, wanted) {
  const [a, b] = [found, wanted].map((version) => version.split('.').map(Number));
  for (let i = 0; i < Math.max(a.length, b.length); i += 1)
    if ((a[i] ?? 0) !== (b[i] ?? 0)) return (a[i] ?? 0) < (b[i] ?? 0);
  return false;
}

/** Null if it is present, otherwise what was found instead. */
async function rustProblem() {
  const rustup = join(homedir(), '.cargo', 'bin');
  if (onPath('cargo') === null && existsSync(join(rustup, 'cargo')))
    process.env.PATH = [process.env.PATH ?? '', rustup].join(delimiter);
  const { output, problem } = await outputOf('cargo', ['--version']);
  if (problem !== null) return problem;
  const found = numbersIn(output) ?? '0';
  return older(found, OLDEST_RUST) ? `cargo is ${found}` : null;
}

async function goProblem() {
  const { output, problem } = await outputOf('go', ['env', 'GOVERSION', 'GOTOOLCHAIN']);
  if (problem !== null) return problem;
  const [version, toolchain] = output.split('\n');
  const found = numbersIn(version) ?? '0';
  const oldest = toolchain?.startsWith('local') ? OLDEST_GO : OLDEST_GO_THAT_UPDATES;
  return older(found, oldest) ? `go is ${found}` : null;
}

/** Finds the browser and passes its path to everything started from here. */
function browserProblem(kind) {
  const { variable, names } = BROWSERS[kind];
  const found = findBrowser(kind);
  if (found !== null) {
    process.env[variable] = found;
    return null;
  }
  const chosen = process.env[variable];
  if (chosen) return `${variable} names ${chosen}, which does not exist`;
  return `no ${names[0]} on PATH; a Snap does not count, because it cannot start the helper`;
}

/** The version of a Firefox, from the file beside it if possible, because starting it takes a second. */
async function firefoxVersion(executable) {
  const settings = join(dirname(realpathSync(executable)), 'application.ini');
  const text = existsSync(settings)
    ? readFileSync(settings, 'utf8').match(/^Version=(.*)$/m)?.[1]
    : (await outputOf(executable, ['--version'])).output;
  return numbersIn(text);
}

async function firefoxProblem() {
  const problem = browserProblem('firefox');
  if (problem !== null) return problem;
  const executable = findBrowser('firefox');
  const found = await firefoxVersion(executable);
  return found !== null && older(found, OLDEST_FIREFOX) ? `${executable} is ${found}` : null;
}

const missingCommand = (name) => (onPath(name) === null ? `${name} was not found` : null);

/**
 * `problem` describes what is wrong, null for nothing; `packages` has the package by package manager, with `atLeast` as
 * the version the distribution must provide; `link` is for all other systems.
 */
const PREREQUISITES = {
  node: {
    title: `Node.js ${OLDEST_NODE.split('.')[0]} or newer`,
    problem: () => (older(process.versions.node, OLDEST_NODE) ? `this is ${process.versions.node}` : null),
    link: 'https://nodejs.org',
  },
  npm: {
    title: 'npm',
    problem: () => missingCommand('npm'),
    packages: { apt: ['npm'], dnf: ['nodejs-npm'], pacman: ['npm'], brew: ['node'] },
  },
  rust: {
    title: `Rust ${OLDEST_RUST} or newer`,
    problem: rustProblem,
    packages: {
      apt: ['cargo', 'rust-clippy', 'rustfmt'],
      dnf: ['cargo', 'clippy', 'rustfmt'],
      pacman: ['rust'],
      brew: ['rust'],
    },
    atLeast: OLDEST_RUST,
    link: 'https://rustup.rs',
  },
  cc: {
    title: 'a C compiler',
    problem: () => missingCommand('cc'),
    packages: { apt: ['build-essential'], dnf: ['gcc'], pacman: ['gcc'] },
    link: 'on macOS: xcode-select --install',
  },
  python: {
    title: PYTHON_NEEDED,
    problem: async () => ((await findPython()) === null ? 'none was found' : null),
    packages: { apt: ['python3', 'python3-venv'], dnf: ['python3'], pacman: ['python'], brew: ['python'] },
    link: 'https://www.python.org/downloads/',
  },
  go: {
    title: `Go ${OLDEST_GO.slice(0, -2)} or newer`,
    problem: goProblem,
    packages: { apt: ['golang-go'], dnf: ['golang'], pacman: ['go'], brew: ['go'] },
    atLeast: OLDEST_GO,
    link: 'https://go.dev/dl/',
  },
  chromium: {
    title: 'Chromium',
    problem: () => browserProblem('chromium'),
    packages: { apt: ['chromium'], dnf: ['chromium'], pacman: ['chromium'], brew: ['--cask', 'chromium'] },
    link: `or set ${BROWSERS.chromium.variable} to an executable`,
  },
  firefox: {
    title: `Firefox ESR or Developer Edition, ${OLDEST_FIREFOX.split('.')[0]} or newer`,
    problem: firefoxProblem,
    atLeast: OLDEST_FIREFOX,
    packages: {
      apt: ['firefox-esr'],
      pacman: ['firefox-developer-edition'],
      brew: ['--cask', 'firefox@developer-edition'],
    },
    link: `or set ${BROWSERS.firefox.variable} to an executable`,
  },
  iproute2: {
    title: 'iproute2',
    problem: () => (networksPossible() ? missingCommand('ip') : null),
    packages: { apt: ['iproute2'], dnf: ['iproute'], pacman: ['iproute2'] },
  },
  nftables: {
    title: 'nftables',
    problem: () => (networksPossible() ? missingCommand('nft') : null),
    packages: { apt: ['nftables'], dnf: ['nftables'], pacman: ['nftables'] },
  },
  usrsctp: {
    title: "usrsctp's example programs",
    problem: () => (networksPossible() && !existsSync(USRSCTP.client) ? 'they were not found' : null),
    packages: { apt: ['libusrsctp-examples'] },
    link: 'https://github.com/sctplab/usrsctp',
  },
  zsh: {
    title: 'zsh',
    problem: () => missingCommand('zsh'),
    packages: { apt: ['zsh'], dnf: ['zsh'], pacman: ['zsh'], brew: ['zsh'] },
  },
  fish: {
    title: 'fish',
    problem: () => missingCommand('fish'),
    packages: { apt: ['fish'], dnf: ['fish'], pacman: ['fish'], brew: ['fish'] },
  },
  root: {
    title: 'root on Linux',
    problem: () => (networksPossible() ? null : 'network namespaces need it'),
  },
};

/** Whether private networks are possible on this system at all. */
const networksPossible = () => process.platform === 'linux' && process.getuid() === 0;

/** What is lost without each optional prerequisite; the others are required. */
const LOST = {
  python: 'failures that aioquic provokes, and curl',
  go: 'what runs against Caddy and NATS, and the laboratory',
  firefox: 'everything in Firefox',
  iproute2: 'what runs on emulated networks',
  nftables: 'what runs on emulated networks',
  root: 'what runs on emulated networks',
  usrsctp: 'SCTP with another implementation',
  zsh: 'completion in zsh',
  fish: 'completion in fish',
};
const ALWAYS = ['node', 'npm'];
const RUST = ['rust', 'cc'];
const NETWORK = ['iproute2', 'nftables', 'root'];
/** An independent implementation of SCTP, which a spec needs. */
const PEERS = ['usrsctp'];
/** Completion is tested in the shells it supports; bash is assumed to be installed. */
const SHELLS = ['zsh', 'fish'];

/** The names of required and of optional prerequisites for a command and its selection. */
export function prerequisitesOf({ command, selection }, artefacts) {
  const need = [...ALWAYS];
  const want = [];
  if (artefacts.includes('rust')) need.push(...RUST);
  const drives = selection?.specs.length > 0;
  if (['start', 'bench', 'pictures'].includes(command) || drives) need.push('chromium');
  const measures = command === 'lab' && artefacts.includes('rust');
  if (measures) want.push('chromium');
  if (drives || command === 'lab') need.push('python');
  if (drives || measures) want.push('firefox', 'go', ...NETWORK);
  if (drives) want.push(...PEERS);
  if (command === 'bench') want.push(...NETWORK);
  if (command === 'test' && selection?.units.some(([workspace]) => workspace === 'native-host'))
    want.push(...SHELLS);
  if (command === 'build')
    for (const [artefact, name] of [
      ['python', 'python'],
      ['caddy', 'go'],
      ['go-peer', 'go'],
      ['nats-server', 'go'],
    ])
      if (artefacts.includes(artefact)) need.push(name);
  if (command === 'bench' && artefacts.includes('go-peer')) want.push('go');
  return { need, want };
}

const MANAGERS = {
  apt: { program: 'apt-get', install: 'apt-get install -y', root: true },
  dnf: { program: 'dnf', install: 'dnf install', root: true },
  pacman: { program: 'pacman', install: 'pacman -S', root: true },
  brew: { program: 'brew', install: 'brew install', root: false },
};

const managerHere = () =>
  Object.keys(MANAGERS).find((name) => onPath(MANAGERS[name].program) !== null) ?? null;

const isRoot = () => process.getuid?.() === 0;

/** Whether apt has the package, in a sufficient version and not as a transition to a snap. */
function aptHas(name, atLeast) {
  // Its labels are in the user's language.
  const options = { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } };
  const policy = spawnSync('apt-cache', ['policy', name], options).stdout ?? '';
  const candidate = policy.match(/Candidate: (?:\d+:)?(\S+)/)?.[1];
  if (candidate === undefined || candidate === '(none)' || candidate.includes('snap')) return false;
  return atLeast === undefined || !older(numbersIn(candidate) ?? '0', atLeast);
}

/** The packages that would provide it; null if none are known. */
function packagesFor(name, manager) {
  const { packages = {}, atLeast } = PREREQUISITES[name];
  const found = manager === null ? undefined : packages[manager];
  if (found === undefined) return null;
  if (manager === 'apt' && !aptListsEmpty() && !aptHas(found[0], atLeast)) return null;
  return found;
}

function aptListsEmpty() {
  const lists = '/var/lib/apt/lists';
  return !existsSync(lists) || !readdirSync(lists).some((name) => name.includes('_Packages'));
}

async function problemsOf({ need, want }) {
  const names = [...new Set([...need, ...want])];
  const found = await Promise.all(
    names.map(async (name) => ({
      name,
      problem: await PREREQUISITES[name].problem(),
      needed: need.includes(name),
    })),
  );
  return found.filter(({ problem }) => problem !== null);
}

const commandFor = (manager, packages) =>
  `${MANAGERS[manager].root && !isRoot() ? 'sudo ' : ''}${MANAGERS[manager].install} ${packages.join(' ')}`;

function describe({ name, problem, needed }, manager) {
  const { title, link } = PREREQUISITES[name];
  const packages = packagesFor(name, manager);
  const how = packages === null ? link : commandFor(manager, packages);
  const lost = needed ? '' : `; skipped without it: ${LOST[name] ?? 'what is measured with it'}`;
  const lines = [
    `  ${needed ? '✗' : '–'} ${title}${lost}`,
    ...problem.split('\n').map((line) => `      ${line}`),
  ];
  return [...lines, ...(how === undefined ? [] : [`      ${how}`])].map((line) => `${line}\n`).join('');
}

/** How apt-get is called here; null if it would ask a question that nobody can answer. */
function aptGet(onTerminal) {
  if (onPath('apt-get') === null) return null;
  if (isRoot()) return ['apt-get'];
  if (onPath('sudo') === null) return null;
  if (spawnSync('sudo', ['-n', 'true']).status === 0) return ['sudo', '-n', 'apt-get'];
  return onTerminal ? ['sudo', 'apt-get'] : null;
}

async function agreed(question) {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await lines.question(question);
  lines.close();
  return /^(?:y|yes|)$/i.test(answer.trim());
}

/** Installs the available packages with apt-get, if that is possible and, on a terminal, the user agrees. */
async function installAll(problems, yes) {
  const onTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const asks = onTerminal && !yes;
  const apt = aptGet(onTerminal);
  if (apt === null) return;
  const [file, ...args] = apt;
  const wanted = () => [...new Set(problems.flatMap(({ name }) => packagesFor(name, 'apt') ?? []))];
  if (wanted().length === 0) return;
  if (asks && !(await agreed(`\nInstall ${wanted().join(' ')} with apt-get now? [Y/n] `))) return;
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  try {
    if (aptListsEmpty())
      await run("reading the distribution's list of packages", file, [...args, 'update'], options);
    const packages = wanted();
    if (packages.length > 0)
      await run('installing what is missing', file, [...args, 'install', '-y', ...packages], options);
  } catch (error) {
    // Whether the result suffices is checked next.
    if (!(error instanceof MissingPrerequisite)) throw error;
    process.stdout.write(`${error.message}\n`);
  }
}

/**
 * Ensures that prerequisites are present: lists everything missing with instructions, and installs what it may. Throws
 * MissingPrerequisite if something required is missing afterwards.
 */
export async function insistOnPrerequisites(wanted, { yes = false } = {}) {
  const manager = managerHere();
  const tell = (problems, out) => {
    out.write(`Not found on this machine:\n${problems.map((each) => describe(each, manager)).join('')}`);
  };
  let problems = await problemsOf(wanted);
  if (problems.length === 0) return;
  tell(problems, process.stdout);
  const before = problems.length;
  await installAll(problems, yes);
  problems = await problemsOf(wanted);
  if (problems.length > 0 && problems.length < before) tell(problems, process.stdout);
  const needed = problems.filter((each) => each.needed);
  if (needed.length > 0)
    throw new MissingPrerequisite(
      `Install what is needed and run the command again: ${needed.map(({ name }) => PREREQUISITES[name].title).join(', ')}.`,
    );
}
