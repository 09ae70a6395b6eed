// The page for reviewers justifies every permission in every edition's built manifest.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as v from 'valibot';
import { TOP } from '../scratch.ts';
import { EDITIONS } from './release.ts';

const names = v.optional(v.array(v.string()), []);
const manifestSchema = v.object({
  permissions: names,
  host_permissions: names,
  optional_permissions: names,
  optional_host_permissions: names,
});

const justified = readFileSync(join(TOP, 'docs/permissions.md'), 'utf8')
  .split('\n')
  .flatMap((line) => /^### `([^`]+)`/.exec(line)?.[1] ?? []);

const asked = Object.fromEntries(
  EDITIONS.map((edition) => {
    const file = join(TOP, 'extension/dist', edition, 'manifest.json');
    return [edition, Object.values(v.parse(manifestSchema, JSON.parse(readFileSync(file, 'utf8')))).flat()];
  }),
);

for (const edition of EDITIONS)
  test(`${edition}: every permission has a heading in docs/permissions.md`, () => {
    assert.ok(asked[edition]?.includes('webRequest'));
    for (const name of asked[edition] ?? []) assert.ok(justified.includes(name), `${name} is not justified`);
  });

test('nothing is justified that no edition requests', () => {
  const all = [...Object.values(asked).flat(), 'data_collection_permissions'];
  for (const name of justified) assert.ok(all.includes(name), `${name} is not asked for`);
});
