// Surveys that are shared among machines, and that are killed: real processes, whose documents together are complete.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, watch } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { raceDocumentSchema } from '@photofinish/shared/race/outcome';
import * as v from 'valibot';
import { closedPort } from '../testing/closed-port.ts';
import { type Note, readNote } from './resume-note.ts';

const CLI = join(import.meta.dirname, '../cli.ts');
const { NODE_COMPILE_CACHE } = process.env;
const COMPILE_CACHE = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };

interface Run {
  readonly child: ChildProcess;
  readonly over: Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** Resolves when so many lines have been printed. */
  printed(lines: number): Promise<void>;
}

/** A list of origins that refuse at once, and how to race it. */
async function scene(t: TestContext, count: number) {
  const home = mkdtempSync(join(tmpdir(), 'pf-input-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const port = await closedPort();
  const hosts = Array.from({ length: count }, (_, index) => `h${index}.test:${port}`);
  const pins = hosts.flatMap((host) => ['--resolve', `${host}:127.0.0.1`]);

  function start(...args: readonly string[]): Run {
    const common = ['race', '-', '--allow-private', '--memory', 'none', ...pins];
    const env = { HOME: home, PATH: '/usr/bin:/bin', ...COMPILE_CACHE };
    const child = spawn(process.execPath, [CLI, ...common, ...args], { env, stdio: 'pipe' });
    t.after(() => child.kill('SIGKILL'));
    // A run that refuses its options does not read its input.
    child.stdin.on('error', () => {});
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    return {
      child,
      over: once(child, 'close').then(([code]) => ({ code, stdout, stderr })),
      async printed(lines) {
        while (stdout.split('\n').length <= lines) await once(child.stdout, 'data');
      },
    };
  }

  /** Races the whole list. */
  function whole(...args: readonly string[]) {
    const run = start(...args);
    run.child.stdin?.end(`${hosts.join('\n')}\n`);
    return run.over;
  }

  return { home, hosts, origins: hosts.map((host) => `https://${host}`), start, whole };
}

/** That this machine was busy is none. */
const TROUBLE = /: (bad|cannot)-/;

/** The origins of complete documents, in their order. */
function originsIn(stdout: string): string[] {
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.flatMap((line, index) => {
    if (!line.endsWith('}') && index === lines.length - 1) return [];
    const [race] = v.parse(raceDocumentSchema, JSON.parse(line)).races;
    return race === undefined ? [] : [race.origin];
  });
}

test('shards race every line of a list once, whatever its order', async (t) => {
  const { origins, whole } = await scene(t, 24);
  const shares = await Promise.all([1, 2].map((shard) => whole('--shard', `${shard}/2`, '--seed', 'mine')));
  const raced = shares.map(({ stdout }) => originsIn(stdout));
  assert.ok(raced.every((share) => share.length > 0));
  assert.deepEqual(raced.flat().toSorted(), origins.toSorted());
  for (const { stderr } of shares) assert.doesNotMatch(stderr, TROUBLE);
});

/** Waits until the note in a file says that so many lines are done. */
async function noted(path: string, lines: number): Promise<void> {
  const enough = (): boolean => (readNote(path, { mode: 'race', shard: null })?.through ?? 0) >= lines;
  const watcher = watch(join(path, '..'));
  while (!enough()) await once(watcher, 'change');
  watcher.close();
}

/** The origins of lines that a note says are done. */
function doneIn(note: Note | null, origins: readonly string[]): string[] {
  return origins.filter((_, index) => {
    const line = index + 1;
    return note !== null && (line <= note.through || note.above.includes(line));
  });
}

test('a killed run goes on: nothing is missing, and nothing that was noted is repeated', async (t) => {
  const { home, hosts, origins, start, whole } = await scene(t, 280);
  const path = join(home, 'notes.json');
  const resume = ['--resume', path];
  const options = { mode: 'race', shard: null } as const;

  const first = start(...resume);
  first.child.stdin?.write(`${hosts.slice(0, 220).join('\n')}\n`);
  await noted(path, 200);
  await first.printed(220);
  first.child.stdin?.write(`${hosts.slice(220).join('\n')}\n`);
  await first.printed(240);
  first.child.kill('SIGKILL');
  const before = originsIn((await first.over).stdout);
  const done = doneIn(readNote(path, options), origins);
  assert.ok(done.length >= 200 && before.length >= 239, `${done.length} noted of ${before.length}`);
  assert.deepEqual(
    done.filter((origin) => !before.includes(origin)),
    [],
    'the note is never ahead of the documents',
  );

  const second = await whole(...resume);
  assert.doesNotMatch(second.stderr, TROUBLE);
  assert.equal(second.stdout[0], '\n', 'the first run may have stopped within a document');
  const after = originsIn(second.stdout);
  assert.deepEqual(after.toSorted(), origins.filter((origin) => !done.includes(origin)).toSorted());

  const third = await whole(...resume);
  assert.deepEqual(third, { code: 0, stdout: '', stderr: '' }, 'nothing is left');
});

test('an interrupted run goes on with the races that it stopped', async (t) => {
  const { home, hosts, origins, start } = await scene(t, 5);
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.after(() => silent.close());
  const stopped = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const list = [...hosts.slice(0, 2), JSON.stringify({ origin: stopped, mode: 'h2' }), ...hosts.slice(2)];
  const resume = ['--resume', join(home, 'notes.json'), '--timeout', '600000'];

  const first = start(...resume);
  first.child.stdin?.write(`${list.join('\n')}\n`);
  await Promise.all([once(silent, 'connection'), first.printed(5)]);
  first.child.kill('SIGINT');
  const interrupted = await first.over;
  assert.equal(interrupted.code, 130);
  assert.deepEqual(originsIn(interrupted.stdout).toSorted(), [`https://${stopped}`, ...origins].toSorted());

  for (const socket of sockets) socket.destroy();
  silent.on('connection', (socket) => socket.destroy());
  const second = start(...resume);
  second.child.stdin?.end(`${list.join('\n')}\n`);
  const { stdout } = await second.over;
  assert.deepEqual(originsIn(stdout), [`https://${stopped}`]);
  assert.equal(stdout[0], '{', 'the first run ended in an orderly way');
});

test('another list, other options and an unusable file are refused, and nothing is raced', async (t) => {
  const { home, hosts, start, whole } = await scene(t, 4);
  const path = join(home, 'notes.json');
  assert.equal((await whole('--resume', path)).code, 1);
  const other = start('--resume', path);
  other.child.stdin?.end(`${hosts.toReversed().join('\n')}\n`);
  const shorter = start('--resume', path);
  shorter.child.stdin?.end(`${hosts[0]}\n`);
  const refused = await Promise.all([
    other.over,
    shorter.over,
    whole('--resume', path, '--mode', 'h2'),
    whole('--resume', home),
    whole('--resume', join(home, 'none', 'notes.json')),
  ]);
  const codes = ['bad-resume', 'bad-resume', 'bad-resume', 'bad-file', 'cannot-write'];
  for (const [index, { code, stdout, stderr }] of refused.entries()) {
    assert.deepEqual([code, stdout], [2, ''], codes[index]);
    assert.match(stderr, new RegExp(`^photofinish: ${codes[index]}: [^\\n]+\\n$`));
  }
});
