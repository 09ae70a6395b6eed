// What a worker owes the server: every message of a job is acknowledged once its result is stored, and not before; how it
// bears an outage; and its streams: two surveys on one server, and two vantage points of one survey, never share a stream
// or a subject.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparison } from '@photofinish/shared/testing/race-samples';
import { Troubles } from './connect.ts';
import { Outbox } from './messages.ts';
import {
  type Consumer,
  errors,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
} from './nats.ts';
import type { JobSource, Task } from './schema.ts';
import { causeOf, fetched, namesOf } from './streams.ts';

/** An outbox whose server stores everything, or nothing; what happened to messages and stream, in order. */
function arrange(stores: boolean) {
  const events: string[] = [];
  const publish = async (subject: string): Promise<void> => {
    events.push(`stored ${subject}`);
  };
  const outbox = new Outbox({
    client: { publish } as unknown as JetStreamClient,
    names: namesOf('s'),
    vantage: 'here',
    insist: async (_what, run) => {
      if (stores) await run();
      return stores;
    },
  });
  const taskOf = (number: number, from: JobSource): Task => {
    const note = (what: string) => (): void => void events.push(`${what} ${number} of ${from}`);
    const message = { working: () => {}, ack: note('ack'), nak: note('nak') } as unknown as JsMsg;
    return { message, from, number, job: { origin: 'https://a.test', mode: 'race' } };
  };
  return { outbox, events, taskOf };
}

const result = comparison([10], [20]);

test('a job delivered again while it is held is raced once, and acknowledged in both streams', async () => {
  const { outbox, events, taskOf } = arrange(true);
  const tasks = [taskOf(7, 'later'), taskOf(8, 'todo'), taskOf(7, 'todo'), taskOf(8, 'todo')];
  const raced = tasks.filter((task) => outbox.owe(task));
  assert.deepEqual(raced, tasks.slice(0, 2));
  await outbox.publish(
    raced.map((job) => ({ job, result })),
    () => {},
  );
  assert.deepEqual(events.toSorted(), [
    'ack 7 of later',
    'ack 7 of todo',
    'ack 8 of todo',
    'ack 8 of todo',
    'stored survey.s.result.here',
  ]);
  assert.equal(events[0], 'stored survey.s.result.here');
});

test('what the server has not stored is not acknowledged, and can be given back', async () => {
  const { outbox, events, taskOf } = arrange(false);
  const task = taskOf(7, 'todo');
  outbox.owe(task);
  await outbox.publish([{ job: task, result }], () => {});
  assert.deepEqual(events, []);
  outbox.letGo();
  assert.deepEqual(events, ['nak 7 of todo']);
});

test('a job that comes back before the answer to its postponement is raced, and stays on the server until then', async () => {
  const { outbox, events, taskOf } = arrange(true);
  const [listed, postponed] = [taskOf(7, 'todo'), taskOf(7, 'later')];
  assert.deepEqual([outbox.owe(listed), outbox.owe(postponed)], [true, true]);
  await outbox.postpone(listed);
  assert.deepEqual(events, ['stored survey.s.later.here', 'ack 7 of todo']);
  await outbox.giveUp(postponed, 'no-answer');
  assert.deepEqual(events.slice(2), ['stored survey.s.dead.here', 'ack 7 of later']);
});

test('of a job that was raced from both streams one result is stored', async () => {
  const { outbox, events, taskOf } = arrange(true);
  const tasks = [taskOf(7, 'todo'), taskOf(7, 'later')];
  for (const task of tasks) outbox.owe(task);
  let stored = 0;
  const count = (results: number) => {
    stored += results;
  };
  await outbox.publish(
    tasks.map((job) => ({ job, result })),
    count,
  );
  await outbox.publish([{ job: tasks[1] ?? taskOf(7, 'later'), result }], count);
  assert.equal(stored, 1);
  assert.deepEqual(events.slice(1), ['ack 7 of todo', 'ack 7 of later']);
});

