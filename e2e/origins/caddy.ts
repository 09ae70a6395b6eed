// Starts Caddy, so that results obtained with our own server are also confirmed with an independent one.
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runOrThrow } from '../child-process.ts';
import { scratchIn } from '../scratch.ts';
import { goProgram } from '../test-programs.ts';
import { answerOf, freePort, startProgram } from './stack.ts';
import { type Authority, certificateOf, type RunningOrigin } from './start.ts';

/** Caddy replaces this with the protocol's name. */
const PLACEHOLDER = '{http.request.proto}';
/** Length of `HTTP/2.0` and `HTTP/3.0`. */
const PROTOCOL_CHARS = 8;
/** Without one, Caddy waits half a minute for browsers to close their QUIC connections. */
const GRACE_PERIOD = '100ms';

export interface CaddyOptions {
  /** All serve the same page; the first is its own. */
  hosts: readonly string[];
  /** Origins that were started with certificates for all of them. */
  certifiedBy: Authority;
  /** Pads its page with spaces to this length; default: no padding. */
  bodyBytes?: number;
  /** Routes in Caddy's configuration format, instead of its page. */
  routes?: readonly object[];
  /** Path of its access log, one JSON object per line; default: no log. */
  accessLog?: string;
  /** A network namespace, where it listens on this port of every address; default: a free port of loopback. */
  inside?: {
    spawn(file: string, args: readonly string[], options: SpawnOptions): ChildProcess;
    port: number;
  };
}

export interface RunningCaddy extends RunningOrigin {
  /** Its process id. */
  pid: number;
  /** As reported by Caddy. */
  version: string;
  stop(): Promise<void>;
}

/**
 * Starts Caddy with HTTP/1.1, HTTP/2 and HTTP/3 on one port and otherwise default settings, and resolves once it serves
 * all of them. Throws as `goProgram` does, or with Caddy's error output if it exits before that.
 */
export async function startCaddy(options: CaddyOptions): Promise<RunningCaddy> {
  const binary = goProgram('caddy');
  await using opening = new AsyncDisposableStack();
  const dir = await scratchIn(opening, 'caddy');
  const {
    hosts: [host],
    certifiedBy: { caPath },
    inside,
  } = options;
  if (host === undefined) throw new Error('Caddy needs a host');
  const port = inside?.port ?? (await freePort());
  const configPath = path.join(dir, 'caddy.json');
  const listen = inside === undefined ? `127.0.0.1:${port}` : `:${port}`;
  await writeFile(configPath, JSON.stringify(configuration(options, host, listen, dir)));
  const version = (await runOrThrow(binary, ['version'])).trim();
  const { pid, stop } = await startProgram({
    name: 'Caddy',
    file: binary,
    args: ['run', '--config', configPath],
    env: {
      HOME: dir,
      XDG_CONFIG_HOME: dir,
      XDG_DATA_HOME: dir,
      // Go disables WebSockets over HTTP/2 (RFC 8441) by default.
      GODEBUG: 'http2xconnect=1',
    },
    ...(inside !== undefined && { spawn: inside.spawn }),
    // It listens on TCP first and sends Alt-Svc only once it listens on UDP, so the header shows that it is ready.
    ready: async (pid) =>
      inside === undefined
        ? (await answerOf({ host, port, caPath }))?.['alt-svc'] !== undefined
        : listens(pid, port),
  });
  opening.defer(() => stop());
  const closing = opening.move();
  return {
    origin: `https://${host}:${port}`,
    host,
    port,
    pid,
    version,
    stop: () => closing.disposeAsync(),
  };
}

/** Serves its page at any URL. */
function pageRoute(host: string, bodyBytes = 0): object {
  const page =
    `<!doctype html><html lang="en"><title>${host}</title>` +
    '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">' +
    `<p>Served over <strong id="protocol">${PLACEHOLDER}</strong> by Caddy</p>`;
  const headers = {
    'content-type': ['text/html; charset=utf-8'],
    'cache-control': ['no-cache'],
    'timing-allow-origin': ['*'],
    'access-control-allow-origin': ['*'],
  };
  const body = page.padEnd(bodyBytes + PLACEHOLDER.length - PROTOCOL_CHARS);
  return { handle: [{ handler: 'static_response', headers, body }] };
}

function logging(accessLog: string | undefined): object {
  const complaints = { level: 'WARN', exclude: ['http.log.access'] };
  if (accessLog === undefined) return { logs: { default: complaints } };
  const access = {
    writer: { output: 'file', filename: accessLog, roll: false },
    encoder: { format: 'json' },
    include: ['http.log.access'],
  };
  return { logs: { default: complaints, access } };
}

function configuration(options: CaddyOptions, host: string, listen: string, dir: string): object {
  const { hosts, certifiedBy, accessLog } = options;
  const certificates = hosts.map((each) => certificateOf(certifiedBy, each));
  return {
    admin: { disabled: true, config: { persist: false } },
    storage: { module: 'file_system', root: dir },
    logging: logging(accessLog),
    apps: {
      http: {
        grace_period: GRACE_PERIOD,
        servers: {
          origin: {
            listen: [listen],
            protocols: ['h1', 'h2', 'h3'],
            automatic_https: { disable: true },
            tls_connection_policies: [{}],
            routes: options.routes ?? [pageRoute(host, options.bodyBytes)],
            ...(accessLog !== undefined && { logs: {} }),
          },
        },
      },
      tls: {
        certificates: {
          load_files: certificates.map(({ certPath, keyPath }) => ({ certificate: certPath, key: keyPath })),
        },
      },
    },
  };
}

/**
 * Reads the kernel's list of sockets in the process's network namespace, which may not be ours; ports are in
 * hexadecimal.
 */
function listens(pid: number, port: number): boolean {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  return ['tcp6', 'udp6'].every((list) => readFileSync(`/proc/${pid}/net/${list}`, 'utf8').includes(local));
}
