// The command as seen by its users: real processes, exit codes, stdout and stderr.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { raceDocumentSchema } from '@photofinish/shared/race/outcome';
import { verdictSaying } from '@photofinish/shared/testing/race-samples';
import * as v from 'valibot';
import { COMMANDS, TABLE } from './cli/command-table.ts';
import { CLI, COMPILE_CACHE, ended, startCommand } from './testing/command.ts';
import { closedPort, silentPort } from './testing/peers.ts';
import { scratchDirectory } from './testing/scratch.ts';
import { VERSION } from './version.ts';

function photofinish(args: readonly string[], home: string): ReturnType<typeof ended> {
  return ended(startCommand(args, home));
}

test('help and version go to stdout', async (t) => {
  const home = scratchDirectory(t);
  const overview = await photofinish(['--help'], home);
  assert.equal(overview.code, 0);
  assert.match(overview.stdout, /^Usage: photofinish COMMAND/);
  assert.equal(overview.stderr, '');
  for (const command of COMMANDS) {
    const page = await photofinish([command, '--help'], home);
    assert.equal(page.code, 0);
    for (const line of page.stdout.split('\n')) assert.ok(line.length <= 80, line);
    assert.match(page.stdout, new RegExp(`^Usage: photofinish ${command}`));
    for (const option of Object.keys(TABLE[command].options)) assert.ok(page.stdout.includes(`--${option}`));
    assert.ok(overview.stdout.includes(`  ${command}`));
  }
  for (const flag of ['-V', '--version'])
    assert.equal((await photofinish([flag], home)).stdout, `photofinish ${VERSION}\n`);
  // Without arguments the output is the same.
  const bare = await photofinish([], home);
  assert.deepEqual([bare.code, bare.stdout, bare.stderr], [0, overview.stdout, '']);
  for (const flag of ['-h', '--help']) {
    const help = await photofinish(['help', flag], home);
    assert.deepEqual([help.code, help.stdout, help.stderr], [0, overview.stdout, '']);
  }
  for (const alias of [['help'], ['-h'], ['help', 'race'], ['race', '-h']])
    assert.match((await photofinish(alias, home)).stdout, /^Usage: photofinish/);
  assert.deepEqual(readdirSync(home), [], 'help writes nothing');
});

const MISTAKES: readonly (readonly [readonly string[], string])[] = [
  [['fly'], 'unknown-command'],
  [['--fly'], 'bad-usage'],
  [['race'], 'bad-usage'],
  [['race', 'ftp://a.test'], 'bad-origin'],
  [['race', 'a.test', '--mode', 'x'], 'bad-mode'],
  [['race', 'a.test', '--ca', '/no/such/ca.pem'], 'bad-file'],
  [['race', 'a.test', '--ca', CLI], 'bad-file'],
  [['cache'], 'bad-usage'],
  [['cache', 'show'], 'bad-usage'],
  [['cache', 'show', 'http://a.test'], 'bad-origin'],
  [['cache', 'list', 'a.test'], 'bad-usage'],
  [['cache', 'forget'], 'bad-usage'],
  [['cache', 'forget', 'a.test', 'example..org'], 'bad-origin'],
  [['cache', 'list', '--yes'], 'bad-usage'],
  [['network'], 'bad-usage'],
  [['network', 'rename'], 'bad-usage'],
  [['network', 'list', 'a'], 'bad-usage'],
  [['network', 'name'], 'bad-usage'],
  [['network', 'name', 'a', 'b', 'c'], 'bad-usage'],
  [['network', 'name', 'net-1d44ea1a8671e8f3', 'x'.repeat(41)], 'bad-network'],
  [['completion'], 'bad-usage'],
  [['completion', 'tcsh'], 'bad-usage'],
  [['race', 'example..org'], 'bad-origin'],
  [['race', `${'a'.repeat(64)}.example`], 'bad-origin'],
  [['explain', 'exa+mple.org'], 'bad-origin'],
  [['install', '--browser', 'netscape'], 'bad-browser'],
  [['install', '--extension-id', 'x'], 'bad-extension-id'],
  [['install', '--config', '/no/such/config.json'], 'bad-file'],
  [['install', '--config', CLI], 'bad-config'],
  [['install', '--user-data-dir', CLI], 'bad-directory'],
  [['install', '--user-data-dir', '/no/such/profile'], 'bad-directory'],
  [['doctor', '--user-data-dir', '/no/such/profile'], 'bad-directory'],
  [['install', '--user-data-dir', '/tmp', '--browser', 'firefox'], 'bad-usage'],
  [['doctor', 'now'], 'bad-usage'],
  [['report'], 'bad-usage'],
  [['report', '/no/such/report.json'], 'bad-file'],
  [['report', CLI], 'bad-report'],
  [['report', CLI, '--csv', '-', '--json'], 'bad-usage'],
  [['report', CLI, '--markdown', '--json'], 'bad-usage'],
  [['report', '--diff', CLI], 'bad-usage'],
  [['report', '--diff', CLI, CLI, CLI], 'bad-usage'],
];

