// The interface of a server stack, which serves the same page as the others and logs the protocol of each response, the
// reference for what Photofinish reports; and how third-party servers are run, until this process ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { get } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { until } from '../browsers/browser.ts';
import { onPath } from '../run/find-browser.mjs';
import { type Authority, type Certificate, certificateOf, type RunningOrigin } from './start.ts';

const START_TIMEOUT_MS = 60_000;
/** UDP and TCP ports are allocated independently, so finding a number free on both may take several tries. */
const PORT_DRAWS = 50;

interface Program {
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
  /** Sends it that signal, SIGTERM by default, and resolves once it has ended. */
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
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const stop = async (signal?: NodeJS.Signals) => {
    process.off('exit', endWithUs);
    if (hasEnded()) return;
    child.kill(signal);
    await once(child, 'exit');
  };
  const outcome = await until(
    async () => (hasEnded() ? 'ended' : (await ready(pid)) && 'ready'),
    START_TIMEOUT_MS,
  );
  if (outcome !== 'ready') {
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

/** The headers of an HTTP/1.1 response of that host, from a server on loopback; null if there is none. */
export async function answerOf({
  host,
  port,
  caPath,
}: Pick<RunningOrigin, 'host' | 'port'> & Pick<Authority, 'caPath'>) {
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

/** Requested by the page on every visit. */
export const SCRIPTS = ['/1.js', '/2.js', '/3.js'];
export const PAGE = `<!doctype html><html lang="en"><title>Stack</title><link rel="icon" href="data:,">${SCRIPTS.map((path) => `<script src="${path}"></script>`).join('')}`;
export const HEADERS = { 'cache-control': 'no-store', 'timing-allow-origin': '*' };

export type ServedProtocol = 'h3' | 'h2' | 'http/1.1';

interface StackOptions {
  readonly host: string;
  readonly certifiedBy: Authority;
  /** An empty directory for its files. */
  readonly dir: string;
}

interface RunningStack {
  readonly port: number;
  /** Of the page; default: `/`. */
  readonly path?: string;
  /** As reported by the server. */
  readonly version: string;
  /** Whether this build of it speaks HTTP/3. */
  readonly h3: boolean;
  /** The protocol of each request answered so far. */
  served(): Promise<readonly ServedProtocol[]>;
  stop(): Promise<void>;
}

export interface Stack {
  readonly name: string;
  /** Why it cannot run here; null if it can. */
  absent(): string | null;
  /** Installed on the system, and not required to be. */
  readonly optional?: true;
  start(options: StackOptions): Promise<RunningStack>;
}

/** HTTP versions as servers log them. */
const PROTOCOLS: Readonly<Record<string, ServedProtocol>> = {
  'HTTP/3': 'h3',
  'HTTP/3.0': 'h3',
  '3': 'h3',
  'HTTP/2': 'h2',
  'HTTP/2.0': 'h2',
  '2': 'h2',
  'HTTP/1.1': 'http/1.1',
  '1.1': 'http/1.1',
};

export function protocolOf(version: string): ServedProtocol {
  const protocol = PROTOCOLS[version];
  if (protocol === undefined) throw new Error(`a server logged the version ${version}`);
  return protocol;
}

/** For a server on a busy machine to log what it has answered. */
const LOGGED_WITHIN_MS = 30_000;

/**
 * Reads a log from its current end: requests made while waiting for the server's start are not counted, of which at
 * least one was answered. `versionOf` returns a line's HTTP version, or null if the line is not about a request.
 */
export async function logFrom(file: string, versionOf: (line: string) => string | null) {
  const versions = async () => {
    const text = await readFile(file, 'utf8');
    // The last line may not be complete yet.
    const lines = text
      .split('\n')
      .slice(0, -1)
      .filter((line) => line !== '');
    return lines.map(versionOf).filter((version) => version !== null);
  };
  const logged = async () => (await versions()).length;
  // An answer may arrive before its line is written.
  await until(logged, LOGGED_WITHIN_MS);
  const before = await logged();
  return async () => (await versions()).slice(before).map(protocolOf);
}

/** How a server is started that is a program with a log of its own. */
interface ServerProgram extends Pick<Program, 'file' | 'args' | 'cwd' | 'env'> {
  readonly version: string;
  readonly h3: boolean;
  readonly log: string;
  /** As for `logFrom`. */
  readonly versionOf: (line: string) => string | null;
}

/** A server on a port of loopback; it is ready once it answers, and once it advertises HTTP/3 if it speaks that. */
export function startLogging(
  name: string,
  configure: (
    options: StackOptions & { readonly certificate: Certificate; readonly port: number },
  ) => Promise<ServerProgram>,
): Stack['start'] {
  return async (options) => {
    const port = await freePort();
    const { host, certifiedBy } = options;
    const certificate = certificateOf(certifiedBy, host);
    const { version, h3, log, versionOf, ...program } = await configure({ ...options, certificate, port });
    const ready = async () => {
      const headers = await answerOf({ host, port, caPath: certifiedBy.caPath });
      return headers !== null && (!h3 || headers['alt-svc'] !== undefined);
    };
    const { stop } = await startProgram({ name, ...program, ready });
    return { port, version, h3, served: await logFrom(log, versionOf), stop };
  };
}

/** A stack that may be installed, as that command. */
export function installed(
  name: string,
  command: string,
  configure: Parameters<typeof startLogging>[1],
): Stack {
  return {
    name,
    optional: true,
    absent: () => (onPath(command) === null ? `no ${command} on PATH` : null),
    start: startLogging(name, configure),
  };
}
