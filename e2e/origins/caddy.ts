// Starts Caddy, so that what holds against our own server is also proven against one by other hands.
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runOrThrow } from '../child-process.ts';
import { goProgram } from '../go-programs.ts';
import { scratchDirectory } from '../scratch.ts';
import { answerOf, freePort, startProgram } from './program.ts';
import type { Certificate, RunningOrigin } from './start.ts';

/** What Caddy puts the protocol's name in the place of. */
const PLACEHOLDER = '{http.request.proto}';
/** Of `HTTP/2.0` and `HTTP/3.0`. */
const PROTOCOL_CHARS = 8;
/** Without one Caddy waits for browsers to let go of their QUIC connections: half a minute. */
const GRACE_PERIOD = '100ms';

export interface CaddyOptions {
  /** A host that `startOrigins` made a certificate for (`certificateHosts`). */
  host: string;
  certificate: Certificate;
  caPath: string;
  /** Further hosts for which it has the same page. */
  alsoHosts?: readonly { host: string; certificate: Certificate }[];
  /** Blanks make its page this long; as long as it is unless said. */
  bodyBytes?: number;
  /** Routes as Caddy's own configuration has them, in place of its page. */
  routes?: readonly object[];
  /** The file of its access log, a JSON object a line; nothing is logged unless said. */
  accessLog?: string;
  /** A network namespace, where it listens on this port of every address; a free port of loopback unless said. */
  inside?: {
    spawn(file: string, args: readonly string[], options: SpawnOptions): ChildProcess;
    port: number;
  };
}

export interface RunningCaddy extends RunningOrigin {
  /** Its process. */
  pid: number;
  /** As Caddy says it. */
  version: string;
  stop(): Promise<void>;
}

/**
 * Starts Caddy with HTTP/1.1, HTTP/2 and HTTP/3 on one port, everything else at its defaults, and resolves once it
 * speaks all of them. Throws as `goProgram` does, or with Caddy's own words if it ends before that.
 */
export async function startCaddy(options: CaddyOptions): Promise<RunningCaddy> {
  const binary = goProgram('caddy');
  const dir = await scratchDirectory('caddy');
  const { inside } = options;
  const port = inside?.port ?? (await freePort());
  const configPath = path.join(dir, 'caddy.json');
  const listen = inside === undefined ? `127.0.0.1:${port}` : `:${port}`;
  await writeFile(configPath, JSON.stringify(configuration(options, listen, dir)));
  const version = (await runOrThrow(binary, ['version'])).trim();
  const clear = () => rm(dir, { recursive: true, force: true });
  const running = await startProgram({
    name: 'Caddy',
    file: binary,
    args: ['run', '--config', configPath],
    env: {
      HOME: dir,
      XDG_CONFIG_HOME: dir,
      XDG_DATA_HOME: dir,
      // Go has WebSockets over HTTP/2 (RFC 8441) switched off unless asked.
      GODEBUG: 'http2xconnect=1',
    },
    ...(inside !== undefined && { spawn: inside.spawn }),
    // It listens on TCP first and sends Alt-Svc only once it listens on UDP, so that header is the sign.
    ready: async (pid) =>
      inside === undefined
        ? (await answerOf({ ...options, port }))?.['alt-svc'] !== undefined
        : listens(pid, port),
  }).catch(async (error) => {
    await clear();
    throw error;
  });
  const { pid } = running;
  const stop = async () => {
    await running.stop();
    await clear();
  };
  return { origin: `https://${options.host}:${port}`, host: options.host, port, pid, version, stop };
}

/** Its page, for any address. */
function pageRoute({ host, bodyBytes = 0 }: CaddyOptions): object {
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

function configuration(options: CaddyOptions, listen: string, dir: string): object {
  const { alsoHosts = [], accessLog } = options;
  const certificates = [options, ...alsoHosts].map(({ certificate }) => certificate);
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
            routes: options.routes ?? [pageRoute(options)],
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

/** In the process's own namespace, where we are not: its sockets as the kernel lists them, ports in hexadecimal. */
function listens(pid: number, port: number): boolean {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  return ['tcp6', 'udp6'].every((list) => readFileSync(`/proc/${pid}/net/${list}`, 'utf8').includes(local));
}
