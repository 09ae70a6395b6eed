// What must be on the machine before anything of ours can be built or shown, how it is found, and what is said when it
// is not there. Plain JavaScript without dependencies, because it runs before the packages are installed.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { BROWSERS, findBrowser, onPath } from './find-browser.mjs';

/** Something that only the user can put right; its message says how. */
export class MissingPrerequisite extends Error {}

/** Edition 2024 came with this release. */
const OLDEST_RUST = '1.85.0';
/** Commands that make and shape networks, by the Debian package that has them. */
const NETWORK_TOOLS = { ip: 'iproute2', nft: 'nftables' };

/** Runs a command in view of the user, its duration named at the end; throws MissingPrerequisite when it fails. */
export async function run(what, file, args, options) {
  process.stdout.write(`${what}: ${[file, ...args].join(' ')}\n`);
  const began = Date.now();
  const child = spawn(file, args, { stdio: 'inherit', ...options });
  const code = await new Promise((resolve) => {
    child.once('error', () => resolve(null));
    child.once('exit', resolve);
  });
  const elapsed = `${((Date.now() - began) / 1000).toFixed(1)} s`;
  if (code !== 0) throw new MissingPrerequisite(`${what} failed after ${elapsed}; see above.`);
  process.stdout.write(`${what}: done in ${elapsed}\n`);
}

/** What `FILE --version` prints, null when it cannot be run. */
export function version(file) {
  const result = spawnSync(file, ['--version'], { encoding: 'utf8' });
  return result.status === 0 ? result.stdout.trim() : null;
}

function older(found, wanted) {
  return found.localeCompare(wanted, 'en', { numeric: true }) < 0;
}

/** Makes sure that cargo can be called by its name; looks where rustup puts it, too. */
export async function needRust() {
  const rustup = join(homedir(), '.cargo', 'bin');
  if (onPath('cargo') === null && existsSync(join(rustup, 'cargo')))
    process.env.PATH = [process.env.PATH ?? '', rustup].join(delimiter);
  const how = 'Get it from https://rustup.rs and run the command again.';
  const found = version('cargo')?.match(/\d+\.\d+\.\d+/)?.[0];
  if (found === undefined)
    throw new MissingPrerequisite(`Rust is needed to build the QUIC addon, and cargo was not found.\n${how}`);
  if (older(found, OLDEST_RUST))
    throw new MissingPrerequisite(`Rust ${OLDEST_RUST} or newer is needed; cargo is ${found}.\n${how}`);
  // The addon's builder names its target outright, and cargo shares nothing with a build that names none.
  const host = spawnSync('rustc', ['--print', 'host-tuple'], { encoding: 'utf8' });
  if (host.status === 0) process.env.CARGO_BUILD_TARGET ??= host.stdout.trim();
}

/** Finds the browser and names it to everything that is started from here; throws if the user names one that is not. */
function haveBrowser(kind) {
  const { variable } = BROWSERS[kind];
  const found = findBrowser(kind);
  const chosen = process.env[variable];
  if (found === null && chosen)
    throw new MissingPrerequisite(`${variable} names ${chosen}, which does not exist.`);
  if (found !== null) process.env[variable] = found;
  return found !== null;
}

/** How this user may call apt-get without being asked anything; null: not at all. */
function aptGet() {
  if (onPath('apt-get') === null) return null;
  if (process.getuid?.() === 0) return ['apt-get'];
  const passwordless = onPath('sudo') !== null && spawnSync('sudo', ['-n', 'true']).status === 0;
  return passwordless ? ['sudo', '-n', 'apt-get'] : null;
}

/** Whether apt knows a package of this name that is not a mere pointer to the snap. */
function aptHas(name) {
  const policy = spawnSync('apt-cache', ['policy', name], { encoding: 'utf8' }).stdout ?? '';
  const candidate = policy.match(/Candidate: (\S+)/)?.[1];
  return candidate !== undefined && candidate !== '(none)' && !candidate.includes('snap');
}

function aptListsEmpty() {
  const lists = '/var/lib/apt/lists';
  return !existsSync(lists) || !readdirSync(lists).some((name) => name.includes('_Packages'));
}

/** Lets apt-get install a package where it can without a question; `offered` is asked once its lists are there. */
export async function aptInstall(name, offered = () => true) {
  const apt = aptGet();
  if (apt === null) return;
  const [file, ...args] = apt;
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  process.stdout.write(`The package ${name} is missing.\n`);
  if (aptListsEmpty())
    await run("reading the distribution's list of packages", file, [...args, 'update'], options);
  if (offered()) await run(`installing ${name}`, file, [...args, 'install', '-y', name], options);
}

/** Makes sure that there is a Chromium, installing Debian's when that needs no question. */
export async function needChromium() {
  if (haveBrowser('chromium')) return;
  await aptInstall('chromium', () => aptHas('chromium'));
  if (haveBrowser('chromium')) return;
  throw new MissingPrerequisite(
    'Chromium is needed and was not found (a snap cannot load the extension or start the helper).\n' +
      "Install your distribution's package `chromium`, or set PHOTOFINISH_CHROMIUM to an executable.",
  );
}

/** Installs Chromium where that needs no question. Without one it is missing from the tables, which say so. */
export async function wantChromium() {
  if (haveBrowser('chromium')) return;
  await installOrGoOn('chromium', 'Chromium is not measured', () => aptHas('chromium'));
  haveBrowser('chromium');
}

/**
 * Makes sure of a Firefox that takes unsigned extensions for good, where that needs no question. Without one its tests
 * are skipped, each by name.
 */
export async function wantFirefox() {
  if (haveBrowser('firefox')) return;
  await installOrGoOn('firefox-esr', 'tests in Firefox are skipped', () => aptHas('firefox-esr'));
  haveBrowser('firefox');
}

/** Installs a package that is good to have; says what is lost without it. */
async function installOrGoOn(name, lost, offered) {
  try {
    await aptInstall(name, offered);
  } catch (error) {
    if (!(error instanceof MissingPrerequisite)) throw error;
    process.stdout.write(`${error.message}\nGoing on without: ${lost}.\n`);
  }
}

/**
 * Installs what networks of our own are made with, where they can be made at all: by root on Linux. Without it what
 * needs one is skipped and says so, and therefore nothing here is an error.
 */
export async function wantNetworkTools() {
  if (process.platform !== 'linux' || process.getuid() !== 0) return;
  for (const [command, name] of Object.entries(NETWORK_TOOLS)) {
    if (onPath(command) !== null) continue;
    await installOrGoOn(name, 'tests in network namespaces are skipped');
  }
}
