// An archive contains its files, and its bytes depend on nothing else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { unzipSync } from 'fflate';
import { type Entry, zipOf } from './archive.ts';

const path = fc.stringMatching(/^[a-z]{1,8}(\/[a-z]{1,8}){0,2}\.[a-z]{2}$/);
const entry: fc.Arbitrary<Entry> = fc.record({
  path,
  bytes: fc.uint8Array({ maxLength: 2000 }),
  executable: fc.boolean(),
});
const entries = fc.uniqueArray(entry, { selector: (each) => each.path, maxLength: 12 });

test('the same entries in any order give the same bytes, which contain them', () => {
  const shuffled = entries.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
  );
  fc.assert(
    fc.property(shuffled, ([one, other]) => {
      const zip = zipOf(one);
      assert.deepEqual(zipOf(other), zip);
      const read = unzipSync(zip);
      assert.deepEqual(Object.keys(read), one.map((each) => each.path).toSorted());
      for (const { path, bytes } of one) assert.deepEqual(Buffer.from(read[path] ?? []), Buffer.from(bytes));
    }),
  );
});

test('neither the time of day nor the time zone changes a byte', (t) => {
  const files = [{ path: 'a', bytes: new Uint8Array([1]), executable: false }];
  const { TZ } = process.env;
  t.after(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });
  process.env.TZ = 'Pacific/Kiritimati';
  const zip = zipOf(files);
  process.env.TZ = 'America/Los_Angeles';
  t.mock.timers.enable({ apis: ['Date'], now: 1e12 });
  assert.deepEqual(zipOf(files), zip);
});

test('another byte or another mode is another archive', () => {
  const file = { path: 'a', bytes: new Uint8Array([1]), executable: false };
  assert.notDeepEqual(zipOf([file]), zipOf([{ ...file, bytes: new Uint8Array([2]) }]));
  assert.notDeepEqual(zipOf([file]), zipOf([{ ...file, executable: true }]));
});
