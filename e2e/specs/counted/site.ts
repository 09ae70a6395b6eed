// Servers for all kinds: Caddy with a host for each, its files, and its own log of the protocol of each response.
import { createHash } from 'node:crypto';
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { LocalOrigins } from '../../browsers/session.ts';
import { startCaddy } from '../../origins/caddy.ts';
import { listen, type TcpPeer } from '../../origins/raw.ts';
import { protocolOf, type ServedProtocol } from '../../origins/stack.ts';
import { type RunningOrigin, type SeenRequest, startOrigins } from '../../origins/start.ts';
import { hostOf, KINDS, type Kind, type Tools } from './kinds.ts';

/** Ends a run: its requests are counted after all others. */
export const LAST = 'last';

const DAY_MS = 86_400_000;
/** Old enough that a tenth of it, the heuristic freshness of RFC 9111 section 4.2.2, exceeds a run. */
const FILES_AGE_DAYS = 100;

/** Runs in the page: makes the requests of all kinds and signals when they are done. */
function visit(runs: readonly [(origin: string, tools: Tools) => unknown, string][]): void {
  const load = (tag: string, attributes: Readonly<Record<string, string>>) =>
    new Promise((resolve) => {
      const element = document.createElement(tag);
      element.onload = resolve;
      element.onerror = resolve;
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      document.body.append(element);
    });
  const { promise: alone, resolve: beAlone } = Promise.withResolvers<void>();
  const tools: Tools = {
    load,
    get: async (url, init) => (await fetch(url, init)).text(),
    frame: (url) =>
      new Promise((resolve) => {
        addEventListener('message', ({ origin }) => {
          if (origin === new URL(url).origin) resolve(null);
        });
        load('iframe', { src: url });
      }),
    alone,
    onLeave: (run) => addEventListener('pagehide', run),
  };
  const root = document.documentElement;
  const waiting = new Set(runs.map(([, origin]) => origin));
  const tell = () => {
    if (waiting.size === 1) beAlone();
    if (waiting.size === 0) root.dataset.done = '';
    else root.dataset.waiting = [...waiting].join(' ');
  };
  for (const [run, origin] of runs)
    Promise.resolve(run(origin, tools)).then(
      () => {
        waiting.delete(origin);
        tell();
      },
      (error) => {
        root.dataset.failed = `${root.dataset.failed ?? ''} ${origin}: ${error}`;
      },
    );
}