for (const [args, code] of MISTAKES)
  test(`photofinish ${args.map((arg) => (arg === CLI ? 'FILE' : arg)).join(' ')}: exit 2, one line, ${code}`, async (t) => {
    const result = await photofinish(args, scratchDirectory(t));
    assert.equal(result.stdout, '');
    assert.match(result.stderr, new RegExp(`^photofinish: ${code}: [^\\n]+\\n$`));
    assert.equal(result.code, 2);
  });

const SLIPS: readonly (readonly [readonly string[], string])[] = [
  [['rcae', 'a.test'], 'race'],
  [['--hepl'], '--help'],
  [['race', 'a.test', '--tirals', '3'], '--trials'],
  [['race', 'a.test', '--mode', 'comapre'], 'compare'],
  [['race', 'a.test', '--memory', 'ful'], 'full'],
  [['install', '--browser', 'chromum'], 'chromium'],
  [['cache', 'lsit'], 'list'],
  [['network', 'nmae'], 'name'],
  [['completion', 'bsah'], 'bash'],
];

for (const [args, meant] of SLIPS)
  test(`photofinish ${args.join(' ')}: did you mean "${meant}"?`, async (t) => {
    const result = await photofinish(args, scratchDirectory(t));
    assert.deepEqual([result.code, result.stdout], [2, '']);
    assert.match(result.stderr, new RegExp(`; did you mean "${meant}"\\?\\n$`));
  });

test('a refused port: exit 1, and a document that matches the schema', async (t) => {
  const home = scratchDirectory(t);
  const port = await closedPort();
  const result = await photofinish(['race', `127.0.0.1:${port}`, '--allow-private', '--json'], home);
  assert.equal(result.code, 1, result.stderr);
  const document = v.parse(raceDocumentSchema, JSON.parse(result.stdout));
  assert.equal(document.memory, 'full');
  const [race] = document.races;
  assert.equal(race?.summary.failed, 1);
  assert.deepEqual(
    race?.trials[0]?.attempts.map(({ protocol, outcome, error }) => [protocol, outcome, error?.code]),
    [
      ['h3', 'failed', 'udp-refused'],
      ['h2', 'failed', 'tcp-refused'],
    ],
  );
});

for (const memory of ['none', 'hints'])
  test(`memory ${memory} writes nothing at all`, async (t) => {
    const home = scratchDirectory(t);
    const port = await closedPort();
    const args = [
      'race',
      `127.0.0.1:${port}`,
      '--allow-private',
      '--trials',
      '3',
      '--concurrency',
      '2',
      '--memory',
      memory,
      '--json',
    ];
    const { stdout, code } = await photofinish(args, home);
    assert.equal(code, 1);
    const document = v.parse(raceDocumentSchema, JSON.parse(stdout));
    assert.equal(document.memory, memory);
    assert.equal(document.races[0]?.trials.length, 3);
    assert.deepEqual(readdirSync(home), []);
  });

test('requests from standard input: one document per line, invalid lines reported, a mode per line', async (t) => {
  const home = scratchDirectory(t);
  const port = await closedPort();
  const child = startCommand(['race', '-', '--allow-private', '--memory', 'none'], home, { stdin: 'pipe' });
  const over = ended(child);
  child.stdin?.end(`127.0.0.1:${port}\nhttp://a.test\n{"origin":"127.0.0.1:${port}","mode":"h2"}\n`);
  const { code, stdout, stderr } = await over;
  assert.equal(code, 1);
  assert.match(stderr, /^photofinish: bad-origin: line 2: [^\n]+\n$/);
  const documents = stdout
    .trimEnd()
    .split('\n')
    .map((line) => v.parse(raceDocumentSchema, JSON.parse(line)));
  assert.deepEqual(documents.map(({ mode, races }) => [mode, races.length]).toSorted(), [
    ['h2', 1],
    ['race', 1],
  ]);
  assert.deepEqual(readdirSync(home), []);
});

