// The Python environment of tests and benchmarks: HTTP/3 stacks by other hands, in a directory of the checkout's own;
// with which Python it is made, and how. Plain JavaScript without dependencies, because the prerequisites are looked for
// before the packages are installed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const E2E = dirname(dirname(fileURLToPath(import.meta.url)));
const ENVIRONMENT = join(dirname(E2E), '.photofinish', 'python');
const REQUIREMENTS = join(E2E, 'requirements.txt');
/** Digest of the requirements that the environment was made from. */
const MADE_FROM = join(ENVIRONMENT, 'made-from');

/** What the pinned aioquic asks for. */
const OLDEST_MINOR = 11;
/** `python3` is the old one where a newer was installed beside it. */
const NAMES = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11'];
/** Debian splits the last two from Python itself. */
const SUFFICES = `import sys, ensurepip, venv; sys.exit(sys.version_info < (3, ${OLDEST_MINOR}))`;

/** What is needed, as it is told to whoever has none. */
export const PYTHON_NEEDED = `Python 3.${OLDEST_MINOR} or newer with its modules venv and ensurepip`;

function suffices(name) {
  return new Promise((resolve) => {
    const child = spawn(name, ['-c', SUFFICES], { stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}

/** The name of a Python that the environment can be made with; null when there is none. */
export async function findPython() {
  const sufficient = await Promise.all(NAMES.map(suffices));
  return NAMES.find((_, index) => sufficient[index]) ?? null;
}

const digest = () => createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex');

/** Whether the environment is there and holds exactly what is pinned. */
export function isPythonCurrent() {
  try {
    return readFileSync(MADE_FROM, 'utf8') === digest();
  } catch {
    return false;
  }
}

/** The commands that make the environment, in their order; the packages come from PyPI. */
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

/** Notes what the environment holds, once it is made. */
export function recordPython() {
  writeFileSync(MADE_FROM, digest());
}
