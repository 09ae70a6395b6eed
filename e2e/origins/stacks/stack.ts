// What is asked of a server stack by other hands: the same page as the others, and a log of its own of what it answered
// over which protocol, by which what Photofinish says of it is judged.
import { readFile } from 'node:fs/promises';
import type { Certificate } from '../start.ts';

/** What the page asks for, at each visit anew. */
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
  /** Of the page; `/` unless said. */
  readonly path?: string;
  /** As it says it. */
  readonly version: string;
  /** Whether this build of it speaks HTTP/3. */
  readonly h3: boolean;
  /** The protocol of each request that it has answered so far. */
  served(): Promise<readonly ServedProtocol[]>;
  stop(): Promise<void>;
}

export interface Stack {
  readonly name: string;
  /** Why it cannot run here; null: it can. */
  absent(): string | null;
  /** The machine's own, which nobody needs to have. */
  readonly optional?: true;
  start(options: StackOptions): Promise<RunningStack>;
}

/** As servers write versions of HTTP. */
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

/**
 * Reads a log from where it is now on: what saw the server start is not counted. `versionOf` gives a line's version of
 * HTTP; null: the line is of no request.
 */
export async function logFrom(file: string, versionOf: (line: string) => string | null) {
  const versions = async () => {
    const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
    return lines.map(versionOf).filter((version) => version !== null);
  };
  const before = (await versions()).length;
  return async () => (await versions()).slice(before).map(protocolOf);
}
