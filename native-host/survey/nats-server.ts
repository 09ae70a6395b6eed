// The private NATS server of `survey run`: on loopback, with a token that only this user can read, its data beside the
// archive. It must be installed; nothing is downloaded.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import { Complaint, EXIT_FAILED } from '../cli/usage.ts';
import { DISK } from '../install/machine.ts';
import { makePrivateDirectory } from '../paths.ts';

const PROGRAM = 'nats-server';
const CONFIG = 'server.conf';
const PID_FILE = 'server.pid';
/** The process that started it. */
const OWNER_FILE = 'owner.pid';
const START_TIMEOUT_MS = 10_000;
const POLL_MS = 25;

/** The program on PATH, or where `go install` puts it; null if there is none. */
function findServer(): string | null {
  const directories = [...(process.env.PATH ?? '').split(delimiter), join(homedir(), 'go/bin')];
  return directories.map((dir) => join(dir, PROGRAM)).find(DISK.mayRun) ?? null;
}

const NOT_FOUND =
  'a survey needs a NATS server, and none is on PATH: install it with "go install github.com/nats-io/nats-server/v2@latest" or from https://nats.io/download, or name one with --server';

/** Syncs every message: by default an acknowledged one may be lost for up to two minutes after it. */
function configOf(dir: string, token: string): string {
  const quoted = (text: string): string => JSON.stringify(text);
  return `listen: "127.0.0.1:-1"
ports_file_dir: ${quoted(dir)}
pid_file: ${quoted(join(dir, PID_FILE))}
authorization { token: ${quoted(token)} }
jetstream { store_dir: ${quoted(join(dir, 'store'))}, sync_interval: always }
`;
}

const portsSchema = v.object({ nats: v.pipe(v.array(v.string()), v.minLength(1)) });

async function urlOf(dir: string, child: ChildProcess, output: () => string): Promise<string> {
  const file = join(dir, `${PROGRAM}_${child.pid}.ports`);
  for (let waitedMs = 0; waitedMs < START_TIMEOUT_MS && child.exitCode === null; waitedMs += POLL_MS) {
    try {
      const [url = ''] = v.parse(portsSchema, JSON.parse(readFileSync(file, 'utf8'))).nats;
      return url;
    } catch {
      await delay(POLL_MS);
    }
  }
  const why = output().trim().split('\n').at(-1) || `it wrote no ${file}`;
  throw new Complaint('no-server', `the NATS server did not start: ${why}`, EXIT_FAILED);
}

/**
 * Stops the server left behind by an earlier run that was killed: two would damage each other's data. Throws a
 * Complaint if that run is still alive.
 */
async function endFormer(dir: string): Promise<void> {
  const owner = readPid(join(dir, OWNER_FILE));
  if (owner !== null && owner !== process.pid && commandLineOf(owner).includes('survey'))
    throw new Complaint(
      'bad-directory',
      `process ${owner} is running a survey into ${dirname(dir)}`,
      EXIT_FAILED,
    );
  const pid = readPid(join(dir, PID_FILE));
  const config = join(dir, CONFIG);
  // Another program may have the number by now; a server has our configuration among its arguments.
  if (pid === null || !commandLineOf(pid).includes(config)) return;
  process.kill(pid, 'SIGTERM');
  while (commandLineOf(pid).includes(config)) await delay(POLL_MS);
}

function readPid(path: string): number | null {
  const pid = Number(readFileIfAny(path).trim());
  return Number.isSafeInteger(pid) && pid > 1 ? pid : null;
}

/** Empty if there is no such process. Throws a Complaint if there is one and its command line cannot be read. */
function commandLineOf(pid: number): string {
  // Not every Linux has a ps, nor every ps these options.
  if (process.platform === 'linux') return readFileIfAny(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
  const { error, stdout } = spawnSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  if (error === undefined) return stdout;
  if (!isAlive(pid)) return '';
  throw new Complaint(
    'bad-directory',
    `process ${pid} may be running a survey or its server here, and ps, which would tell, cannot be run: end it, or remove ${OWNER_FILE} and ${PID_FILE}`,
    EXIT_FAILED,
  );
}

function readFileIfAny(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Starts a server with its data in `dir`. Throws a Complaint if none is found or it does not start. */
export async function startServer(dir: string) {
  const program = findServer();
  if (program === null) throw new Complaint('no-server', NOT_FOUND, EXIT_FAILED);
  makePrivateDirectory(dir);
  await endFormer(dir);
  const token = randomBytes(24).toString('base64url');
  const config = join(dir, CONFIG);
  writeFileSync(config, configOf(dir, token), { mode: 0o600 });
  writeFileSync(join(dir, OWNER_FILE), `${process.pid}\n`);
  // In a process group of its own: an interrupt from the keyboard is for us, who still need it.
  const child = spawn(program, ['-c', config], { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-4000);
  });
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let over = false;
  const end = (): void => {
    over = true;
    resolve();
  };
  child.once('exit', end).once('error', (error) => {
    output += error.message;
    end();
  });
  const endWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  const stop = async (): Promise<void> => {
    process.off('exit', endWithUs);
    child.kill('SIGTERM');
    await ended;
  };
  try {
    const url = await urlOf(dir, child, () => output);
    return {
      url,
      token,
      /** Resolves when it ends, whoever ended it. */
      ended,
      hasEnded: () => over,
      /** Ends it, and waits until it has. */
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
