// The interface of a third-party server stack: it serves the same page as the others, and logs the protocol of each
// response, which is the reference for what Photofinish reports.
import { readFile } from 'node:fs/promises';
import { until } from '../browsers/browser.ts';
import { onPath } from '../run/find-browser.mjs';
import { answerOf, freePort, type Program, startProgram } from './program.ts';
import type { Certificate } from './start.ts';

/** Requested by the page on every visit. */
export const SCRIPTS = ['/1.js', '/2.js', '/3.js'];
export const PAGE = `<!doctype html><html lang="en"><title>Stack</title><link rel="icon" href="data:,">${SCRIPTS.map((path) => `<script src="${path}"></script>`).join('')}`;
export const HEADERS = { 'cache-control': 'no-store', 'timing-allow-origin': '*' };

export type ServedProtocol = 'h3' | 'h2' | 'http/1.1';

interface StackOptions {
  readonly host: string;
  readonly certificate: Certificate;
  readonly caPath: string;
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
  configure: (options: StackOptions & { readonly port: number }) => Promise<ServerProgram>,
): Stack['start'] {
  return async (options) => {
    const port = await freePort();
    const { version, h3, log, versionOf, ...program } = await configure({ ...options, port });
    const ready = async () => {
      const headers = await answerOf({ ...options, port });
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