test('comments and blank lines are skipped; a path is cut off and reported, and so is a number too large', async (t) => {
  const home = scratchDirectory(t);
  const place = `127.0.0.1:${await closedPort()}`;
  const args = ['race', '-', '--allow-private', '--memory', 'none', '--concurrency', '17'];
  const child = startCommand(args, home, { stdin: 'pipe' });
  const over = ended(child);
  child.stdin?.end(`# mine\n\nhttps://${place}/x?y=1\n  # more\n`);
  const { stdout, stderr } = await over;
  const [many, left, none] = stderr.split('\n');
  assert.match(many ?? '', /^photofinish: many-at-once: with 17 at a time /);
  assert.equal(left, `photofinish: path-left-out: line 3: racing https://${place}, ignoring /x?y=1`);
  assert.equal(none, '');
  assert.equal(stdout.trimEnd().split('\n').length, 1);
});

test('an endless line of standard input is reported while it is arriving, and stops nothing', async (t) => {
  const port = await closedPort();
  const child = startCommand(['race', '-', '--allow-private', '--memory', 'none'], scratchDirectory(t), {
    stdin: 'pipe',
  });
  const over = ended(child);
  child.stdin?.write(' '.repeat(100_000));
  const told = await new Promise<string>((resolve) => {
    child.stderr?.once('data', (text) => resolve(String(text)));
  });
  assert.equal(told, 'photofinish: bad-line: line 1: longer than 1024 characters\n');
  child.stdin?.end(`a.test\n127.0.0.1:${port}\n`);
  const { code, stdout, stderr } = await over;
  assert.equal(code, 1);
  assert.equal(stderr, told);
  const [document, none] = stdout.split('\n');
  assert.equal(none, '');
  assert.equal(v.parse(raceDocumentSchema, JSON.parse(document ?? '')).races.length, 1);
});

test('forbidden origins are in the document with their error, beside the others', async (t) => {
  const home = scratchDirectory(t);
  const port = await closedPort();
  const args = [
    'race',
    `127.0.0.1:${port}`,
    'no-such-name.test',
    '--json',
    '--resolver',
    `127.0.0.1:${port}`,
  ];
  const { stdout, code } = await photofinish(args, home);
  assert.equal(code, 1);
  const { races } = v.parse(raceDocumentSchema, JSON.parse(stdout));
  assert.deepEqual(
    races.map(({ error, trials }) => [error?.code, trials.length]),
    [
      ['blocked', 0],
      ['dns-failed', 0],
    ],
  );
  // Questions asked in vain are recorded as well.
  const lookups = races[1]?.discovered.names?.lookups ?? [];
  assert.ok(lookups.length > 0 && lookups.every((lookup) => lookup.outcome === 'failed'));
});

test('a pin that no race looked up is reported, one that was used is not', async (t) => {
  const port = await closedPort();
  const pins = ['a.test', 'b.test'].flatMap((host) => ['--resolve', `${host}:${port}:127.0.0.1`]);
  for (const command of ['race', 'explain']) {
    const args = [command, `a.test:${port}`, '--allow-private', ...pins];
    const { stderr } = await photofinish(args, scratchDirectory(t));
    const warning = `unused-resolve: --resolve: no race looked up b.test:${port}; check host and port`;
    assert.ok(stderr.includes(warning) && !stderr.includes('a.test'), stderr);
  }
});

test('the text for people goes to stdout without colour when that is a pipe', async (t) => {
  const port = await closedPort();
  const { stdout, stderr } = await photofinish(
    ['race', `127.0.0.1:${port}`, '--allow-private'],
    scratchDirectory(t),
  );
  assert.match(stdout, /^ORIGIN +ADOPTED +ESTABLISHED +FIRST BYTE\n/);
  assert.match(stdout, /UDP refused/);
  assert.equal(stdout.includes('\u001b'), false);
  assert.equal(stderr, '');
});

test('what a suspended process did not receive is not reported as silence', async (t) => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const limitMs = 2000;
  const args = [
    '--mode',
    'h2',
    '--memory',
    'none',
    '--timeout',
    String(limitMs),
    '--allow-private',
    '--json',
  ];
  const child = startCommand(['race', place, ...args], scratchDirectory(t));
  const over = ended(child);
  const [socket] = (await once(server, 'connection')) as [Socket];
  t.after(() => socket.destroy());
  // The kernel accepts before the process has noticed the TCP connection; the process sends only afterwards.
  await once(socket, 'data');
  child.kill('SIGSTOP');
  // Its whole time-out passes while it is suspended.
  await setTimeout(limitMs);
  child.kill('SIGCONT');
  const { code, stdout } = await over;
  assert.equal(code, 1);
  const [race] = v.parse(raceDocumentSchema, JSON.parse(stdout)).races;
  const [trial] = race?.trials ?? [];
  assert.equal(trial?.attempts[0]?.error?.code, 'handshake-timeout', 'kept');
  assert.equal(trial?.disturbed, 'outcome', 'and no evidence');
  assert.equal(race?.verdict.code, 'machine-too-busy');
});

