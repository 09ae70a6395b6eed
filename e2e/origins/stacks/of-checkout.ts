// Server stacks included in every checkout: hyper and quinn, Caddy, Hypercorn, node:http2.
import { readFile, writeFile } from 'node:fs/promises';
import { createSecureServer } from 'node:http2';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runOrThrow } from '../../child-process.ts';
import { GO_MISSING } from '../../go-programs.ts';
import { onPath } from '../../run/find-browser.mjs';
import { startCaddy } from '../caddy.ts';
import { answerOf, freePort, startProgram } from '../program.ts';
import { PYTHON, PYTHON_FLAGS } from '../python.ts';
import { type SeenRequest, startOrigins } from '../start.ts';
import { HEADERS, logFrom, PAGE, protocolOf, SCRIPTS, type ServedProtocol, type Stack } from './stack.ts';

const here = () => null;
const APP_DIRECTORY = fileURLToPath(new URL('../hypercorn/', import.meta.url));

export const embedded: Stack = {
  name: 'hyper and quinn',
  absent: here,
  async start({ host, caPath }) {
    const seen: SeenRequest[] = [];
    const running = await startOrigins({
      origins: { page: { host, h3: true, altSvc: 'auto' } },
      certifiedBy: { caPath },
      onRequest: (request) => seen.push(request),
    });
    return {
      port: running.origins.page.port,
      path: `/page?resources=${SCRIPTS.length}`,
      version: 'of this checkout',
      h3: true,
      served: async () => seen.map(({ protocol }) => protocolOf(protocol)),
      stop: running.stop,
    };
  },
};

export const caddy: Stack = {
  name: 'Caddy',
  absent: () => (onPath('go') === null ? GO_MISSING : null),
  async start({ dir, ...options }) {
    const accessLog = join(dir, 'access.log');
    const headers = Object.fromEntries(Object.entries(HEADERS).map(([name, value]) => [name, [value]]));
    const answer = (type: string, body: string) => ({
      handler: 'static_response',
      headers: { ...headers, 'content-type': [type] },
      body,
    });
    const routes = [
      { match: [{ path: ['/'] }], handle: [answer('text/html', PAGE)], terminal: true },
      { handle: [answer('text/javascript', '')] },
    ];
    const { port, version, stop } = await startCaddy({ ...options, accessLog, routes });
    const served = await logFrom(accessLog, (line) => JSON.parse(line).request.proto);
    return { port, version: version.split(' ')[0] ?? version, h3: true, served, stop };
  },
};

export const hypercorn: Stack = {
  name: 'Hypercorn',
  absent: here,
  async start({ host, certificate, caPath, dir }) {
    const port = await freePort();
    const log = join(dir, 'access.log');
    await writeFile(log, '');
    const stdout = await runOrThrow(PYTHON, [
      '-c',
      'from importlib.metadata import version as v; print(v("hypercorn"))',
    ]);
    const { stop } = await startProgram({
      name: 'Hypercorn',
      file: PYTHON,
      args: [
        ...[...PYTHON_FLAGS, '-m', 'hypercorn', '--workers', '0', '--graceful-timeout', '0'],
        ...['--bind', `127.0.0.1:${port}`, '--quic-bind', `127.0.0.1:${port}`],
        ...['--certfile', certificate.certPath, '--keyfile', certificate.keyPath, 'app:app'],
      ],
      cwd: APP_DIRECTORY,
      env: { PHOTOFINISH_LOG: log, PHOTOFINISH_PAGE: PAGE },
      ready: async () => (await answerOf({ host, port, caPath }))?.['alt-svc'] !== undefined,
    });
    const served = await logFrom(log, (line) => JSON.parse(line).version);
    return { port, version: stdout.trim(), h3: true, served, stop };
  },
};

export const nodeHttp2: Stack = {
  name: 'node:http2',
  absent: here,
  async start({ certificate }) {
    const answered: ServedProtocol[] = [];
    const server = createSecureServer(
      {
        cert: await readFile(certificate.certPath),
        key: await readFile(certificate.keyPath),
        allowHTTP1: true,
      },
      (request, response) => {
        answered.push(protocolOf(request.httpVersion.replace(/^2\.0$/, '2')));
        const page = request.url === '/';
        response.writeHead(200, { ...HEADERS, 'content-type': page ? 'text/html' : 'text/javascript' });
        response.end(page ? PAGE : '');
      },
    );
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    const sessions = new Set<{ destroy(): void }>();
    server.on('session', (session) => sessions.add(session));
    return {
      port,
      version: process.version,
      h3: false,
      served: async () => answered,
      async stop() {
        server.close();
        for (const session of sessions) session.destroy();
      },
    };
  },
};
