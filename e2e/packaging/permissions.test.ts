// That the page for reviewers justifies every permission of every edition, as the build wrote it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as v from 'valibot';
import { TOP } from '../scratch.ts';
import { EDITIONS } from './editions.ts';

const names = v.optional(v.array(v.string()), []);
const manifestSchema = v.object({
  permissions: names,
  host_permissions: names,
  optional_permissions: names,
  optional_host_permissions: names,
});

const headings = readFileSync(join(TOP, 'docs/permissions.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('### '));

for (const edition of EDITIONS)
  test(`${edition}: every permission has a heading in docs/permissions.md`, () => {
    const file = join(TOP, 'extension/dist', edition, 'manifest.json');
    const manifest = v.parse(manifestSchema, JSON.parse(readFileSync(file, 'utf8')));
    const asked = Object.values(manifest).flat();
    assert.ok(asked.includes('webRequest'));
    for (const name of asked)
      assert.ok(
        headings.some((heading) => heading.includes(`\`${name}\``)),
        `${name} is not justified`,
      );
  });