test('an interrupt cancels at once: exit 130, with the results so far', async (t) => {
  const { udp, port, close } = await silentPort();
  t.after(close);
  const arrived = once(udp, 'message');
  const child = startCommand(
    ['race', `127.0.0.1:${port}`, '--allow-private', '--timeout', '600000', '--json'],
    scratchDirectory(t),
  );
  const result = ended(child);
  await arrived;
  child.kill('SIGINT');
  const { code, stdout } = await result;
  assert.equal(code, 130);
  const { races } = v.parse(raceDocumentSchema, JSON.parse(stdout));
  assert.equal(races[0]?.error?.code, 'cancelled');
});

test('a reader that goes away is not an error', async (t) => {
  const child = startCommand(['race', '--help'], scratchDirectory(t));
  child.stdout?.destroy();
  const { stderr } = await ended(child);
  assert.equal(stderr, '');
});

test('the host cache is listed, shown and cleared', async (t) => {
  const home = scratchDirectory(t);
  const file = join(home, 'cache.db');
  const empty = await photofinish(['cache', 'list', '--cache', file], home);
  assert.match(empty.stdout, /is empty/);
  assert.equal(existsSync(file), false, 'looking makes no file');
  const origin = `https://127.0.0.1:${await closedPort()}`;
  await photofinish(['race', origin, '--allow-private', '--cache', file, '--network', 'lab'], home);
  const list = JSON.parse((await photofinish(['cache', 'list', '--cache', file, '--json'], home)).stdout);
  assert.equal(list.schema, 'photofinish.cache/1');
  assert.deepEqual(
    list.hosts.map((host: { origin: string; network: string }) => [host.origin, host.network]),
    [[origin, 'lab']],
  );
  const shown = await photofinish(['cache', 'show', origin, '--cache', file], home);
  assert.match(shown.stdout, /TCP refused/);
  const other = 'https://127.0.0.1:9';
  const forgotten = await photofinish(['cache', 'forget', other, origin, '--cache', file], home);
  assert.deepEqual([forgotten.code, forgotten.stdout], [1, `Forgot ${origin}.\n`]);
  assert.equal(forgotten.stderr, `photofinish: no-record: nothing is known about ${other}\n`);
  assert.match((await photofinish(['cache', 'list', '--cache', file], home)).stdout, /is empty/);
  await photofinish(['race', origin, '--allow-private', '--cache', file, '--network', 'lab'], home);
  const cleared = await photofinish(['cache', 'clear', '--cache', file], home);
  assert.match(cleared.stdout, /^Cleared 1 origin from /);
  const gone = await photofinish(['cache', 'show', origin, '--cache', file], home);
  assert.equal(gone.code, 1);
  assert.match(gone.stderr, /^photofinish: no-record: /);
});

/** Runs on a pseudo-terminal created by script(1), with the shell's redirection, and types the answer. */
async function answering(
  args: readonly string[],
  home: string,
  answer: string,
  redirection = '',
): ReturnType<typeof ended> {
  const command = [process.execPath, CLI, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qec', `${command} ${redirection}`, '/dev/null'], {
    env: { HOME: home, PATH: '/usr/bin:/bin', ...COMPILE_CACHE },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const over = ended(child);
  child.stdout?.on('data', (text: string) => {
    if (text.includes('[y/N]')) child.stdin?.write(`${answer}\n`);
  });
  return over;
}

test('on a terminal clearing the host cache asks for confirmation, unless --yes is given', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const home = scratchDirectory(t);
  const file = join(home, 'cache.db');
  const port = await closedPort();
  const fill = () =>
    photofinish(['race', `127.0.0.1:${port}`, '--allow-private', '--cache', file, '--network', 'lab'], home);
  const known = async () =>
    JSON.parse((await photofinish(['cache', 'list', '--json', '--cache', file], home)).stdout).hosts.length;
  await fill();
  const no = await answering(['cache', 'clear', '--cache', file], home, '');
  assert.equal(no.code, 1);
  assert.match(no.stdout, /Delete all that is known about 1 origin, in .*\? \[y\/N\]/);
  assert.match(no.stdout, /photofinish: cancelled: nothing was deleted/);
  assert.equal(await known(), 1);
  assert.equal((await answering(['cache', 'clear', '--cache', file], home, 'y')).code, 0);
  assert.equal(await known(), 0);
  await fill();
  const unseen = await answering(['cache', 'clear', '--cache', file], home, 'y', `2>'${home}/errors'`);
  assert.deepEqual([unseen.code, unseen.stdout], [1, '']);
  assert.match(readFileSync(join(home, 'errors'), 'utf8'), /^photofinish: cancelled: .*--yes/);
  assert.equal(await known(), 1);
  const yes = await answering(['cache', 'clear', '--yes', '--cache', file], home, 'n');
  assert.equal(yes.code, 0);
  assert.equal(yes.stdout.includes('[y/N]'), false);
  assert.equal(await known(), 0);
});

