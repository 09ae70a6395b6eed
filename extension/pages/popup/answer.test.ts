// What is shown beneath a verdict: its findings, why there is no protocol, what is missing from the race's record.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { NO_REQUESTS } from '@photofinish/shared/report/adoption';
import { verdictSaying } from '@photofinish/shared/testing/race-samples';
import type { OriginView } from '../../common/messages.ts';
import { speak } from '../../testing/catalogs.ts';
import { aRace, originView } from '../../testing/samples.ts';
import { findingTexts, isLimitedByMode } from './answer.ts';

const LEFT_OUT = { addresses: 1, services: 0, lookups: 0, attempts: 88_110 };

function view(race: OriginRace | null): OriginView {
  const verdict = verdictSaying('unknown', '', ['h3-not-offered', 'It is not.']);
  return originView('a.test', { counts: NO_REQUESTS, race, verdict });
}

test('a race with an incomplete record says so beneath its verdict, in both languages', () => {
  assert.deepEqual(findingTexts(view(aRace({ leftOut: LEFT_OUT }))), [
    'It is not.',
    'Left out, because there were too many: 1 address, 88,110 attempts.',
  ]);
  speak('de');
  assert.equal(
    findingTexts(view(aRace({ leftOut: LEFT_OUT }))).at(-1),
    'Ausgelassen, weil es zu viele waren: 1 Adresse, 88.110 Versuche.',
  );
  speak('en');
});

test('a complete record, and none, says nothing about it', () => {
  assert.deepEqual(findingTexts(view(aRace())), ['It is not.']);
  assert.deepEqual(findingTexts(view(null)), ['It is not.']);
});

test('the popup offers full mode where light mode leaves something open', () => {
  const unseen = { code: 'unknown', key: 'pageAdvertisementUnseen', params: {} } as const;
  const open = { ...view(null), verdict: { code: 'unknown', findings: [unseen] } } as const;
  const hidden = { ...NO_REQUESTS, unknown: 1 };
  assert.ok(isLimitedByMode({ mode: 'light', counts: hidden, origins: [view(null)] }));
  assert.ok(isLimitedByMode({ mode: 'light', counts: NO_REQUESTS, origins: [view(null), open] }));
  assert.ok(!isLimitedByMode({ mode: 'light', counts: NO_REQUESTS, origins: [view(null)] }));
  assert.ok(!isLimitedByMode({ mode: 'full', counts: hidden, origins: [open] }));
});