test('what was given back and is delivered again is another task', () => {
  const { outbox, taskOf } = arrange(true);
  const [before, after] = [taskOf(7, 'todo'), taskOf(7, 'todo')];
  outbox.owe(before);
  outbox.letGo();
  assert.equal(outbox.owe(after), true);
  assert.deepEqual([outbox.owes(before), outbox.owes(after)], [false, true]);
});

test('an outage is told once, and that it is over', () => {
  const said: string[] = [];
  const troubles = new Troubles((message) => said.push(message));
  troubles.over('jobs could not be pulled');
  for (const message of ['timeout', 'timeout', 'no responders', 'no responders'])
    troubles.begun('jobs could not be pulled', new Error(message));
  troubles.begun('results could not be stored', new Error('timeout'));
  troubles.over('jobs could not be pulled');
  troubles.over('jobs could not be pulled');
  assert.deepEqual(said, [
    'jobs could not be pulled: timeout; trying again until it works',
    'jobs could not be pulled: no responders; trying again until it works',
    'results could not be stored: timeout; trying again until it works',
    'jobs could not be pulled: it works again',
  ]);
});

/** A consumer of a server that sends one message and is then away, for which the client waits. */
function consumerOfLost() {
  const stopped = Promise.withResolvers<void>();
  async function* messages() {
    yield { seq: 1 };
    await stopped.promise;
  }
  const fetch = async () => Object.assign(messages(), { stop: () => stopped.resolve() });
  return { fetch } as unknown as Consumer;
}

test('a server that answers nothing because it cannot write tells why', async () => {
  const full = new JetStreamApiError({
    code: 500,
    err_code: 10051,
    description: 'write 1.blk: no space left on device',
  });
  const asked: string[] = [];
  const purge = async (stream: string, { filter }: { filter: string }) => {
    asked.push(filter);
    if (stream === 's-result') throw full;
  };
  const manager = { streams: { purge } } as unknown as JetStreamManager;
  const timeout = new errors.TimeoutError();
  assert.equal(await causeOf(timeout, manager, namesOf('s')), full);
  assert.deepEqual(new Set(asked), new Set(['none']), 'of messages that no stream has');
  assert.equal(await causeOf(timeout, manager, namesOf('other')), timeout);
  const refused = new Error('refused');
  assert.equal(await causeOf(refused, manager, namesOf('s')), refused);
  const said: string[] = [];
  new Troubles((message) => said.push(message)).begun('results could not be stored', full);
  assert.match(
    said.join(),
    /stored: the server's disk is full: .*; make room and restart the server; trying/,
  );
});

test('what waits for a server that is away ends when it is aborted', async () => {
  const ending = new AbortController();
  const seen: number[] = [];
  for await (const { seq } of fetched(consumerOfLost(), { max_messages: 2, expires: 1000 }, ending.signal)) {
    seen.push(seq);
    setImmediate(() => ending.abort());
  }
  for await (const { seq } of fetched(consumerOfLost(), { max_messages: 2, expires: 1000 }, ending.signal))
    seen.push(seq);
  assert.deepEqual(seen, [1]);
});

function everyName(survey: string): string[] {
  const { bucket, streams, ...names } = namesOf(survey);
  const subjects = ['a', 'a-b'].flatMap((vantage) => [
    names.resultSubject(vantage),
    names.laterSubject(vantage),
    names.deadSubject(vantage),
  ]);
  return [
    `KV_${bucket}`,
    ...Object.values(streams),
    names.todoSubject(0),
    names.todoSubject(63),
    ...subjects,
  ];
}

test('names are of the survey, and told apart by what they are for', () => {
  const { streams, resultSubject } = namesOf('web-1');
  assert.deepEqual(Object.values(streams), ['web-1-todo', 'web-1-result', 'web-1-later', 'web-1-dead']);
  assert.equal(resultSubject('office-1'), 'survey.web-1.result.office-1');
});

test('no two surveys share a name', () => {
  const all = ['web', 'web-todo', 'todo', 'KV', 'KV-web'].flatMap(everyName);
  assert.equal(new Set(all).size, all.length);
});
