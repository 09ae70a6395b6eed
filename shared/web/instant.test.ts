import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTooLate } from './instant.ts';

const NOW_MS = Date.UTC(2026, 10, 22, 12);

test('tomorrow is accepted, because clocks and time zones differ; later is not', () => {
  for (const instant of [0, NOW_MS, NOW_MS + 86_400_000, '2026-11-23', '2026-11-23T11:00:00Z'])
    assert.equal(isTooLate(instant, NOW_MS), false, String(instant));
  for (const instant of [
    NOW_MS + 86_400_001,
    8.64e15,
    '2026-11-24',
    '9999-12-31',
    '2026-11-23T12:00:01+00:00',
  ])
    assert.equal(isTooLate(instant, NOW_MS), true, String(instant));
});
