// The store in pages: in whatever order answers and notifications arrive, a page's value never becomes older.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { memoryStore } from '../../testing/storage.ts';
import type { StoreAnswer, StoreEvent, StoreRequest } from '../messages.ts';
import { createPageStore } from './page-store.ts';
import { update } from './store.ts';

/** A background that answers when the test lets it. */
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
    /** Requests whose answers are held back. */
    waiting,
    /** Releases the answer to the `n`th waiting request, and waits for the consequences. */
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

test('the notification of an earlier change never reverts to an older value', async () => {
  const { store, kept, tell, release } = background();
  const shown: unknown[] = [];
  store.onChanged('settings', (value) => shown.push(value));
  await kept.replace('settings', 0, 'earlier');
  // The request caused by the notification is answered with the current value, and late.
  tell('settings');
  await turn();
  const saving = store.replace('settings', 1, 'newest').then(({ value }) => shown.push(value));
  await turn();
  await release(1);
  await saving;
  await release(0);
  assert.deepEqual(shown, ['newest', 'newest']);
});

test('a change that was overwritten by another is not repeated', async () => {
  const { store, kept, tell, release, waiting } = background();
  store.onChanged('settings', () => {});
  const changing = update(store, 'settings', () => 'mine');
  await turn();
  await release();
  // Stored, but answered late.
  await kept.replace('settings', 1, 'theirs');
  tell('settings');
  await turn();
  await release(1);
  await release(0);
  // No further request was sent.
  assert.equal(waiting.length, 0);
  await changing;
  assert.deepEqual(await kept.get('settings'), { revision: 2, value: 'theirs' });
});

test('a change applies to the current value, even if another writer was faster', async () => {
  const { store, kept, release } = background();
  const changing = update(store, 'settings', (stored) => `${stored ?? ''}b`);
  await turn();
  await kept.replace('settings', 0, 'a');
  for (let answers = 0; answers < 4; answers += 1) await release();
  await changing;
  assert.equal((await kept.get('settings')).value, 'ab');
});

test('a background terminated before it answers is asked again, and no change is made twice', async () => {
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

test('the reason why the background could not answer is reported', async () => {
  const asking = (answer: StoreAnswer | undefined) =>
    createPageStore({ ask: async () => answer, onEvent: () => {} }).get('settings');
  await assert.rejects(asking({ error: 'the disk is full' }), /the disk is full/);
  await assert.rejects(asking(undefined), /did not answer/);
});
