// Runs third-party servers as child processes: chooses a port, starts them, and ends them with this process.
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { get } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

const START_TIMEOUT_MS = 60_000;
const POLL_MS = 20;
/** UDP and TCP ports are allocated independently, so finding a number free on both may take several tries. */
const PORT_DRAWS = 50;

export interface Program {
  /** The name used in messages. */
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Default: this process's. */
  readonly cwd?: string;
  /** Starts the process elsewhere, for example in a network namespace. */
  readonly spawn?: (
    file: string,
    args: readonly string[],
    options: { stdio: ['ignore', 'ignore', 'pipe']; env: NodeJS.ProcessEnv; cwd?: string },
  ) => ChildProcess;
  /** Whether it accepts requests. */
  readonly ready: (pid: number) => boolean | Promise<boolean>;
}

export interface RunningProgram {
  readonly pid: number;
  /** Sends it that signal, SIGTERM unless told otherwise, and resolves once it has ended. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/**
 * Starts a program and resolves once it is ready; it ends with `stop`, and with this process. Throws with its error
 * output if it exits before that, or is not ready within a minute.
 */
export async function startProgram(program: Program): Promise<RunningProgram> {
  const { name, file, args, ready } = program;
  const start = program.spawn ?? spawn;
  const child = start(file, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...program.env },
    ...(program.cwd !== undefined && { cwd: program.cwd }),
  });
  if (child.stderr === null || child.pid === undefined) throw new Error(`${name} cannot be started`);
  const { pid } = child;
  const complaints = text(child.stderr);
  const endWithUs = () => child.kill();
  process.once('exit', endWithUs);
  const stop = async (signal?: NodeJS.Signals) => {
    process.off('exit', endWithUs);
    await ended(child, signal);
  };
  if (!(await comesTrue(() => ready(pid), child))) {
    await stop();
    throw new Error(`${name} did not start:\n${await complaints}`);
  }
  return { pid, stop };
}

/** A port number currently free for TCP and UDP. */
export async function freePort(): Promise<number> {
  for (let draw = 0; draw < PORT_DRAWS; draw += 1) {
    const tcp = createServer().listen(0, '127.0.0.1');
    await once(tcp, 'listening');
    const { port } = tcp.address() as AddressInfo;
    const udp = createSocket('udp4');
    const free = once(udp, 'listening').then(
      () => true,
      () => false,
    );
    udp.bind(port, '127.0.0.1');
    const found = await free;
    udp.close();
    tcp.close();
    if (found) return port;
  }
  throw new Error('No port is free for both TCP and UDP.');
}

async function comesTrue(ready: () => boolean | Promise<boolean>, child: ChildProcess): Promise<boolean> {
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  while (child.exitCode === null && performance.now() < deadlineMs) {
    if (await ready()) return true;
    await pause(POLL_MS);
  }
  return false;
}

/** Address, host name and expected certificate authority of a request to a server. */
export interface ReachableServer {
  readonly host: string;
  readonly port: number;
  readonly caPath: string;
}

/** The headers of its HTTP/1.1 response; null if there is none. */
export async function answerOf({ host, port, caPath }: ReachableServer) {
  const ca = await readFile(caPath);
  const request = get({ host: '127.0.0.1', port, servername: host, ca, agent: false, headers: { host } });
  try {
    const [response] = await once(request, 'response');
    response.resume();
    return response.headers as Readonly<Record<string, string | string[] | undefined>>;
  } catch {
    return null;
  }
}

async function ended(child: ChildProcess, signal?: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}
