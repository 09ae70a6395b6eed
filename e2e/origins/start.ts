// Starts real origins on loopback, one for each way a site can treat HTTP/3, and stops them again.
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { rustProgram } from '../rust-programs.ts';
import { scratchDirectory } from '../scratch.ts';

const BINARY = rustProgram('photofinish-origin');

/** What one origin speaks, advertises and hides. */
export interface OriginSettings {
  /** Any name; browsers are told to find it here. */
  host: string;
  /** For UDP and TCP alike; 0, the default, takes a free one. */
  port?: number;
  /** 127.0.0.1 unless said; `::` is every address of both families. */
  address?: string;
  /** Whether it listens on UDP and speaks HTTP/3. */
  h3: boolean;
  /** Whether it listens on TCP at all; true unless said. */
  tcp?: boolean;
  /** ALPN names on TCP in the server's order; HTTP/2 and HTTP/1.1 unless said. */
  protocols?: readonly ('h2' | 'http/1.1')[];
  /** The Alt-Svc field (RFC 7838); `auto` advertises HTTP/3 on the origin's own port; none unless said. */
  altSvc?: string | null;
  /** Whether pages elsewhere may see its timing, and so its protocol; true unless said. */
  timingAllowOrigin?: boolean;
  /** How long every answer is held back; 0 unless said. */
  answerDelayMs?: number;
  /** A text of this length takes the place of its index page. */
  bodyBytes?: number;
}

/** One origin for each way a site can treat HTTP/3. */
export const ORIGIN_KINDS = {
  /** Speaks HTTP/3 and HTTP/2, and advertises HTTP/3. */
  both: { host: 'both.test', h3: true, altSvc: 'auto' },
  /** Speaks HTTP/2 and HTTP/1.1, and promises no more. */
  h2only: { host: 'h2only.test', h3: false },
  /** Advertises HTTP/3 on a UDP port that refuses. */
  advertiseOnly: { host: 'advertise-only.test', h3: false, altSvc: 'auto' },
  /** Speaks HTTP/3, but tells nobody. */
  silent: { host: 'silent.test', h3: true },
  /** As `both`, but hides its timing from other origins' pages. */
  hidden: { host: 'hidden.test', h3: true, altSvc: 'auto', timingAllowOrigin: false },
  /** Speaks HTTP/1.1 alone. */
  h1only: { host: 'h1only.test', h3: false, protocols: ['http/1.1'] },
} as const satisfies Record<string, OriginSettings>;

/** A request as its server saw it. */
export interface SeenRequest {
  origin: string;
  path: string;
  protocol: 'HTTP/3' | 'HTTP/2' | 'HTTP/1.1';
}

export interface OriginsOptions<Name extends string> {
  /** Origins by a name of the caller's choice. */
  origins: Record<Name, OriginSettings>;
  /** Where certificates are written and kept; a directory that `stop` removes unless said. */
  dir?: string;
  /** Origins that still run and whose certificates, for all these hosts, serve here too: nobody need trust others. */
  certifiedBy?: Pick<RunningOrigins<string>, 'caPath'> | undefined;
  /** Further hosts that get a certificate, for other servers. */
  certificateHosts?: readonly string[];
  /** Told of every request. */
  onRequest?: (request: SeenRequest) => void;
  /** Where the server's process runs: a network namespace; this process's own unless said. */
  inside?: { spawn(file: string, args: readonly string[]): ChildProcessWithoutNullStreams };
}

export interface RunningOrigin {
  /** As browsers write it: `https://both.test:40001`. */
  origin: string;
  host: string;
  port: number;
  /** Where it listens, unless that is 127.0.0.1 alone. */
  address?: string;
}

export interface Certificate {
  certPath: string;
  keyPath: string;
}

export interface RunningOrigins<Name extends string> {
  origins: Record<Name, RunningOrigin>;
  /** The throw-away CA, PEM. */
  caPath: string;
  /** Base64 SHA-256 digests of the public keys in use, for Chromium's list of pardoned certificates. */
  spki: string[];
  /** Files by host, for other servers. */
  certificates: Record<string, Certificate>;
  stop(): Promise<void>;
}

interface ReadyLine {
  caPath: string;
  spki: string[];
  origins: RunningOrigin[];
  certificates: (Certificate & { host: string })[];
}

/**
 * Starts the given origins and resolves once all of them listen. They end with `stop`, and also when this
 * process does.
 *
 * Throws if the binary is not built, or if an origin cannot listen (the server's own message is included).
 */
export async function startOrigins<Name extends string>(
  options: OriginsOptions<Name>,
): Promise<RunningOrigins<Name>> {
  if (!existsSync(BINARY)) {
    throw new Error('The origin server is not built. Run: npm run build');
  }
  const { certifiedBy } = options;
  const issued = certifiedBy && dirname(certifiedBy.caPath);
  const dir = issued ?? options.dir ?? (await scratchDirectory('origins'));
  const settings = {
    dir,
    issued: issued !== undefined,
    origins: Object.values(options.origins),
    certificateHosts: options.certificateHosts ?? [],
    log: options.onRequest !== undefined,
  };
  const start = options.inside?.spawn ?? spawn;
  const child = start(BINARY, [JSON.stringify(settings)]);
  const exited = once(child, 'exit');
  const complaints: string[] = [];
  createInterface(child.stderr).on('line', (line) => {
    if (options.onRequest && line.startsWith('{')) options.onRequest(JSON.parse(line));
    else complaints.push(line);
  });

  const stop = async () => {
    child.stdin.end();
    await exited;
    if (options.dir === undefined && issued === undefined) await rm(dir, { recursive: true, force: true });
  };
  const line = await Promise.race([firstLine(child), exited.then(() => null)]);
  if (line === null) {
    await stop();
    throw new Error(`The origin server did not start: ${complaints.join('\n')}`);
  }
  const ready = JSON.parse(line) as ReadyLine;
  const named = Object.entries<OriginSettings>(options.origins).map(([name, { address }], index) => [
    name,
    { ...ready.origins[index], ...(address !== undefined && address !== '::' && { address }) },
  ]);
  return {
    origins: Object.fromEntries(named) as Record<Name, RunningOrigin>,
    caPath: ready.caPath,
    spki: ready.spki,
    certificates: Object.fromEntries(ready.certificates.map(({ host, ...files }) => [host, files])),
    stop,
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('The origin server has no standard output.');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return line;
}
