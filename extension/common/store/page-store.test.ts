// The store as pages have it: whatever order answers and words of changes come in, what a page has known is never older
// again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { memoryStore } from '../../testing/memory-store.ts';
import type { StoreAnswer, StoreEvent, StoreRequest } from '../messages.ts';
import { createPageStore } from './page-store.ts';
import { update } from './store.ts';

/** A background whose answers come when the test lets them. */
function background() {
  const kept = memoryStore();
  const waiting: (() => void)[] = [];
  const listeners: ((event: StoreEvent) => void)[] = [];
  const answer = async (request: StoreRequest): Promise<StoreAnswer> => ({
    stored: await (request.type === 'stored'
      ? kept.get(request.key)
      : kept.replace(request.key, request.revision, request.value)),
  });
  return {
    kept,
    /** Questions whose answers are held back. */
    waiting,
    /** Lets the answer to the question asked as number `n` of those that wait out, and what follows from it happen. */
    async release(n = 0): Promise<void> {
      waiting.splice(n, 1)[0]?.();
      await turn();
    },
    tell: (key: StoreEvent['key']) => {
      for (const listen of listeners) listen({ type: 'store-changed', key });
    },
    store: createPageStore({
      ask: async (request) => {
        const answered = await answer(request);
        await new Promise<void>((resolve) => waiting.push(resolve));
        return answered;
      },
      onEvent: (listen) => listeners.push(listen),
    }),
  };
}

test('the word of an earlier change never takes back what was stored after it', async () => {
  const { store, kept, tell, release } = background();
  const shown: unknown[] = [];
  store.onChanged('settings', (value) => shown.push(value));
  await kept.replace('settings', 0, 'earlier');
  // The question that the word of it makes the page ask is answered by what is stored now, and comes late.
  tell('settings');
  await turn();
  const saving = store.replace('settings', 1, 'newest').then(({ value }) => shown.push(value));
  await turn();
  await release(1);
  await saving;
  await release(0);
  assert.deepEqual(shown, ['newest', 'newest']);
});

test('a change that somebody followed up is not made again', async () => {
  const { store, kept, tell, release, waiting } = background();
  store.onChanged('settings', () => {});
  const changing = update(store, 'settings', () => 'mine');
  await turn();
  await release();
  // Stored, and answered late.
  await kept.replace('settings', 1, 'theirs');
  tell('settings');
  await turn();
  await release(1);
  await release(0);
  // Nothing else is asked.
  assert.equal(waiting.length, 0);
  await changing;
  assert.deepEqual(await kept.get('settings'), { revision: 2, value: 'theirs' });
});

test('a change is made on what is stored by then, whoever was quicker', async () => {
  const { store, kept, release } = background();
  const changing = update(store, 'settings', (stored) => `${stored ?? ''}b`);
  await turn();
  await kept.replace('settings', 0, 'a');
  for (let answers = 0; answers < 4; answers += 1) await release();
  await changing;
  assert.equal((await kept.get('settings')).value, 'ab');
});

test('a background that ends before it answers is asked again, and changes nothing twice', async () => {
  const kept = memoryStore();
  let ends = 1;
  const store = createPageStore({
    async ask(request) {
      const stored = await (request.type === 'stored'
        ? kept.get(request.key)
        : kept.replace(request.key, request.revision, request.value));
      if (request.type === 'store' && ends-- > 0) throw new Error('the message channel closed');
      return { stored };
    },
    onEvent: () => {},
  });
  let asked = 0;
  await update(store, 'settings', (stored) => {
    asked += 1;
    return [...((stored as string[] | undefined) ?? []), 'a'];
  });
  assert.deepEqual([(await kept.get('settings')).value, asked], [['a'], 1]);
});

test('why the background could not answer is told', async () => {
  const asking = (answer: StoreAnswer | undefined) =>
    createPageStore({ ask: async () => answer, onEvent: () => {} }).get('settings');
  await assert.rejects(asking({ error: 'the disk is full' }), /the disk is full/);
  await assert.rejects(asking(undefined), /did not answer/);
});
