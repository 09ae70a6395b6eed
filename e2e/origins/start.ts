// Starts real origins on loopback, one for each way a site can treat HTTP/3, and stops them.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { whenReady } from '../child-process.ts';
import { scratchIn } from '../scratch.ts';
import { rustProgram } from '../test-programs.ts';

const BINARY = rustProgram('photofinish-origin');

/** What one origin speaks, advertises and hides. */
export interface OriginSettings {
  /** Any name; browsers are configured to resolve it to this origin. `*.NAME` serves every name of one label more. */
  host: string;
  /** For both UDP and TCP; default: 0, which chooses a free one. */
  port?: number;
  /** Default: 127.0.0.1; `::` is every address of both families. */
  address?: string;
  /** Whether it listens on UDP and speaks HTTP/3. */
  h3: boolean;
  /** Whether it listens on TCP at all; default: true. */
  tcp?: boolean;
  /** ALPN protocols on TCP in the server's order of preference; default: HTTP/2 and HTTP/1.1. */
  protocols?: readonly ('h2' | 'http/1.1')[];
  /** The Alt-Svc field (RFC 7838); `auto` advertises HTTP/3 on the origin's own port; default: none. */
  altSvc?: string | null;
  /** Whether pages of other origins may see its timing, and so its protocol (Timing-Allow-Origin); default: true. */
  timingAllowOrigin?: boolean;
  /** Delay of every response; default: 0. */
  answerDelayMs?: number;
  /** Replaces its index page with text of this length. */
  bodyBytes?: number;
}

/** One origin for each way a site can treat HTTP/3. */
export const ORIGIN_KINDS = {
  /** Speaks HTTP/3 and HTTP/2, and advertises HTTP/3. */
  both: { host: 'both.test', h3: true, altSvc: 'auto' },
  /** Speaks HTTP/2 and HTTP/1.1, and advertises nothing. */
  h2only: { host: 'h2only.test', h3: false },
  /** Advertises HTTP/3 on a UDP port that refuses. */
  advertiseOnly: { host: 'advertise-only.test', h3: false, altSvc: 'auto' },
  /** Speaks HTTP/3, but does not advertise it. */
  silent: { host: 'silent.test', h3: true },
  /** Like `both`, but hides its timing from pages of other origins. */
  hidden: { host: 'hidden.test', h3: true, altSvc: 'auto', timingAllowOrigin: false },
  /** Speaks HTTP/1.1 alone. */
  h1only: { host: 'h1only.test', h3: false, protocols: ['http/1.1'] },
} as const satisfies Record<string, OriginSettings>;

/** So many origins that speak and advertise HTTP/3, unless their settings differ. */
export function manyOrigins(
  count: number,
  settingsOf: (n: number) => Partial<OriginSettings> = () => ({}),
): Record<string, OriginSettings> {
  const names = Array.from({ length: count }, (_, n) => `o${n}`);
  const usual = { h3: true, altSvc: 'auto' };
  return Object.fromEntries(
    names.map((name, n) => [name, { host: `${name}.test`, ...usual, ...settingsOf(n) }]),
  );
}

/** One origin of each kind, with further settings. */
export function everyKind(
  settingsOf: (n: number) => Partial<OriginSettings>,
): Record<string, OriginSettings> {
  const kinds = Object.entries(ORIGIN_KINDS);
  return Object.fromEntries(kinds.map(([name, kind], n) => [name, { ...kind, ...settingsOf(n) }]));
}

/** A request as its server saw it. */
export interface SeenRequest {
  origin: string;
  /** The host as the client named it; null over HTTP/1.1. */
  host: string | null;
  path: string;
  protocol: 'HTTP/3' | 'HTTP/2' | 'HTTP/1.1';
}