const page = (script: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Counted</title>` +
  `<link rel="icon" href="data:,"></head><body><script type="module">${script}</script></body></html>`;

const done = 'document.documentElement.dataset.done = "";';
const toParent = 'parent.postMessage("done", "*");';
const fetches = 'for (const n of [1, 2]) await (await fetch("/text.txt?" + n)).text();';

/** A second of silence. */
function sound(): Buffer {
  const samples = Buffer.alloc(8000, 0x80);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(8000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

/** A minimal PNG. */
const IMAGE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
  'base64',
);

/** The origin of each kind. */
type OriginOf = (name: string) => string;

function filesOf(originOf: OriginOf): Record<string, string | Buffer> {
  const runs = KINDS.flatMap(({ name, run }) =>
    run === undefined ? [] : [`[(${run}), "${originOf(name)}"]`],
  );
  return {
    'document.html': page(`(${visit})([\n${runs.join(',\n')}\n]);`),
    'frame.html': page(`await (await fetch('/text.txt')).text(); ${toParent}`),
    'worker.html': page(`new Worker('/worker.js').onmessage = () => { ${toParent} };`),
    'worker.js': `(async () => { ${fetches} postMessage('done'); })();`,
    'shared-worker.html': page(`new SharedWorker('/shared-worker.js').port.onmessage = () => { ${done} };`),
    'shared-worker.js': `onconnect = async ({ ports: [port] }) => { ${fetches} port.postMessage('done'); };`,
    'service-worker.html': page(
      `await navigator.serviceWorker.register('/service-worker.js');
       await navigator.serviceWorker.ready;
       for (const path of ['/made-up.txt', '/text.txt', '/declined.txt']) await (await fetch(path)).text();
       ${done}`,
    ),
    'service-worker.js': `onfetch = (event) => {
      const { pathname } = new URL(event.request.url);
      if (pathname === '/made-up.txt') event.respondWith(new Response('made up'));
      else if (pathname === '/text.txt') event.respondWith(fetch(event.request));
    };`,
    'early-hints.html': page(
      `const script = document.createElement('script');
       script.src = '/script.js';
       script.onload = () => { ${done} };
       document.body.append(script);`,
    ),
    'back.html': page(
      `onpageshow = async () => { await (await fetch('/text.txt', { cache: 'no-store' })).text(); ${done} };`,
    ),
    'last.html': page(
      `const worker = new Worker(URL.createObjectURL(new Blob(
        ['fetch("${originOf(LAST)}/text.txt").then(() => postMessage("done"))'])));
       worker.onmessage = () => { ${done} };`,
    ),
    'script.js': 'globalThis.counted = true;',
    'module.js': 'import "./script.js";',
    'style.css': 'p { color: teal; }',
    'importing.css':
      '@import "style.css"; body { background: url(image.png); }' +
      '@font-face { font-family: counted; src: url(font.woff2); }',
    'font.woff2': 'no font',
    'text.txt': 'counted '.repeat(100),
    'made-up.txt': 'made by the server',
    'declined.txt': 'declined',
    'empty.txt': '',
    'image.png': IMAGE,
    'image.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'pictured.html': '<!doctype html><title>Pictured</title><img src="image.png">',
    'sound.wav': sound(),
  };
}

async function writeFiles(dir: string, originOf: OriginOf): Promise<void> {
  await mkdir(dir, { recursive: true });
  const atS = (Date.now() - FILES_AGE_DAYS * DAY_MS) / 1000;
  for (const [name, content] of Object.entries(filesOf(originOf))) {
    await writeFile(join(dir, name), content);
    await utimes(join(dir, name), atS, atS);
  }
}

const VALIDATORS = ['ETag', 'Last-Modified'] as const;

/** The headers of one kind, whichever server responds. */
function headersOf(kind: Kind): object {
  const { name, cacheControl, validators = [], timingAllowOrigin = true, shared = true } = kind;
  const set = {
    ...(shared
      ? { 'Access-Control-Allow-Origin': ['*'], 'Access-Control-Allow-Headers': ['*'] }
      : { 'Cross-Origin-Resource-Policy': ['same-origin'] }),
    ...(timingAllowOrigin && { 'Timing-Allow-Origin': ['*'] }),
    ...(cacheControl !== undefined && { 'Cache-Control': [cacheControl] }),
  };
  const without = VALIDATORS.filter((validator) => !validators.includes(validator));
  return {
    match: [{ host: [hostOf(name)] }],
    handle: [{ handler: 'headers', response: { deferred: true, set, delete: without } }],
  };
}

const answer = (match: object, response: object): object => ({
  match: [match],
  handle: [{ handler: 'static_response', ...response }],
  terminal: true,
});

function routes(dir: string, backendPort: number): object[] {
  const pages = [...KINDS.filter(({ run }) => run === undefined), { name: LAST }];
  return [
    ...[...KINDS, { name: LAST, what: 'the end', cacheControl: 'no-store' }].map(headersOf),
    answer({ method: ['OPTIONS', 'POST'] }, { status_code: 204 }),
    answer({ path: ['/absent.*'] }, { status_code: 404 }),
    answer({ path: ['/no-content'] }, { status_code: 204 }),
    answer(
      { path: ['/redirect'], query: { 'image.png': ['*'] } },
      { status_code: 302, headers: { Location: ['/image.png'] } },
    ),
    answer({ path: ['/redirect'] }, { status_code: 302, headers: { Location: ['/text.txt'] } }),
    answer(
      { path: ['/events'] },
      { headers: { 'Content-Type': ['text/event-stream'] }, body: 'data: counted\n\n' },
    ),
    answer(
      { path: ['/opaque.html'] },
      {
        headers: { 'Content-Type': ['text/html'], 'X-Content-Type-Options': ['nosniff'] },
        body: '<!doctype html><title>Opaque</title>',
      },
    ),
    {
      match: [{ path: ['/socket', '/endless-events'] }],
      handle: [{ handler: 'reverse_proxy', upstreams: [{ dial: `127.0.0.1:${backendPort}` }] }],
      terminal: true,
    },
    {
      match: [{ host: [hostOf('early-hints')], path: ['/'] }],
      handle: [
        {
          handler: 'static_response',
          status_code: 103,
          headers: { Link: ['</script.js>; rel=preload; as=script'] },
        },
        { handler: 'headers', response: { delete: ['Link'] } },
      ],
    },
    ...pages.map(({ name }) => ({
      match: [{ host: [hostOf(name)], path: ['/'] }],
      handle: [{ handler: 'rewrite', uri: `/${name}.html` }],
    })),
    { handle: [{ handler: 'file_server', root: dir }] },
  ];
}

/** A server that sends one message: over a WebSocket (RFC 6455), or as an event of a stream that it never ends. */
function startBackend(): Promise<TcpPeer> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: counted\n\n');
  });
  server.on('upgrade', ({ headers }, socket) => {
    const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    socket.on('error', () => {});
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    socket.write(Buffer.from([0x81, 4, ...Buffer.from('word')]));
    // A Close frame is answered with one.
    socket.on('data', () => socket.end(Buffer.from([0x88, 0])));
  });
  return listen(server);
}

/** A request as its server saw it. */
export interface ServedRequest {
  readonly host: string;
  readonly path: string;
  readonly protocol: ServedProtocol;
  readonly status: number | null;
}

interface LogLine {
  readonly request: { readonly host: string; readonly uri: string; readonly proto: string };
  readonly status: number;
}

async function readLog(file: string): Promise<ServedRequest[]> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  return lines.map((line) => {
    const { request, status } = JSON.parse(line) as LogLine;
    const host = request.host.replace(/:\d+$/, '');
    return { host, path: request.uri, protocol: protocolOf(request.proto), status };
  });
}

export interface CountedSite {
  /** What a browser needs to resolve and trust it. */
  readonly local: LocalOrigins;
  /** The page of a kind that has its own, and of `LAST`. */
  readonly pageOf: (name: string) => string;
  /** All responses to browsers so far. */
  readonly served: () => Promise<readonly ServedRequest[]>;
  readonly stop: () => Promise<void>;
}

/** Starts the servers of all kinds; `dir` holds their files. Throws as `startCaddy` does. */
export async function startCountedSite(dir: string): Promise<CountedSite> {
  const ofCaddy = [...KINDS.filter(({ server }) => server === undefined).map(({ name }) => name), LAST];
  const embedded = KINDS.filter(({ server }) => server === 'embedded').map(({ name }) => name);
  const seen: SeenRequest[] = [];
  await using opening = new AsyncDisposableStack();
  const running = await startOrigins({
    origins: Object.fromEntries(
      embedded.map((name) => [name, { host: hostOf(name), h3: true, altSvc: 'auto' }]),
    ),
    certificateHosts: ofCaddy.map(hostOf),
    onRequest: (request) => seen.push(request),
  });
  opening.use(running);
  const backend = await startBackend();
  opening.defer(backend.stop);
  const files = join(dir, 'files');
  const accessLog = join(dir, 'access.log');
  const { port, stop } = await startCaddy({
    hosts: ofCaddy.map(hostOf),
    certifiedBy: running,
    routes: routes(files, backend.port),
    accessLog,
  });
  opening.defer(stop);
  const caddys = ofCaddy.map((name) => {
    const host = hostOf(name);
    return [name, { host, port, origin: `https://${host}:${port}` }] as const;
  });
  const origins: Record<string, RunningOrigin> = { ...running.origins, ...Object.fromEntries(caddys) };
  const originOf: OriginOf = (name) => origins[name]?.origin ?? '';
  await writeFiles(files, originOf);
  // The request that checked for its start was not a browser's.
  const before = (await readLog(accessLog)).length;
  const closing = opening.move();
  return {
    local: { ...running, origins },
    pageOf: (name) => `${originOf(name)}/`,
    async served() {
      const embeddeds = seen.map(({ origin, path, protocol }) => ({
        host: new URL(origin).hostname,
        path,
        protocol: protocolOf(protocol),
        status: null,
      }));
      return [...(await readLog(accessLog)).slice(before), ...embeddeds];
    },
    stop: () => closing.disposeAsync(),
  };
}
