// The Python environment of tests and benchmarks: HTTP/3 stacks by other hands, in a directory of the checkout's own.
// Plain JavaScript without dependencies, because it runs before the packages are installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { aptInstall, MissingPrerequisite, run } from './prerequisites.mjs';

const E2E = dirname(dirname(fileURLToPath(import.meta.url)));
const SCRATCH = join(dirname(E2E), '.photofinish');
const ENVIRONMENT = join(SCRATCH, 'python');
const REQUIREMENTS = join(E2E, 'requirements.txt');
/** Digest of the requirements that the environment was made from. */
const MADE_FROM = join(ENVIRONMENT, 'made-from');

/** What the pinned aioquic asks for. */
const OLDEST_MINOR = 11;
/** `python3` is the old one where a newer was installed beside it. */
const NAMES = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11'];
/** Debian splits the last two from Python itself. */
const SUFFICES = `import sys, ensurepip, venv; sys.exit(sys.version_info < (3, ${OLDEST_MINOR}))`;

function findPython() {
  return NAMES.find((name) => spawnSync(name, ['-c', SUFFICES]).status === 0) ?? null;
}

function isCurrent(digest) {
  try {
    return readFileSync(MADE_FROM, 'utf8') === digest;
  } catch {
    return false;
  }
}

/** Makes sure that the environment is there and holds exactly what is pinned, downloading it from PyPI if not. */
export async function needPython() {
  const digest = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex');
  if (isCurrent(digest)) return;
  if (findPython() === null) await aptInstall('python3-venv');
  const python = findPython();
  if (python === null)
    throw new MissingPrerequisite(
      `Python 3.${OLDEST_MINOR} or newer is needed for HTTP/3 peers, with its modules venv and ensurepip.\n` +
        "Install it with your distribution's packages (Debian's are `python3` and `python3-venv`).",
    );
  mkdirSync(SCRATCH, { recursive: true, mode: 0o700 });
  await run('making a Python environment for the tests', python, ['-m', 'venv', '--clear', ENVIRONMENT]);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input'];
  await run('installing aioquic and libcurl from PyPI', join(ENVIRONMENT, 'bin', 'python'), [
    ...pip,
    '--require-hashes',
    '--requirement',
    REQUIREMENTS,
  ]);
  writeFileSync(MADE_FROM, digest);
}
