// Third-party server stacks: those included in every checkout, and those that may be installed on the machine, in any
// version. Builds of these without QUIC serve as servers without HTTP/3.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createSecureServer } from 'node:http2';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand, runOrThrow } from '../child-process.ts';
import { onPath } from '../run/find-browser.mjs';
import { GO_MISSING, PYTHON, PYTHON_FLAGS } from '../test-programs.ts';
import { startCaddy } from './caddy.ts';
import { listen } from './raw.ts';
import {
  freePort,
  HEADERS,
  installed,
  logFrom,
  PAGE,
  protocolOf,
  SCRIPTS,
  type ServedProtocol,
  type Stack,
  startLogging,
} from './stack.ts';
import { certificateOf, type SeenRequest, startOrigins } from './start.ts';

const here = () => null;
const APP_DIRECTORY = fileURLToPath(new URL('hypercorn/', import.meta.url));

const embedded: Stack = {
  name: 'hyper and quinn',
  absent: here,
  async start({ host, certifiedBy }) {
    const seen: SeenRequest[] = [];
    const running = await startOrigins({
      origins: { page: { host, h3: true, altSvc: 'auto' } },
      certifiedBy,
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

const caddy: Stack = {
  name: 'Caddy',
  absent: () => (onPath('go') === null ? GO_MISSING : null),
  async start({ dir, host, certifiedBy }) {
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
    const { port, version, stop } = await startCaddy({ hosts: [host], certifiedBy, accessLog, routes });
    const served = await logFrom(accessLog, (line) => JSON.parse(line).request.proto);
    return { port, version: version.split(' ')[0] ?? version, h3: true, served, stop };
  },
};

const nodeHttp2: Stack = {
  name: 'node:http2',
  absent: here,
  async start({ host, certifiedBy }) {
    const certificate = certificateOf(certifiedBy, host);
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
    const { port, stop } = await listen(server, await freePort());
    return {
      port,
      version: process.version,
      h3: false,
      served: async () => answered,
      stop: async () => stop(),
    };
  },
};

const hypercorn: Stack = {
  name: 'Hypercorn',
  absent: here,
  start: startLogging('Hypercorn', async ({ certificate, dir, port }) => {
    const log = join(dir, 'access.log');
    await writeFile(log, '');
    const stdout = await runOrThrow(PYTHON, [
      '-c',
      'from importlib.metadata import version as v; print(v("hypercorn"))',
    ]);
    return {
      file: PYTHON,
      args: [
        ...[...PYTHON_FLAGS, '-m', 'hypercorn', '--workers', '0', '--graceful-timeout', '0'],
        ...['--bind', `127.0.0.1:${port}`, '--quic-bind', `127.0.0.1:${port}`],
        ...['--certfile', certificate.certPath, '--keyfile', certificate.keyPath, 'app:app'],
      ],
      cwd: APP_DIRECTORY,
      env: { PHOTOFINISH_LOG: log, PHOTOFINISH_PAGE: PAGE },
      version: stdout.trim(),
      h3: true,
      log,
      versionOf: (line) => JSON.parse(line).version,
    };
  }),
};

const nginx = installed('nginx', 'nginx', async ({ certificate, dir, port }) => {
  // It prints its version and build options on standard error.
  const { stderr } = await runCommand('nginx', ['-V']);
  const h3 = stderr.includes('--with-http_v3_module');
  const added = { ...HEADERS, ...(h3 && { 'alt-svc': `h3=":${port}"; ma=86400` }) };
  const headers = Object.entries(added).map(([name, value]) => `add_header ${name} '${value}';`);
  const log = join(dir, 'access.log');
  const config = join(dir, 'nginx.conf');
  await writeFile(
    config,
    `daemon off; master_process off; pid ${dir}/nginx.pid; error_log stderr;
      events {}
      http {
        log_format protocols '$server_protocol';
        access_log ${log} protocols;
        ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')}
        server {
          listen 127.0.0.1:${port} ssl http2;
          ${h3 ? `listen 127.0.0.1:${port} quic;` : ''}
          ssl_certificate ${certificate.certPath};
          ssl_certificate_key ${certificate.keyPath};
          ${headers.join(' ')}
          location = / { default_type text/html; return 200 '${PAGE.replaceAll("'", "\\'")}'; }
          location / { default_type text/javascript; return 200 ''; }
        }
      }`,
  );
  return {
    file: 'nginx',
    args: ['-p', dir, '-c', config, '-e', 'stderr'],
    version: /nginx\/(\S+)/.exec(stderr)?.[1] ?? '',
    h3,
    log,
    versionOf: (line) => line,
  };
});

const haproxy = installed('HAProxy', 'haproxy', async ({ certificate, dir, port }) => {
  const stdout = await runOrThrow('haproxy', ['-vv']);
  const h3 = /\+QUIC\b/.test(stdout);
  const pem = join(dir, 'both.pem');
  const [cert, key] = await Promise.all(
    [certificate.certPath, certificate.keyPath].map((file) => readFile(file)),
  );
  await writeFile(pem, Buffer.concat([cert ?? Buffer.of(), Buffer.from('\n'), key ?? Buffer.of()]), {
    mode: 0o600,
  });
  await writeFile(join(dir, 'page.html'), PAGE);
  const log = join(dir, 'access.log');
  await writeFile(log, '');
  const config = join(dir, 'haproxy.cfg');
  const added = { ...HEADERS, ...(h3 && { 'alt-svc': `h3=":${port}"; ma=86400` }) };
  const headers = Object.entries(added).map(
    ([name, value]) => `hdr ${name} "${value.replaceAll('"', '\\"')}"`,
  );
  const answer = (type: string, body: string) =>
    `http-request return status 200 content-type ${type} ${body} ${headers.join(' ')}`;
  await writeFile(
    config,
    `global
        log stdout format raw daemon
      defaults
        mode http
        timeout client 30s
        timeout http-request 10s
      frontend page
        bind 127.0.0.1:${port} ssl crt ${pem} alpn h2,http/1.1
        ${h3 ? `bind quic4@127.0.0.1:${port} ssl crt ${pem} alpn h3` : ''}
        log global
        log-format "%HV"
        ${answer('text/html', `file ${dir}/page.html`)} if { path / }
        ${answer('text/javascript', 'string ";"')}
`,
  );
  return {
    file: 'sh',
    args: ['-c', 'exec haproxy -db -f "$1" >>"$2"', 'sh', config, log],
    version: /version (\S+)/.exec(stdout)?.[1] ?? '',
    h3,
    log,
    // It also logs connections that ended without a request.
    versionOf: (line) => (line.startsWith('HTTP/') ? line : null),
  };
});

const apache = installed('Apache', 'apache2', async ({ host, certificate, dir, port }) => {
  const stdout = await runOrThrow('apache2', ['-v']);
  const modules = (await runOrThrow('sh', ['-c', 'ls /usr/lib/apache2/modules'])).split('\n');
  const load = [
    'mpm_event',
    'socache_shmcb',
    'ssl',
    'http2',
    'headers',
    'mime',
    'dir',
    'authz_core',
    'log_config',
  ]
    .filter((name) => modules.includes(`mod_${name}.so`))
    .map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`);
  const root = join(dir, 'root');
  await mkdir(root);
  await writeFile(join(root, 'index.html'), PAGE);
  for (const script of SCRIPTS) await writeFile(join(root, script), '');
  const log = join(dir, 'access.log');
  const config = join(dir, 'apache.conf');
  await writeFile(
    config,
    `${load.join('\n')}
      ServerName ${host}
      PidFile ${dir}/apache.pid
      DefaultRuntimeDir ${dir}
      ErrorLog ${dir}/error.log
      Listen 127.0.0.1:${port}
      DocumentRoot ${root}
      DirectoryIndex index.html
      TypesConfig /dev/null
      AddType text/html .html
      AddType text/javascript .js
      Protocols h2 http/1.1
      SSLEngine on
      SSLCertificateFile ${certificate.certPath}
      SSLCertificateKeyFile ${certificate.keyPath}
      <Directory ${root}>
        Require all granted
      </Directory>
      ${Object.entries(HEADERS)
        .map(([name, value]) => `Header set ${name} "${value}"`)
        .join('\n')}
      LogFormat "%H" protocols
      CustomLog ${log} protocols
`,
  );
  return {
    file: 'apache2',
    args: ['-f', config, '-DFOREGROUND'],
    version: /Apache\/(\S+)/.exec(stdout)?.[1] ?? '',
    h3: false,
    log,
    versionOf: (line) => line,
  };
});

const STACKS = [embedded, caddy, hypercorn, nodeHttp2, nginx, haproxy, apache];

/** Those that can run here. */
export const presentStacks = () => STACKS.filter((stack) => stack.absent() === null);

/** Those that cannot, with the reason. */
export const absentStacks = () =>
  STACKS.flatMap(({ name, absent, optional = false }) => {
    const why = absent();
    return why === null ? [] : [{ name, why, optional }];
  });
