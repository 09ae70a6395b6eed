import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_INBOUND_BYTES, MAX_OBSERVATIONS } from '@photofinish/shared/port/wire';
import type { Observation } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { HelperError } from '../../common/helper/state.ts';
import { observation } from '../../testing/samples.ts';
import { createUpload } from './upload.ts';

/** An outbox of rows with this many observations each. */
function outbox(sizes: readonly number[]) {
  let rows = sizes.map((size, i) => ({
    key: i + 1,
    observations: Array.from({ length: size }, (_, n) => ({ id: `${i}:${n}` }) as Observation),
  }));
  return {
    left: () => rows.length,
    add: (key: number) => rows.push({ key, observations: [{ id: String(key) } as Observation] }),
    ledger: {
      outbox: async (limit: number, above = 0) => rows.filter(({ key }) => key > above).slice(0, limit),
      acknowledge: async (keys: readonly number[]) => {
        rows = rows.filter((row) => !keys.includes(row.key));
      },
    },
  };
}

test('observations inflated by servers are split into messages that the helper accepts', async () => {
  const altSvc = '\u4f60'.repeat(4096);
  const observations = Array.from({ length: 300 }, (_, n) => ({ id: String(n), altSvc }) as Observation);
  const { ledger, left } = outbox([]);
  const sent: Observation[][] = [];
  let acknowledged: readonly number[] = [];
  await createUpload({
    mayRecord: () => true,
    ledger: {
      outbox: async () => (acknowledged.length === 0 ? [{ key: 7, observations }] : ledger.outbox(1)),
      acknowledge: async (keys) => {
        acknowledged = keys;
      },
    },
    observed: async (message) => {
      assert.equal(acknowledged.length, 0);
      sent.push([...message]);
    },
  })();
  for (const message of sent)
    assert.ok(
      Buffer.byteLength(JSON.stringify(message)) < MAX_INBOUND_BYTES - 1024,
      'with room for the frame',
    );
  assert.deepEqual(sent.flat(), observations);
  assert.equal(sent.length, 4, 'no more than necessary');
  assert.deepEqual(acknowledged, [7]);
  assert.equal(left(), 0);
});

test('everything is sent, in messages the wire allows, and deleted after the acknowledgement', async () => {
  const { ledger, left } = outbox([300, 300, 100, 500]);
  const sent: number[] = [];
  await createUpload({
    mayRecord: () => true,
    ledger,
    observed: async (observations) => {
      assert.ok(left() > 0);
      sent.push(observations.length);
    },
  })();
  assert.deepEqual(sent, [500, 500, 200]);
  assert.ok(sent.every((n) => n <= MAX_OBSERVATIONS));
  assert.equal(left(), 0);
});

test('without an acknowledgement nothing is deleted', async () => {
  const { ledger, left } = outbox([1, 1]);
  const upload = createUpload({
    mayRecord: () => true,
    ledger,
    observed: async () => {
      throw new HelperError('helper-disconnected', 'gone');
    },
  });
  await assert.rejects(upload(), /gone/);
  assert.equal(left(), 2);
});

test('a helper that can store nothing is told everything once, and is later offered the oldest rows again', async () => {
  const { ledger, left, add } = outbox(Array(120).fill(1));
  let unavailable = true;
  const sent: (string | undefined)[] = [];
  const upload = createUpload({
    mayRecord: () => true,
    ledger,
    observed: async (observations) => {
      sent.push(observations[0]?.id);
      if (unavailable) throw new HelperError('cache-unavailable', 'read-only');
    },
  });
  await upload();
  assert.deepEqual(sent.splice(0), ['0:0', '50:0', '100:0']);
  add(121);
  await upload();
  assert.deepEqual(sent.splice(0), ['0:0', '121']);
  assert.equal(left(), 121);
  unavailable = false;
  await upload();
  assert.deepEqual(sent, ['0:0', '50:0', '100:0']);
  assert.equal(left(), 0);
});

test('what the helper can never read does not block the rest', async () => {
  const { ledger, left } = outbox([1]);
  await createUpload({
    mayRecord: () => true,
    ledger,
    observed: async () => {
      throw new HelperError('bad-message', 'unreadable');
    },
  })();
  assert.equal(left(), 0);
});

test('one upload runs at a time, and includes what arrives meanwhile', async () => {
  const { ledger, left, add } = outbox([1]);
  let running = 0;
  const upload = createUpload({
    mayRecord: () => true,
    ledger,
    observed: async () => {
      running += 1;
      assert.equal(running, 1);
      await Promise.resolve();
      running -= 1;
    },
  });
  const first = upload();
  add(9);
  await Promise.all([first, upload()]);
  assert.equal(left(), 0);
});

test('waiting observations of a site excluded meanwhile, on its pages or others, are deleted unsent', async () => {
  const observations = [
    observation({ id: '1', site: 'a.test', origin: 'https://b.test' as Origin }),
    observation({ id: '2', site: 'b.test', origin: 'https://b.test' as Origin }),
    observation({ id: '3', site: 'b.test', origin: 'https://a.test' as Origin }),
  ];
  const rows = [{ key: 1, observations }];
  const sent: Observation[] = [];
  const upload = createUpload({
    ledger: { outbox: async () => [...rows], acknowledge: async () => void rows.pop() },
    observed: async (message) => void sent.push(...message),
    mayRecord: ({ site, origin }) => site !== 'a.test' && origin !== 'https://a.test',
  });
  await upload();
  assert.deepEqual(sent, [observations[1]]);
  assert.deepEqual(rows, []);
});
