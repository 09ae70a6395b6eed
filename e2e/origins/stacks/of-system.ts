// Server stacks that may be installed on the machine, in any version: nginx, HAProxy, Apache. Builds without QUIC serve
// as servers without HTTP/3.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand, runOrThrow } from '../../child-process.ts';
import { onPath } from '../../run/find-browser.mjs';
import { answerOf, freePort, startProgram } from '../program.ts';
import { HEADERS, logFrom, PAGE, SCRIPTS, type Stack } from './stack.ts';

const onThePath = (command: string) => () => (onPath(command) === null ? `no ${command} on the path` : null);

export const nginx: Stack = {
  name: 'nginx',
  optional: true,
  absent: onThePath('nginx'),
  async start({ host, certificate, caPath, dir }) {
    const port = await freePort();
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
    const { stop } = await startProgram({
      name: 'nginx',
      file: 'nginx',
      args: ['-p', dir, '-c', config, '-e', 'stderr'],
      ready: async () => (await answerOf({ host, port, caPath })) !== null,
    });
    const served = await logFrom(log, (line) => line);
    return { port, version: /nginx\/(\S+)/.exec(stderr)?.[1] ?? '', h3, served, stop };
  },
};

export const haproxy: Stack = {
  name: 'HAProxy',
  optional: true,
  absent: onThePath('haproxy'),
  async start({ host, certificate, caPath, dir }) {
    const port = await freePort();
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
    const { stop } = await startProgram({
      name: 'HAProxy',
      file: 'sh',
      args: ['-c', 'exec haproxy -db -f "$1" >>"$2"', 'sh', config, log],
      ready: async () => (await answerOf({ host, port, caPath })) !== null,
    });
    // It also logs connections that ended without a request.
    const served = await logFrom(log, (line) => (line.startsWith('HTTP/') ? line : null));
    return { port, version: /version (\S+)/.exec(stdout)?.[1] ?? '', h3, served, stop };
  },
};

export const apache: Stack = {
  name: 'Apache',
  optional: true,
  absent: onThePath('apache2'),
  async start({ host, certificate, caPath, dir }) {
    const port = await freePort();
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
    const { stop } = await startProgram({
      name: 'Apache',
      file: 'apache2',
      args: ['-f', config, '-DFOREGROUND'],
      ready: async () => (await answerOf({ host, port, caPath })) !== null,
    });
    const served = await logFrom(log, (line) => line);
    return { port, version: /Apache\/(\S+)/.exec(stdout)?.[1] ?? '', h3: false, served, stop };
  },
};
