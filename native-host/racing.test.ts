// Which results of a race are stored in the host cache, and which are not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OriginRace, Trial } from '@photofinish/shared/race/outcome';
import { verdictSaying } from '@photofinish/shared/testing/race-samples';
import { fileOutcome } from './racing.ts';
import { down, race, trial, up } from './testing/cache-samples.ts';

function filed(trials: Trial[], facts: Partial<OriginRace> = {}): Trial[] | null {
  let seen: Trial[] | null = null;
  const verdict: OriginRace['verdict'] = verdictSaying('unknown', '');
  const recordRace = ({ trials: kept }: Pick<OriginRace, 'trials'>): void => {
    seen = kept;
  };
  fileOutcome({ recordRace }, { ...race(trials, facts), verdict });
  return seen;
}

const SOUND = trial(up('h3'));
const DISTURBED: Trial = {
  ...trial(down('h3', 'udp-timeout'), up('h2')),
  disturbed: 'outcome',
};

test('a trial caused by a busy machine is not stored', () => {
  assert.deepEqual(filed([DISTURBED, SOUND]), [SOUND]);
  assert.equal(filed([DISTURBED, DISTURBED]), null);
});

test('a trial of which only the times are disturbed is stored', () => {
  const late: Trial = { ...SOUND, disturbed: 'times' };
  assert.deepEqual(filed([late]), [late]);
});

test('an aborted race is not stored', () => {
  assert.equal(filed([SOUND], { error: { code: 'cancelled', message: 'stopped' } }), null);
});
