// Surveys that are shared among machines, and that are killed: real processes, whose documents together are complete.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { type OriginRace, raceDocumentSchema } from '@photofinish/shared/race/outcome';
import { attempt, originRace, trial } from '@photofinish/shared/testing/race-samples';
import * as v from 'valibot';
import { ended, recordingTerminal, startCommand } from '../testing/command.ts';
import { closedPort } from '../testing/peers.ts';
import { scratchDirectory } from '../testing/scratch.ts';
import {
  PROGRESS_EVERY_MS,
  type RaceStream,
  raceInput,
  raceStream,
  surveyCounter,
  surveyText,
} from './race-input.ts';
import { inShard, parseRaceCommand, readShard } from './race-options.ts';
import { fixedPace } from './race-pace.ts';
import { type Note, readNote } from './resume.ts';
import { NO_NAMES } from './text.ts';

interface Run {
  readonly child: ChildProcess;
  readonly over: ReturnType<typeof ended>;
  /** Resolves when so many lines have been printed. */
  printed(lines: number): Promise<void>;
}

/** A list of origins that refuse at once, and how to race it. */
async function testbed(t: TestContext, count: number) {
  const home = scratchDirectory(t);
  const port = await closedPort();
  const hosts = Array.from({ length: count }, (_, index) => `h${index}.test:${port}`);
  const pins = hosts.flatMap((host) => ['--resolve', `${host}:127.0.0.1`]);

  function start(...args: readonly string[]): Run {
    const common = ['race', '-', '--allow-private', '--memory', 'none', ...pins];
    const child = startCommand([...common, ...args], home, { stdin: 'pipe' });
    t.after(() => child.kill('SIGKILL'));
    // A run that refuses its options does not read its input.
    child.stdin?.on('error', () => {});
    const over = ended(child);
    let printed = 0;
    child.stdout?.on('data', (text: string) => {
      printed += text.split('\n').length - 1;
    });
    return {
      child,
      over,
      async printed(lines) {
        while (printed < lines) await once(child.stdout ?? child, 'data');
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
  const { origins, whole } = await testbed(t, 24);
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
  const { home, hosts, origins, start, whole } = await testbed(t, 280);
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
  const { home, hosts, origins, start } = await testbed(t, 5);
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
  const { home, hosts, start, whole } = await testbed(t, 4);
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

async function* linesOf(...lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

/** Races ended by the test; every event of the stream in order. */
function openLoop(options: Partial<RaceStream> & Pick<RaceStream, 'lines'>) {
  const events: string[] = [];
  const pending = new Map<string, PromiseWithResolvers<OriginRace>>();
  const stop = new AbortController();
  const over = raceStream({
    mode: 'race',
    pace: fixedPace(8),
    tellsWaits: true,
    wanted: () => true,
    race({ origin, mode }) {
      events.push(`start ${origin.host} ${mode}`);
      const race = Promise.withResolvers<OriginRace>();
      pending.set(origin.host, race);
      return race.promise;
    },
    finished: (_race, { origin }) => void events.push(`end ${origin.host}`),
    complain: (code, message) => void events.push(`${code} ${message}`),
    signal: stop.signal,
    ...options,
  });
  const end = async (host: string): Promise<void> => {
    pending.get(host)?.resolve({} as OriginRace);
    for (let turn = 0; turn < 3; turn += 1) await setImmediate();
  };
  const fail = (host: string, why: Error): void => pending.get(host)?.reject(why);
  return { events, over, end, fail, stop };
}

test('lines are raced as they arrive, and reported as they end', async () => {
  const { events, over, end } = openLoop({ lines: linesOf('a.test', '{"origin":"b.test","mode":"h2"}') });
  await setImmediate();
  await end('b.test');
  await end('a.test');
  assert.deepEqual(await over, { badLines: 0, waits: 0 });
  assert.deepEqual(events, ['start a.test race', 'start b.test h2', 'end b.test', 'end a.test']);
});

test('a bad line is reported with its number and does not affect others', async () => {
  const { events, over, end } = openLoop({ lines: linesOf('', 'http://a.test', '{}', 'b.test') });
  await setImmediate();
  await end('b.test');
  assert.deepEqual(await over, { badLines: 2, waits: 0 });
  assert.match(events[0] ?? '', /^bad-origin line 2: /);
  assert.match(events[1] ?? '', /^bad-line line 3: the line names no origin$/);
  assert.deepEqual(events.slice(2), ['start b.test race', 'end b.test']);
});

test('beyond the limit lines wait, which is reported once', async () => {
  const { events, over, end } = openLoop({
    lines: linesOf('a.test', 'b.test', 'c.test', 'd.test'),
    pace: fixedPace(2),
  });
  await setImmediate();
  assert.deepEqual(events.slice(0, 2), ['start a.test race', 'start b.test race']);
  assert.match(events[2] ?? '', /^races-wait 2 races .*line 3/);
  await end('b.test');
  assert.deepEqual(events.slice(3), ['end b.test', 'start c.test race']);
  for (const host of ['a.test', 'c.test', 'd.test']) await end(host);
  assert.deepEqual(await over, { badLines: 0, waits: 2 });
  assert.equal(events.filter((event) => event.startsWith('races-wait')).length, 1);
});

test('a rising pace starts waiting lines, and adaptive waiting is not reported', async () => {
  let limit = 1;
  const pace = {
    limit: () => limit,
    over() {
      limit = 3;
    },
  };
  const lines = linesOf('a.test', 'b.test', 'c.test', 'd.test');
  const { events, over, end } = openLoop({ lines, pace, tellsWaits: false });
  await setImmediate();
  assert.deepEqual(events, ['start a.test race']);
  await end('a.test');
  assert.deepEqual(events.slice(2), ['start b.test race', 'start c.test race', 'start d.test race']);
  for (const host of ['b.test', 'c.test', 'd.test']) await end(host);
  await over;
  assert.ok(!events.some((event) => event.startsWith('races-wait')));
});

test('a line that is not wanted is neither raced nor reported, and keeps its number', async () => {
  const asked: string[] = [];
  const { events, over, end } = openLoop({
    lines: linesOf('a.test', '', 'b.test/x', 'c.test'),
    wanted({ origin }, line) {
      asked.push(`${origin.host} ${line}`);
      return origin.host === 'c.test';
    },
    finished: (_race, { origin }, line) => void events.push(`end ${origin.host} ${line}`),
  });
  await setImmediate();
  await end('c.test');
  await over;
  assert.deepEqual(asked, ['a.test 1', 'b.test 3', 'c.test 4']);
  assert.deepEqual(events, ['start c.test race', 'end c.test 4']);
});

test('what is left out of a line is reported with its number', async () => {
  const { events, over, end } = openLoop({ lines: linesOf('# mine', 'a.test/x') });
  await setImmediate();
  await end('a.test');
  assert.deepEqual(await over, { badLines: 0, waits: 0 });
  assert.deepEqual(events, [
    'path-left-out line 2: racing https://a.test, ignoring /x',
    'start a.test race',
    'end a.test',
  ]);
});

test('a race that cannot be run ends the stream after those in progress', async () => {
  const { events, over, end, fail } = openLoop({
    lines: linesOf('a.test', 'b.test', 'c.test'),
    pace: fixedPace(2),
  });
  const rejected = assert.rejects(over, /no transport/);
  await setImmediate();
  fail('a.test', new Error('no transport'));
  await setImmediate();
  await end('b.test');
  await rejected;
  assert.ok(events.includes('end b.test'));
  assert.ok(!events.includes('start c.test race'));
});

test('after an abort no line is started', async () => {
  const { events, over, end, stop } = openLoop({ lines: linesOf('a.test', 'b.test'), pace: fixedPace(1) });
  await setImmediate();
  stop.abort();
  await end('a.test');
  await over;
  assert.ok(!events.includes('start b.test race'));
});

test('done, failed, rate, and the time left once the total is known', () => {
  const half = { done: 400, failed: 3, total: 5000, elapsedMs: 10_000 };
  assert.equal(surveyText(half), '400 of 5000 done, 3 failed, 40 per second, 1 min left');
  assert.equal(surveyText({ ...half, total: null }), '400 done, 3 failed, 40 per second');
  assert.equal(surveyText({ ...half, total: 400 }), '400 of 400 done, 3 failed, 40 per second');
});

test('the total of a shard is known after its first race, as are the lines that an earlier run has raced', async (t) => {
  const path = join(scratchDirectory(t), 'notes.json');
  const hosts = Array.from({ length: 400 }, (_, index) => `h${index}.test`);
  const share = hosts.filter((host) => inShard(readShard('1/4'), `https://${host}`)).length;
  const reached = originRace([trial([attempt({ protocol: 'h3', outcome: 'adopted', establishedMs: 5 })])]);

  /** Races the shard until so many races are done; returns the first line of progress. */
  async function firstProgress(races: number): Promise<string | undefined> {
    const shown: string[] = [];
    const stop = new AbortController();
    let begun = 0;
    const stdin = Readable.from([`# mine\n${hosts.join('\n')}\nhttp://a.test\n`]);
    const real = t.mock.getter(process, 'stdin', () => stdin);
    const { terminal } = recordingTerminal();
    await raceInput(
      {
        command: parseRaceCommand(['-', '--shard', '1/4', '--concurrency', '1', '--resume', path]),
        network: 'lab',
        names: NO_NAMES,
        stop,
        moved: () => false,
        async race() {
          begun += 1;
          if (begun === 1) await setTimeout(2 * PROGRESS_EVERY_MS);
          if (begun > races) stop.abort();
          return reached;
        },
      },
      {
        ...terminal,
        result: (_text, written) => written?.(true),
        progress: (text) => void shown.push(text),
      },
    );
    real.mock.restore();
    return shown[0];
  }

  assert.equal(await firstProgress(10), `1 of ${share} done, 0 failed`);
  assert.equal(await firstProgress(1), `1 of ${share - 10} done, 0 failed`);
});

test('slow rates are per minute, and few races have no rate', () => {
  assert.match(surveyText({ done: 30, failed: 0, total: null, elapsedMs: 10_000 }), /3\.0 per second/);
  assert.match(surveyText({ done: 10, failed: 0, total: null, elapsedMs: 60_000 }), /10 per minute/);
  assert.equal(surveyText({ done: 2, failed: 1, total: 9, elapsedMs: 50 }), '2 of 9 done, 1 failed');
});

test('races disturbed by a busy machine are counted and reported once, at the end', () => {
  const { terminal, errors } = recordingTerminal();
  const reached = originRace([trial([attempt({ protocol: 'h3', outcome: 'adopted', establishedMs: 5 })])]);
  const [own] = reached.trials;
  assert.ok(own);
  const disturbed = originRace([own, { ...own, disturbed: 'times' }]);
  const unheard = originRace([], { error: { code: 'dns-failed', message: 'm', disturbed: true } });
  const quiet = surveyCounter(terminal);
  quiet.over(reached, 2);
  quiet.end();
  assert.deepEqual(errors, []);
  const busy = surveyCounter(terminal);
  for (const race of [disturbed, reached, unheard]) busy.over(race, null);
  busy.end();
  assert.deepEqual(busy.counts, { done: 3, failed: 1, busy: 2 });
  assert.deepEqual(errors, ['machine-busy: this machine was late in 2 of 3 races: see "disturbed"']);
  const alone = surveyCounter(terminal);
  alone.over(disturbed, 1);
  alone.end();
  assert.equal(errors[1], 'machine-busy: this machine was late in 1 of 1 race: see "disturbed"');
});
