import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isCidr, loadSettings, splitHostPort } from './config.ts';
import { scratchDirectory } from './testing/scratch.ts';

function file(directory: string, text: string, mode = 0o600): string {
  const path = join(directory, 'config.json');
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

/** Sets the directories of the XDG specification for a test. */
function setXdg(t: TestContext, config: string, state: string): void {
  const { XDG_CONFIG_HOME, XDG_STATE_HOME } = process.env;
  t.after(() => {
    for (const [name, value] of Object.entries({ XDG_CONFIG_HOME, XDG_STATE_HOME }))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });
  Object.assign(process.env, { XDG_CONFIG_HOME: config, XDG_STATE_HOME: state });
}

const refused = (message: RegExp) => ({ name: 'SettingsError', message });

test('without a default file the defaults apply, in the XDG directories', async (t) => {
  const directory = scratchDirectory(t);
  setXdg(t, directory, directory);
  const settings = loadSettings();
  assert.deepEqual(settings, {
    allowPrivate: [],
    resolve: new Map(),
    ca: [],
    resolver: null,
    cachePath: join(directory, 'photofinish', 'cache.db'),
    logsPath: null,
    fleet: null,
    source: null,
  });
  process.env.XDG_STATE_HOME = 'relative';
  const bare = loadSettings();
  assert.equal(bare.cachePath, join(homedir(), '.local/state/photofinish/cache.db'));
});

test('the default file is read, or an explicit one instead of it', async (t) => {
  const directory = scratchDirectory(t);
  mkdirSync(join(directory, 'photofinish'));
  file(join(directory, 'photofinish'), '{"allowPrivate":["10.0.0.0/8"]}');
  setXdg(t, directory, directory);
  assert.deepEqual(loadSettings().allowPrivate, ['10.0.0.0/8']);
  const path = file(directory, '{}');
  assert.deepEqual(loadSettings(path).allowPrivate, []);
});

test('every setting; relative paths are relative to the file, host names are as races have them', async (t) => {
  const directory = scratchDirectory(t);
  const path = file(
    directory,
    JSON.stringify({
      allowPrivate: ['127.0.0.0/8', '::1'],
      resolve: { 'H3.test:4433': '127.0.0.1', 'bücher.test:443': '127.0.0.2', '[0::1]:1': '::1' },
      ca: ['ca.pem', '/etc/ca.pem'],
      resolver: '127.0.0.1:5353',
      cache: 'state/cache.db',
      logs: '../helper.log',
    }),
  );
  assert.deepEqual(loadSettings(path), {
    allowPrivate: ['127.0.0.0/8', '::1'],
    resolve: new Map([
      ['h3.test:4433', '127.0.0.1'],
      ['xn--bcher-kva.test:443', '127.0.0.2'],
      ['[::1]:1', '::1'],
    ]),
    ca: [join(directory, 'ca.pem'), '/etc/ca.pem'],
    resolver: '127.0.0.1:5353',
    cachePath: join(directory, 'state/cache.db'),
    logsPath: join(directory, '../helper.log'),
    fleet: null,
    source: path,
  });
});

test('the port of the DNS server is 53 unless given', async (t) => {
  const directory = scratchDirectory(t);
  for (const [resolver, server] of [
    ['192.0.2.1', '192.0.2.1:53'],
    ['192.0.2.1:5353', '192.0.2.1:5353'],
    ['2001:db8::1', '[2001:db8::1]:53'],
    ['[2001:db8::1]', '[2001:db8::1]:53'],
    ['[2001:db8::1]:5353', '[2001:db8::1]:5353'],
  ])
    assert.equal(loadSettings(file(directory, JSON.stringify({ resolver }))).resolver, server);
});

const fleet = (facts: object): string =>
  JSON.stringify({ fleet: { server: 'nats://nats.test:4222', bucket: 'fleet', salt: 'salt', ...facts } });

test('where outcomes are shared: files are relative to the settings, nothing is published unless asked', async (t) => {
  const directory = scratchDirectory(t);
  const defaults = {
    ...{ server: 'nats://nats.test:4222', bucket: 'fleet', network: 'fleet', publish: false },
    ...{ credsFile: null, nkeyFile: null, caFile: null, saltFile: join(directory, 'salt') },
  };
  assert.deepEqual(loadSettings(file(directory, fleet({}))).fleet, defaults);
  const all = { creds: 'me.creds', tlsCa: '/etc/ca.pem', network: 'office', publish: true };
  assert.deepEqual(loadSettings(file(directory, fleet(all))).fleet, {
    ...defaults,
    ...{ credsFile: join(directory, 'me.creds'), caFile: '/etc/ca.pem', network: 'office', publish: true },
  });
});

test('an invalid value is refused with the name of the setting', async (t) => {
  const directory = scratchDirectory(t);
  const table: [string, RegExp][] = [
    ['{', /not JSON/],
    ['[]', /settings/],
    ['{"allowPrivate":["127.0.0.0/33"]}', /allowPrivate\.0.*address range/],
    ['{"allowprivate":[]}', /allowprivate is no setting; there are allowPrivate, .*fleet$/],
    ['{"resolve":{"h3.test":"127.0.0.1"}}', /HOST:PORT/],
    ['{"resolve":{"h3 test:1":"127.0.0.1"}}', /HOST:PORT/],
    ['{"resolve":{"h3.test:1":"localhost"}}', /not an IP address/],
    ['{"resolve":{"h3.test:1":"fe80::1%eth0"}}', /zone/],
    ['{"resolver":"dns.test:53"}', /resolver.*ADDRESS:PORT/],
    ['{"cache":""}', /cache/],
    ['{"logs":7}', /logs/],
    [fleet({ server: 'http://a.test' }), /fleet\.server.*nats:/],
    [fleet({ bucket: 'a.b' }), /fleet\.bucket/],
    [fleet({ salt: undefined }), /fleet\.salt is missing$/],
    ['{"fleet":"a"}', /fleet: Invalid type/],
    ['7', /settings: Invalid type/],
    [fleet({ salt: '' }), /fleet\.salt/],
    [fleet({ creds: 'a', nkey: 'b' }), /fleet: takes creds or nkey, not both/],
    [fleet({ tls: 'a' }), /fleet\.tls is no setting; there are server, bucket, .*publish$/],
    [fleet({ publish: 'yes' }), /fleet\.publish/],
  ];
  for (const [text, message] of table)
    assert.throws(() => loadSettings(file(directory, text)), refused(message), text);
});

test('a missing explicit file is an error', async (t) => {
  const directory = scratchDirectory(t);
  assert.throws(() => loadSettings(join(directory, 'none.json')), refused(/none\.json cannot be read/));
});

test('a file that group or others can write is refused, and so is one in a world-writable directory', async (t) => {
  const directory = scratchDirectory(t);
  for (const mode of [0o620, 0o602, 0o666])
    assert.throws(() => loadSettings(file(directory, '{}', mode)), refused(/others can write it/));
  assert.equal(loadSettings(file(directory, '{}', 0o644)).source, join(directory, 'config.json'));
  chmodSync(directory, 0o777);
  assert.throws(() => loadSettings(join(directory, 'config.json')), refused(/directory/));
  chmodSync(directory, 0o1777);
  loadSettings(join(directory, 'config.json'));
});

test('a link is checked at its target and at its own location', async (t) => {
  const directory = scratchDirectory(t);
  const [open, closed] = ['open', 'closed'].map((name) => join(directory, name)) as [string, string];
  for (const place of [open, closed]) mkdirSync(place);
  file(open, '{}');
  file(closed, '{}');
  chmodSync(open, 0o777);
  symlinkSync(join(open, 'config.json'), join(closed, 'link.json'));
  symlinkSync(join(closed, 'config.json'), join(open, 'link.json'));
  symlinkSync(open, join(closed, 'linked'));
  for (const path of [join(closed, 'link.json'), join(open, 'link.json'), join(closed, 'linked/config.json')])
    assert.throws(() => loadSettings(path), refused(/others can write its directory/), path);
  chmodSync(open, 0o755);
  assert.equal(loadSettings(join(closed, 'link.json')).source, join(closed, 'link.json'));
});

test('below the home directory, a parent directory that others can write is refused, too', async (t) => {
  const directory = scratchDirectory(t);
  const { HOME } = process.env;
  t.after(() => {
    process.env.HOME = HOME;
  });
  mkdirSync(join(directory, 'inner'));
  const path = file(join(directory, 'inner'), '{}');
  chmodSync(directory, 0o777);
  assert.equal(loadSettings(path).source, path);
  process.env.HOME = directory;
  assert.throws(() => loadSettings(path), refused(/others can write its directory/));
});

test('a file that is not regular is refused at once, without blocking', async (t) => {
  const directory = scratchDirectory(t);
  const path = join(directory, 'config.json');
  execFileSync('mkfifo', [path]);
  assert.throws(() => loadSettings(path), refused(/not a regular file/));
});

test('address ranges and host:port in their usual notations', () => {
  for (const good of ['10.0.0.0/8', '10.0.0.1', '::1', 'fc00::/7', '0.0.0.0/0'])
    assert.ok(isCidr(good), good);
  for (const bad of ['', '10.0.0.0/', '10.0.0/8', '::/129', '10.0.0.0/8/8', 'a.test', '10.0.0.0/-1'])
    assert.ok(!isCidr(bad), bad);
  assert.deepEqual(splitHostPort('A.test:443'), { host: 'a.test', port: 443 });
  assert.deepEqual(splitHostPort('[::1]:53'), { host: '::1', port: 53 });
  for (const bad of ['a.test', 'a.test:0', 'a.test:65536', '::1:53', ':1'])
    assert.equal(splitHostPort(bad), null, bad);
});

test('a home that is not a directory contains no settings', (t) => {
  setXdg(t, '/dev/null', '/dev/null');
  const settings = loadSettings();
  assert.equal(settings.source, null);
});
