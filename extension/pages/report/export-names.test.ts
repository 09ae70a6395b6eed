import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportName } from './export-names.ts';

test('a file name contains the site and the day, and nothing that a file system rejects', () => {
  const at = '2026-11-21T09:45:00.000Z';
  assert.equal(exportName('example.org', at, 'html'), 'photofinish-example.org-2026-11-21.html');
  assert.equal(exportName(null, at, 'csv'), 'photofinish-all-sites-2026-11-21.csv');
  assert.equal(exportName('[::1]/../x', at, 'json'), 'photofinish--1-..-x-2026-11-21.json');
});
