// What every npm script enters first: plain JavaScript for whatever Node is installed. It makes the checkout ready
// (packages, Rust, browsers, peers), saying what it does, and then hands over to the TypeScript command under the pinned
// Node.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  MissingPrerequisite,
  needChromium,
  needRust,
  run,
  version,
  wantChromium,
  wantFirefox,
  wantNetworkTools,
} from './prerequisites.mjs';
import { needPython } from './python.mjs';

const TOP = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const BIN = join(TOP, 'node_modules', '.bin');
const RUNTIME = join(BIN, 'node');

/** Which commands exist, and what each needs beside the packages. */
const NEEDS = {
  build: [needRust],
  check: [needRust],
  package: [needRust],
  test: [needRust, needChromium, wantFirefox, needPython, wantNetworkTools],
  start: [needRust, needChromium],
  bench: [needRust, needChromium, wantNetworkTools],
  lab: [needRust, wantChromium, wantFirefox, needPython, wantNetworkTools],
  pictures: [needRust, needChromium],
};

function readLock(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch {
    return null;
  }
}

/**
 * Whether node_modules holds what package-lock.json asks for, by npm's own record of what it installed. Packages for
 * other platforms are optional in the lock file and absent from the record.
 */
function packagesInstalled() {
  const wanted = readLock(join(TOP, 'package-lock.json'));
  const present = readLock(join(TOP, 'node_modules', '.package-lock.json'));
  if (wanted === null || present === null) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (!path.startsWith('node_modules/') || entry.optional) return true;
    const found = present[path];
    return found !== undefined && found.version === entry.version && found.integrity === entry.integrity;
  });
}

function runtimeWorks() {
  const wanted = readLock(join(TOP, 'package-lock.json'))?.['node_modules/node']?.version;
  return existsSync(RUNTIME) && version(RUNTIME) === `v${wanted}`;
}

async function needPackages() {
  if (packagesInstalled() && runtimeWorks()) return;
  // npm is about to replace the very directory whose `node` it would otherwise find first.
  const path = (process.env.PATH ?? '').split(delimiter).filter((dir) => dir !== BIN);
  await run('installing the npm packages', 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: TOP,
    env: { ...process.env, PATH: path.join(delimiter) },
  });
  if (!runtimeWorks())
    throw new MissingPrerequisite(
      'npm ci did not bring the pinned Node (package "node").\n' +
        'Its install script must be allowed to run: try `npm ci --ignore-scripts=false`.',
    );
}

/** Runs the command under the pinned Node; gives the code to exit with. */
function handOver(command, args) {
  const path = [BIN, process.env.PATH ?? ''].join(delimiter);
  const child = spawn(RUNTIME, [join(TOP, 'e2e', 'run', `${command}.ts`), ...args], {
    cwd: TOP,
    stdio: 'inherit',
    env: { ...process.env, PATH: path },
  });
  // The child decides how to end; this process only must not go first.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}

async function main() {
  const [command, ...args] = process.argv.slice(2);
  if (!Object.hasOwn(NEEDS, command ?? '')) {
    process.stderr.write(`usage: npm run ${Object.keys(NEEDS).join('|')} [-- ARGUMENT...]\n`);
    return 2;
  }
  await needPackages();
  for (const need of NEEDS[command]) await need();
  // Profiles, caches and results of whatever runs; browsing history, so nobody else's to read.
  mkdirSync(join(TOP, '.photofinish'), { recursive: true, mode: 0o700 });
  return handOver(command, args);
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof MissingPrerequisite)) throw error;
  process.stderr.write(`\n${error.message}\n`);
  process.exitCode = 1;
}
