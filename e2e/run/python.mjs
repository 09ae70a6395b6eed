// The Python environment of tests and benchmarks, with third-party HTTP/3 stacks, in the checkout: which Python creates
// it, and how. Plain JavaScript without dependencies, because prerequisites are checked before the packages are
// installed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const E2E = dirname(dirname(fileURLToPath(import.meta.url)));
const ENVIRONMENT = join(dirname(E2E), '.photofinish', 'python');
const REQUIREMENTS = join(E2E, 'requirements.txt');
/** Digest of the requirements from which the environment was created. */
const MADE_FROM = join(ENVIRONMENT, 'made-from');

/** Required by the pinned aioquic. */
const OLDEST_MINOR = 11;
/** `python3` may be an older one than a version installed in addition. */
const NAMES = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11'];
/** Debian packages the last two separately from Python. */
const SUFFICES = `import sys, ensurepip, venv; sys.exit(sys.version_info < (3, ${OLDEST_MINOR}))`;

/** The requirement, as shown to users who lack it. */
export const PYTHON_NEEDED = `Python 3.${OLDEST_MINOR} or newer with its modules venv and ensurepip`;

function suffices(name) {
  return new Promise((resolve) => {
    const child = spawn(name, ['-c', SUFFICES], { stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}

/** The name of a Python that can create the environment; null if there is none. */
export async function findPython() {
  const sufficient = await Promise.all(NAMES.map(suffices));
  return NAMES.find((_, index) => sufficient[index]) ?? null;
}

const digest = () => createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex');

/** Whether the environment exists and contains exactly the pinned packages. */
export function isPythonCurrent() {
  try {
    return readFileSync(MADE_FROM, 'utf8') === digest();
  } catch {
    return false;
  }
}

/** The commands that create the environment, in order; the packages come from PyPI. */
export function pythonCommands(python) {
  const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', '--no-input', '--progress-bar=off'];
  return [
    { file: python, args: ['-m', 'venv', '--clear', ENVIRONMENT] },
    {
      file: join(ENVIRONMENT, 'bin', 'python'),
      args: [...pip, '--require-hashes', '--requirement', REQUIREMENTS],
    },
  ];
}

/** Records the contents of the environment after it was created. */
export function recordPython() {
  writeFileSync(MADE_FROM, digest());
}