test('a network is named, is shown and accepted by that name everywhere, and loses it again', async (t) => {
  const home = scratchDirectory(t);
  const cache = ['--cache', join(home, 'cache.db')];
  const run = (...args: string[]) => photofinish([...args, ...cache], home);
  assert.match((await run('network', 'list')).stdout, /No network is known yet/);
  assert.deepEqual(readdirSync(home), [], 'looking makes no file');
  const key = 'net-1d44ea1a8671e8f3';
  const origin = `https://127.0.0.1:${await closedPort()}`;
  const race = ['race', origin, '--allow-private', '--network'];
  await run(...race, key);
  assert.equal((await run('network', 'name', key, ' Home ')).stdout, `${key} is now "Home".\n`);
  const listed = JSON.parse((await run('network', 'list', '--json')).stdout);
  assert.equal(listed.schema, 'photofinish.networks/1');
  const [home0] = listed.networks.filter(({ network }: { network: string }) => network === key);
  assert.deepEqual([home0.name, home0.origins], ['Home', 1]);
  assert.match((await run('cache', 'list')).stdout, /^https:\S+ +Home /m);
  assert.match((await run('cache', 'show', origin)).stdout, / Home /);
  assert.match((await run(...race, key)).stdout, /On network Home\.\n$/);
  // The name replaces the key.
  const named = JSON.parse((await run(...race, 'Home', '--json')).stdout);
  assert.equal(named.races[0].network, key);
  assert.match(
    (await run('explain', origin, '--allow-private', '--network', 'Home')).stdout,
    /on network Home/,
  );
  const other = 'net-2d44ea1a8671e8f3';
  assert.equal((await run('network', 'name', other, 'Home')).code, 0);
  for (const command of ['race', 'explain']) {
    const several = await run(command, origin, '--allow-private', '--network', 'Home');
    assert.deepEqual([several.code, several.stdout], [2, '']);
    assert.match(several.stderr, /^photofinish: bad-network: more than one network is called "Home"/);
  }
  assert.equal((await run('network', 'unname', other)).code, 0);
  const nowhere = await run('network', 'unname', 'Hotel');
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.stderr, /^photofinish: bad-network: there is no network "Hotel"/);
  assert.equal((await run('network', 'unname', 'Home')).code, 0);
  assert.match((await run('cache', 'list')).stdout, new RegExp(`${key}`));
});

test('an invalid cache path is named', async (t) => {
  const home = scratchDirectory(t);
  const file = join(home, 'directory');
  mkdirSync(file);
  const result = await photofinish(['cache', 'list', '--cache', file], home);
  assert.equal(result.code, 1);
  assert.equal(result.stdout, '');
  assert.match(result.stderr, /^photofinish: cache-unavailable: /);
});

test("no command renames, changes or deletes a file that is not the helper's", async (t) => {
  const home = scratchDirectory(t);
  const file = join(home, 'letter.txt');
  writeFileSync(file, 'Dear Anna, '.repeat(500), { mode: 0o644 });
  const before = readdirSync(home);
  for (const args of [
    ['list'],
    ['show', 'a.test'],
    ['forget', 'a.test'],
    ['clear', '--yes'],
    ['clear', '--json', '--yes'],
  ]) {
    const { code, stdout, stderr } = await photofinish(['cache', ...args, '--cache', file], home);
    assert.deepEqual([code, stdout], [1, ''], args.join(' '));
    assert.match(stderr, /^photofinish: not-a-cache: .*letter\.txt .*is no SQLite database\n$/);
  }
  mkdirSync(join(home, '.config/photofinish'), { recursive: true });
  writeFileSync(join(home, '.config/photofinish/config.json'), JSON.stringify({ cache: file }), {
    mode: 0o600,
  });
  const { stdout } = await photofinish(['doctor'], home);
  assert.match(stdout, /!! +cache +\S+letter\.txt cannot be used.*no SQLite\s+database\s+Move that file/s);
  assert.deepEqual(readdirSync(home), [...before, '.config'].toSorted());
  assert.equal(readFileSync(file, 'utf8'), 'Dear Anna, '.repeat(500));
  assert.equal(statSync(file).mode & 0o777, 0o644);
});

