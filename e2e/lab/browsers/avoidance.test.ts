// The steps of a turn in which QUIC fails, on a testbed that only notes them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { avoid, WAYS } from './avoidance.ts';
import type { Observation } from './observation.ts';
import type { Subject } from './subjects.ts';
import type { NamedTestbed, Visitor } from './testbed.ts';

/** Runs one turn of one client, which uses these protocols in turn; returns what happened, and its visits. */
async function stepsOf(name: string, protocols: readonly ('h2' | 'h3')[]) {
  const steps: string[] = [];
  const answers = [...protocols];
  const visitor: Visitor = {
    forget: async () => void steps.push('forget'),
    visit: async () => undefined,
    learn: async () => void steps.push('learn'),
    part: async () => void steps.push('part'),
    close: async () => void steps.push('close'),
  };
  const subject = { name: 'fake', start: async () => visitor } as unknown as Subject;
  const testbed = {
    server: {
      obstruct: async (obstacles: readonly object[]) =>
        void steps.push(obstacles.length > 0 ? 'break' : 'mend'),
      shape: async ({ up }: { up?: { apart?: object } }) =>
        void steps.push(up?.apart === undefined ? 'clean' : 'late'),
    },
    drain: async () => {},
    changeAddress: async () => void steps.push('other address'),
    async observe(): Promise<Observation> {
      steps.push('visit');
      const protocol = answers.shift() ?? 'h2';
      return { queries: [], attempts: [], request: { protocol, family: 4 } };
    },
  } as unknown as NamedTestbed;
  const way = WAYS.find((each) => each.name === name);
  assert.ok(way);
  const [client] = await avoid(testbed, way, [subject], 60_000, () => {});
  return { steps: steps.slice(2), visits: client?.visits ?? [] };
}

const LEARNT_TWICE = ['forget', 'learn', 'part', 'learn', 'part'];

test('QUIC is broken in one visit only, and the turn ends when HTTP/3 is back', async () => {
  const { steps, visits } = await stepsOf('broken-once', ['h2', 'h3']);
  const failing = ['break', 'part', 'visit', 'mend'];
  assert.deepEqual(steps, [...LEARNT_TWICE, ...failing, 'part', 'visit', 'mend', 'close']);
  assert.deepEqual(
    visits.map(({ request }) => request?.protocol),
    ['h2', 'h3'],
  );
  assert.equal(visits[0]?.startedMs, 0);
});

test('QUIC that is broken from then on is not mended before the turn ends', async () => {
  const { steps } = await stepsOf('broken-still', ['h2', 'h3']);
  const visits = ['break', 'part', 'visit', 'part', 'visit'];
  assert.deepEqual(steps, [...LEARNT_TWICE, ...visits, 'mend', 'close']);
});

test('where HTTP/3 is not to have been used, one lesson teaches only Alt-Svc', async () => {
  const { steps } = await stepsOf('broken-unused', ['h2', 'h3']);
  assert.equal(steps.filter((step) => step === 'learn').length, 1);
});

test('after a late handshake the connections are kept once, and closed before nothing is late', async () => {
  const { steps } = await stepsOf('late-quic', ['h2', 'h2', 'h3']);
  const visits = ['late', 'part', 'visit', 'visit', 'clean', 'part', 'visit'];
  assert.deepEqual(steps, [...LEARNT_TWICE, ...visits, 'mend', 'close']);
});
