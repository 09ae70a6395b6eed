// What a worker owes the server: every message of a job is acknowledged once its result is stored, and not before. And
// its streams: two surveys on one server, and two vantage points of one survey, never share a stream or a subject.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparison } from '@photofinish/shared/testing/race-samples';
import { Outbox } from './messages.ts';
import type { JetStreamClient, JsMsg } from './nats.ts';
import type { JobSource, Task } from './schema.ts';
import { namesOf } from './streams.ts';

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
    outbox.owe(message);
    return { message, from, number, job: { origin: 'https://a.test', mode: 'race' } };
  };
  return { outbox, events, taskOf };
}

const result = comparison([10], [20]);

test('a job that is held twice is acknowledged in both streams, each message once', async () => {
  const { outbox, events, taskOf } = arrange(true);
  const tasks = [taskOf(7, 'later'), taskOf(8, 'todo'), taskOf(7, 'todo')];
  await outbox.publish(
    tasks.map((job) => ({ job, result })),
    () => {},
  );
  assert.deepEqual(events.toSorted(), [
    'ack 7 of later',
    'ack 7 of todo',
    'ack 8 of todo',
    'stored survey.s.result.here',
  ]);
  assert.equal(events[0], 'stored survey.s.result.here');
});

test('what the server has not stored is not acknowledged, and can be given back', async () => {
  const { outbox, events, taskOf } = arrange(false);
  await outbox.publish([{ job: taskOf(7, 'todo'), result }], () => {});
  assert.deepEqual(events, []);
  outbox.letGo();
  assert.deepEqual(events, ['nak 7 of todo']);
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