test('doctor without any browser gives a remedy: exit 1', async (t) => {
  const { code, stdout } = await photofinish(['doctor', '--json'], scratchDirectory(t));
  assert.equal(code, 1);
  const document = JSON.parse(stdout);
  assert.equal(document.schema, 'photofinish.doctor/1');
  assert.equal(document.healthy, false);
  const problems = document.findings.filter(({ state }: { state: string }) => state === 'problem');
  assert.ok(
    problems.length > 0 && problems.every(({ remedy }: { remedy: string | null }) => remedy !== null),
  );
});

test('doctor names an unknown setting', async (t) => {
  const home = scratchDirectory(t);
  mkdirSync(join(home, '.config/photofinish'), { recursive: true });
  writeFileSync(join(home, '.config/photofinish/config.json'), '{"misspelt":1}', { mode: 0o600 });
  const { stdout } = await photofinish(['doctor'], home);
  assert.match(stdout, /!! +config .*misspelt/s);
});

test('what install wrote, doctor finds, with the given settings, and uninstall removes', async (t) => {
  const main = join(import.meta.dirname, 'dist/main.cjs');
  if (!existsSync(main)) return t.skip('the helper is not built');
  const home = scratchDirectory(t);
  const profile = join(home, 'a profile');
  mkdirSync(profile);
  const config = join(home, 'settings.json');
  writeFileSync(config, JSON.stringify({ cache: 'here.db' }), { mode: 0o600 });
  const where = ['--user-data-dir', profile];
  const installed = await photofinish(['install', ...where, '--config', config], home);
  assert.equal(installed.code, 0, installed.stderr);
  assert.match(installed.stdout, /photofinish'? doctor --user-data-dir '.*a profile'/);
  const doctor = await photofinish(['doctor', ...where, '--json'], home);
  assert.equal(doctor.code, 0, doctor.stdout);
  assert.match(doctor.stdout, /here\.db/, 'the cache of the launcher’s own settings is looked at');
  const removed = await photofinish(['uninstall', ...where, '--json'], home);
  assert.equal(JSON.parse(removed.stdout).browsers[0].state, 'removed');
  assert.deepEqual(readdirSync(join(profile, 'NativeMessagingHosts')), []);
  return undefined;
});

test('uninstall names the host cache that stays, and the command that clears it', async (t) => {
  const main = join(import.meta.dirname, 'dist/main.cjs');
  if (!existsSync(main)) return t.skip('the helper is not built');
  const home = scratchDirectory(t);
  const config = join(home, 'settings.json');
  writeFileSync(config, JSON.stringify({ cache: 'here.db' }), { mode: 0o600 });
  const where = ['--browser', 'chromium'];
  await photofinish(['install', ...where, '--config', config], home);
  const without = await photofinish(['uninstall', ...where], home);
  assert.doesNotMatch(without.stdout, /host cache/, 'there is none yet');
  await photofinish(['install', ...where, '--config', config], home);
  writeFileSync(join(home, 'here.db'), '');
  const { stdout } = await photofinish(['uninstall', ...where], home);
  assert.match(
    stdout,
    /^The host cache stays: .*here\.db\nClear it with: .* cache clear --cache .*here\.db$/m,
  );
  return undefined;
});

test('install checks everything before it writes anything', async (t) => {
  const home = scratchDirectory(t);
  const config = join(home, 'settings.json');
  const mistakes = [
    ['{"misspelt":1}', /bad-config: .*settings\.json: misspelt is no setting/],
    ['{"ca":["no.pem"]}', /bad-config: .*settings\.json: ca: there is no file .*no\.pem/],
  ] as const;
  for (const [text, words] of mistakes) {
    writeFileSync(config, text, { mode: 0o600 });
    const result = await photofinish(['install', '--browser', 'chromium', '--config', config], home);
    assert.equal(result.code, 2);
    assert.match(result.stderr, words);
  }
  const mistyped = await photofinish(['install', '--user-data-dir', join(home, 'profle')], home);
  assert.equal(mistyped.code, 2);
  assert.deepEqual(readdirSync(home), ['settings.json']);
});

test('install finds a browser by its program; without any its code is no-browser', async (t) => {
  const main = join(import.meta.dirname, 'dist/main.cjs');
  if (!existsSync(main)) return t.skip('the helper is not built');
  const home = scratchDirectory(t);
  const none = await ended(startCommand(['install', '--json'], home, { path: join(home, 'bin') }));
  assert.equal(none.code, 1);
  assert.match(none.stderr, /^photofinish: no-browser: [^\n]+chromium-browser[^\n]+\n$/);
  assert.equal(existsSync(join(home, '.local')), false);
  mkdirSync(join(home, 'bin'));
  writeFileSync(join(home, 'bin/chromium'), '', { mode: 0o755 });
  const found = await ended(startCommand(['install', '--json'], home, { path: join(home, 'bin') }));
  assert.equal(found.code, 0, found.stderr);
  assert.deepEqual(
    JSON.parse(found.stdout).browsers.flatMap(({ browser, state }: { browser: string; state: string }) =>
      state === 'written' ? [browser] : [],
    ),
    ['chromium'],
  );
  // Files that cannot be written are reported on stderr, too.
  rmSync(join(home, '.config'), { recursive: true });
  writeFileSync(join(home, '.config'), '');
  const failed = await ended(startCommand(['install'], home, { path: join(home, 'bin') }));
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /^photofinish: cannot-write: Chromium, .*a file is in the way/);
  return undefined;
});

