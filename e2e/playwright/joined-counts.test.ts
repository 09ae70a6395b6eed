import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_REQUESTS, type ProtocolCounts } from '@photofinish/shared/report/adoption';
import { joinedCounts } from './joined-counts.ts';

const counts = (some: Partial<ProtocolCounts>): ProtocolCounts => ({ ...NO_REQUESTS, ...some });
const seen = (some: Partial<ProtocolCounts>, complete = true) => ({ counts: counts(some), complete });

test('what a site hides is named by Playwright, and what the extension knows stays the extension’s', () => {
  assert.deepEqual(joinedCounts(counts({ h2: 1, unknown: 3 }), seen({ h2: 2, h3: 2 })), {
    extension: counts({ h2: 1 }),
    playwright: counts({ h2: 1, h3: 2 }),
  });
});

const OPEN: readonly [string, Partial<ProtocolCounts>, ReturnType<typeof seen> | null][] = [
  ['Playwright saw nothing', { unknown: 1 }, null],
  ['Playwright saw fewer', { unknown: 2 }, seen({ h2: 1 })],
  ['Playwright saw more', { unknown: 1 }, seen({ h2: 2 })],
  ['a request has no response yet', { unknown: 1 }, seen({ h2: 1 }, false)],
  ['Playwright does not know one either', { unknown: 2 }, seen({ h2: 1, unknown: 1 })],
  ['they contradict each other', { h3: 1, unknown: 1 }, seen({ h2: 2 })],
  ['nothing is unknown', { h2: 2 }, seen({ h3: 2 })],
];

for (const [name, own, other] of OPEN)
  test(`nothing is joined: ${name}`, () =>
    assert.deepEqual(joinedCounts(counts(own), other), {
      extension: counts(own),
      playwright: NO_REQUESTS,
    }));

test('without the extension everything is Playwright’s', () => {
  const some = { h3: 2, unknown: 1 };
  assert.deepEqual(joinedCounts(null, seen(some, false)), {
    extension: NO_REQUESTS,
    playwright: counts(some),
  });
});
