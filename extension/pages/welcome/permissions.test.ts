// No permission gets into the manifest without an explanation for the users who grant it.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PERMISSION_WORDS } from './permissions.ts';

test('every permission of the manifest has its reason', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../../manifest.json', import.meta.url), 'utf8'));
  for (const name of [...manifest.permissions, ...manifest.host_permissions])
    assert.ok(PERMISSION_WORDS[name], name);
});