test('report reads, checks and converts what the extension exports', async (t) => {
  const home = scratchDirectory(t);
  const file = join(home, 'report.json');
  const report = {
    schema: 'photofinish.report/2',
    createdAt: '2026-01-02T03:04:05.000Z',
    period: { from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T00:00:00.000Z' },
    browser: { name: 'chromium', version: '156.0' },
    network: 'home',
    sites: [
      {
        site: 'a.test',
        origins: [
          {
            origin: 'https://a.test',
            protocols: { h3: 3, h2: 1, 'http/1.1': 0, unknown: 1 },
            bytes: 100,
            hidden: 1,
            verdict: verdictSaying('h3-used', 'Reached over HTTP/3.'),
            races: [],
          },
        ],
        adoption: {
          byRequest: { h3: 3, known: 4, hidden: 1 },
          byOrigin: { h3: 1, known: 1, hidden: 0 },
          byNavigation: { h3: 1, known: 1, hidden: 0 },
        },
        hidden: 1,
        hitRatio: { hits: 1, of: 2 },
        accuracy: { hits: 1, of: 1 },
      },
    ],
  };
  writeFileSync(file, JSON.stringify(report));
  const text = await photofinish(['report', file], home);
  assert.equal(text.code, 0, text.stderr);
  assert.match(text.stdout, /a\.test +1 of 1 \(100 %\) +3 of 4 \(75 %\)/);
  assert.match(text.stdout, /Reached over HTTP\/3\./);
  assert.deepEqual(JSON.parse((await photofinish(['report', file, '--json'], home)).stdout), report);
  const html = join(home, 'report.html');
  const converted = await photofinish(['report', file, '--html', html], home);
  assert.deepEqual([converted.code, converted.stdout], [0, '']);
  assert.match(readFileSync(html, 'utf8'), /^<!doctype html>/i);
  assert.match((await photofinish(['report', file, '--csv', '-'], home)).stdout, /https:\/\/a\.test/);
  const markdown = await photofinish(['report', file, '--markdown'], home);
  assert.match(markdown.stdout, /^## Photofinish report: a\\?\.test\n/);

  const later = join(home, 'later.json');
  const [site] = report.sites;
  const origins = site?.origins.map((origin) => ({
    ...origin,
    protocols: { h3: 0, h2: 4, 'http/1.1': 0, unknown: 0 },
    verdict: verdictSaying('h3-not-offered', 'Does not offer HTTP/3.'),
  }));
  writeFileSync(later, JSON.stringify({ ...report, network: 'work', sites: [{ ...site, origins }] }));
  const diff = await photofinish(['report', '--diff', file, later], home);
  assert.equal(diff.code, 0, diff.stderr);
  assert.match(diff.stdout, /^- Different network: home, then work\.$/m);
  assert.match(
    diff.stdout,
    /^a\.test · https:\/\/a\.test · HTTP\/3 stopped \(few requests\), verdict changed$/m,
  );
  assert.match(diff.stdout, /after +0 % \(0 of 4, 0 hidden\)\. Does not offer HTTP\/3\./);
  const json = JSON.parse((await photofinish(['report', '--diff', file, later, '--json'], home)).stdout);
  assert.equal(json.schema, 'photofinish.report-diff/2');
  const same = await photofinish(['report', '--diff', file, file], home);
  assert.match(same.stdout, /No origin changed\./);
  const page = await photofinish(['report', '--diff', file, later, '--html', '-'], home);
  assert.match(page.stdout, /^<!doctype html>[\s\S]*Does not offer HTTP\/3/);
  const one = await photofinish(['report', file, '--site', 'A.test', '--json'], home);
  assert.deepEqual(JSON.parse(one.stdout), report);
  const light = {
    ...site,
    site: 'b.test',
    origins: origins?.map((origin) => ({ ...origin, modes: ['light'] })),
  };
  const mixed = join(home, 'mixed.json');
  writeFileSync(mixed, JSON.stringify({ ...report, modes: ['full', 'light'], sites: [site, light] }));
  const part = await photofinish(['report', mixed, '--site', 'b.test', '--json'], home);
  assert.deepEqual(JSON.parse(part.stdout).modes, ['light']);
  const none = await photofinish(['report', file, '--site', 'b.test'], home);
  assert.deepEqual([none.code, none.stderr], [2, 'photofinish: bad-usage: no report has the site b.test\n']);

  writeFileSync(file, JSON.stringify({ ...report, sites: [{}] }));
  const bad = await photofinish(['report', file], home);
  assert.equal(bad.code, 2);
  assert.match(bad.stderr, /^photofinish: bad-report: .*sites\.0/);

  writeFileSync(file, JSON.stringify({ ...report, createdAt: '9999-12-31T23:59:59Z' }));
  const far = await photofinish(['report', file], home);
  assert.equal(far.code, 2);
  assert.match(far.stderr, /^photofinish: bad-report: .*createdAt is more than a day in the future/);
});

test('a result that cannot be written gives one line and exit 1', {
  skip: !existsSync('/dev/full'),
}, async (t) => {
  const full = openSync('/dev/full', 'w');
  t.after(() => closeSync(full));
  const child = spawn(process.execPath, [CLI, 'cache', 'list'], {
    env: { HOME: scratchDirectory(t), PATH: '/usr/bin:/bin', ...COMPILE_CACHE },
    stdio: ['ignore', full, 'pipe'],
  });
  const { code, stderr } = await ended(child);
  assert.equal(code, 1);
  assert.match(stderr, /^photofinish: cannot-write: [^\n]+\n$/);
});

test('a result that fits on the disk only in part gives one line and exit 1, and its line is not done', {
  skip: process.platform === 'win32',
}, async (t) => {
  const home = scratchDirectory(t);
  const [out, note] = [join(home, 'out'), join(home, 'note.json')];
  const limited = async (args: readonly string[], input: string) => {
    // One block of 512 bytes, in bash 1024.
    const child = spawn(
      '/bin/sh',
      ['-c', 'ulimit -f 1; exec "$@" > out', 'sh', process.execPath, CLI, ...args],
      {
        cwd: home,
        env: { HOME: home, PATH: '/usr/bin:/bin' },
        stdio: ['pipe', 'ignore', 'pipe'],
      },
    );
    const over = ended(child);
    child.stdin?.on('error', () => {}).end(input);
    const { code, stderr } = await over;
    assert.equal(code, 1, stderr);
    assert.match(stderr, /^photofinish: cannot-write: the result cannot be written: EFBIG[^\n]+\n$/);
    assert.ok([512, 1024].includes(statSync(out).size));
  };
  await limited(['codes'], '');
  const race = ['race', '-', '--allow-private', '--memory', 'none', '--resume', note];
  await limited(race, `127.0.0.1:${await closedPort()}\n`);
  const { through, above, ended: orderly } = JSON.parse(readFileSync(note, 'utf8'));
  assert.deepEqual([through, above, orderly], [0, [], false]);
});

test('an empty file name is an error, not the current directory', async (t) => {
  const { code, stdout, stderr } = await photofinish(['cache', 'list', '--cache', ''], scratchDirectory(t));
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, /^photofinish: bad-file: /);
});

test('a damaged salt is replaced, and the command that finds it reports it', async (t) => {
  const home = scratchDirectory(t);
  const cache = join(home, 'cache.db');
  const port = await closedPort();
  const race = ['race', `https://127.0.0.1:${port}`, '--memory', 'full', '--cache', cache];
  writeFileSync(`${cache}.salt`, 'short', { mode: 0o600 });
  const first = await photofinish(race, home);
  assert.match(first.stderr, /^photofinish: salt-damaged: the salt .* was replaced .*\n$/);
  assert.equal((await photofinish(race, home)).stderr, '');
});