export interface OriginsOptions<Name extends string> {
  /** Origins by names that the caller chooses. */
  origins: Record<Name, OriginSettings>;
  /** Where certificates are written and kept; default: a directory that `stop` removes. */
  dir?: string;
  /** Running origins whose certificates, for all these hosts, are reused, so that no other CA has to be trusted. */
  certifiedBy?: Pick<RunningOrigins<string>, 'caPath'> | undefined;
  /** Further hosts that get a certificate, for other servers. */
  certificateHosts?: readonly string[];
  /** Called for every request. */
  onRequest?: (request: SeenRequest) => void;
  /** Starts the server's process elsewhere, such as in a network namespace; default: as a child of this process. */
  inside?: { spawn(file: string, args: readonly string[]): ChildProcessWithoutNullStreams };
}

export interface RunningOrigin {
  /** In serialised form: `https://both.test:40001`. */
  origin: string;
  host: string;
  port: number;
  /** The address it listens on, unless that is 127.0.0.1. */
  address?: string;
}

export interface Certificate {
  certPath: string;
  keyPath: string;
}

export interface RunningOrigins<Name extends string> extends AsyncDisposable {
  origins: Record<Name, RunningOrigin>;
  /** The temporary CA, PEM. */
  caPath: string;
  /** Base64 SHA-256 digests of the public keys in use, for Chromium's list of accepted certificates. */
  spki: string[];
  /** Certificate files by host, for other servers. */
  certificates: Record<string, Certificate>;
  /** Its process id. */
  pid: number;
  stop(): Promise<void>;
}

/** Running origins as others use their certificates: for servers of these hosts, and clients that trust them. */
export type Authority = Pick<RunningOrigins<string>, 'caPath' | 'certificates'>;

/** Throws if no certificate was created for the host (`certificateHosts`). */
export function certificateOf({ certificates }: Pick<Authority, 'certificates'>, host: string): Certificate {
  const certificate = certificates[host];
  if (certificate === undefined) throw new Error(`no certificate for ${host}`);
  return certificate;
}

interface ReadyLine extends Pick<RunningOrigins<string>, 'caPath' | 'spki'> {
  origins: RunningOrigin[];
  certificates: (Certificate & { host: string })[];
}

/**
 * Starts the given origins and resolves once all of them listen. They end with `stop`, and also with this process.
 *
 * Throws if the binary has not been built, or if an origin cannot listen (with the server's error message).
 */
export async function startOrigins<Name extends string>(
  options: OriginsOptions<Name>,
): Promise<RunningOrigins<Name>> {
  if (!existsSync(BINARY)) {
    throw new Error('The origin server is not built. Run: npm run build');
  }
  const { certifiedBy } = options;
  const issued = certifiedBy && dirname(certifiedBy.caPath);
  await using opening = new AsyncDisposableStack();
  const dir = issued ?? options.dir ?? (await scratchIn(opening, 'origins'));
  const settings = {
    dir,
    issued: issued !== undefined,
    origins: Object.values(options.origins),
    certificateHosts: options.certificateHosts ?? [],
    log: options.onRequest !== undefined,
  };
  const start = options.inside?.spawn ?? spawn;
  const child = start(BINARY, [JSON.stringify(settings)]);
  const { line, pid, stop } = await whenReady('The origin server', child, (line) => {
    if (options.onRequest === undefined || !line.startsWith('{')) return false;
    options.onRequest(JSON.parse(line));
    return true;
  });
  opening.defer(stop);
  const ready = JSON.parse(line) as ReadyLine;
  const named = Object.entries<OriginSettings>(options.origins).map(([name, { address }], index) => [
    name,
    { ...ready.origins[index], ...(address !== undefined && address !== '::' && { address }) },
  ]);
  const closing = opening.move();
  const close = () => closing.disposeAsync();
  return {
    origins: Object.fromEntries(named) as Record<Name, RunningOrigin>,
    caPath: ready.caPath,
    spki: ready.spki,
    certificates: Object.fromEntries(ready.certificates.map(({ host, ...files }) => [host, files])),
    pid,
    stop: close,
    [Symbol.asyncDispose]: close,
  };
}
