// The entry point of every npm script: plain JavaScript for whatever Node is installed. It parses the command line,
// checks prerequisites, installs the npm packages, and then runs the TypeScript command with the pinned Node.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  aboutProgram,
  artefactsFor,
  BadUsage,
  COMMANDS,
  isOnCi,
  listOf,
  programFile,
  readCommandLine,
  scriptOf,
  usageOf,
} from './command-lines.mjs';
import { insistOnPrerequisites, MissingPrerequisite, prerequisitesOf, run } from './prerequisites.mjs';

const TOP = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const BIN = join(TOP, 'node_modules', '.bin');
const RUNTIME = join(BIN, 'node');
/** npm's own record of what it has installed. */
const INSTALLED = join(TOP, 'node_modules', '.package-lock.json');

/**
 * Of the executable that the package `node` fetches with a script of its own, which no lock file covers; for version
 * 24.21.0. Other systems have no digest here.
 */
const NODE_SHA256 = {
  'linux-x64': '7fde7b8afa198da66257f42ee2001d874c7355631e6d1579a5fb5ef1f246df4c',
  'linux-arm64': '0f8949d1028f6d61506b2d5bc57e7e6fe893d7b1997509b7847294fc9c616584',
};

function readLock(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch {
    return null;
  }
}

/**
 * Whether node_modules matches package-lock.json, by npm's own record of what it installed. Packages for other
 * platforms are optional in the lock file and absent from the record.
 */
function packagesInstalled() {
  const wanted = readLock(join(TOP, 'package-lock.json'));
  const present = readLock(INSTALLED);
  if (wanted === null || present === null) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (!path.startsWith('node_modules/') || entry.optional) return true;
    const found = present[path];
    return found !== undefined && found.version === entry.version && found.integrity === entry.integrity;
  });
}

/** The SHA-256 of the installed Node where it is not the pinned one; null if it is, or if none is pinned here. */
function foreignRuntime() {
  const expected = NODE_SHA256[`${process.platform}-${process.arch}`];
  if (expected === undefined || !existsSync(RUNTIME)) return null;
  const digest = createHash('sha256')
    .update(readFileSync(realpathSync(RUNTIME)))
    .digest('hex');
  return digest === expected ? null : digest;
}

function runtimeWorks() {
  if (!existsSync(RUNTIME)) return false;
  const wanted = readLock(join(TOP, 'package-lock.json'))?.['node_modules/node']?.version;
  return spawnSync(RUNTIME, ['--version'], { encoding: 'utf8' }).stdout?.trim() === `v${wanted}`;
}

async function needPackages() {
  if (packagesInstalled() && runtimeWorks()) return;
  // npm is about to replace the directory whose `node` it would otherwise find first.
  const path = (process.env.PATH ?? '').split(delimiter).filter((dir) => dir !== BIN);
  await run(
    'installing the npm packages',
    'npm',
    ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: TOP,
      env: { ...process.env, PATH: path.join(delimiter) },
    },
  );
  if (!packagesInstalled())
    throw new MissingPrerequisite(
      'npm ci left out packages of package-lock.json; see its settings (`npm config ls`).',
    );
  // Before it is started for the first time.
  const digest = foreignRuntime();
  if (digest !== null) {
    // Without npm's record the next command installs again instead of starting it.
    rmSync(INSTALLED, { force: true });
    throw new MissingPrerequisite(
      `The Node that the package "node" fetched is not the pinned one: its SHA-256 is ${digest}.`,
    );
  }
  if (!runtimeWorks())
    throw new MissingPrerequisite(
      'npm ci did not bring the pinned Node (package "node").\n' +
        'Its install script must be allowed to run: try `npm ci --ignore-scripts=false`.',
    );
}

/** Runs a file with the pinned Node; returns the exit code. */
function handOver(file, args) {
  const path = [BIN, process.env.PATH ?? ''].join(delimiter);
  const child = spawn(RUNTIME, [file, ...args], {
    cwd: TOP,
    stdio: 'inherit',
    env: { ...process.env, PATH: path },
  });
  // The child handles the signal; this process only must not exit first.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}

/** Help for a program: what it measures, and its own usage if it can be run. */
async function helpWith({ command, program }) {
  if (program === undefined || program === 'all') return void process.stdout.write(`${usageOf(command)}\n`);
  process.stdout.write(`${aboutProgram(command, program)}\n\n`);
  if (command === 'lab' && runtimeWorks()) return handOver(programFile(command, program), ['--help']);
  process.stdout.write(
    `usage: npm run ${command} -- ${program}${command === 'lab' ? ' [ARGUMENT...]' : ''}\n`,
  );
}

async function main() {
  const [command = '', ...args] = process.argv.slice(2);
  if (!COMMANDS.includes(command)) {
    process.stderr.write(`usage: npm run ${COMMANDS.join('|')} [-- ARGUMENT...]\n`);
    return 2;
  }
  const asked = readCommandLine(command, args);
  if (asked.help) return (await helpWith(asked)) ?? 0;
  if (asked.list) {
    process.stdout.write(
      `${['bench', 'lab'].includes(command) ? `${usageOf(command).split('\n')[0]}\n\n` : ''}${listOf(command)}\n`,
    );
    return 0;
  }
  await insistOnPrerequisites(prerequisitesOf(asked, artefactsFor(asked)), { yes: asked.yes || isOnCi() });
  await needPackages();
  // Profiles, caches and results of all scripts: contains browsing history, so private to this user.
  mkdirSync(join(TOP, '.photofinish'), { recursive: true, mode: 0o700 });
  const [file, ...words] = scriptOf(command);
  return handOver(join(TOP, file), [...words, ...args]);
}

try {
  process.exitCode = await main();
} catch (error) {
  if (error instanceof BadUsage) {
    process.stderr.write(`${error.message}\n\n${usageOf(process.argv[2])}\n`);
    process.exitCode = 2;
  } else if (error instanceof MissingPrerequisite) {
    process.stderr.write(`\n${error.message}\n`);
    process.exitCode = 1;
  } else throw error;
}
