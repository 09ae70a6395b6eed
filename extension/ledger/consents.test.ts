import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_SETTINGS, type Settings } from '../common/settings.ts';
import { CONSENTS, consentsWanted, withConsents } from './consents.ts';

const bold: Settings = {
  ...DEFAULT_SETTINGS,
  raceWhen: 'first-visit',
  raceMode: 'v3',
  privateWindows: true,
  steering: true,
  retentionDays: 1,
  neverRecord: ['b.test'],
  welcomed: true,
};
const mine: Settings = { ...DEFAULT_SETTINGS, neverRecord: ['a.test'] };

test('nothing in a file is switched on, or shortened, without consent', () => {
  assert.deepEqual(consentsWanted(mine, bold), [
    'first-visit-races',
    'private-windows',
    'steering',
    'retention',
  ]);
  assert.deepEqual(withConsents(mine, bold, new Set()), {
    ...mine,
    raceMode: 'v3',
    neverRecord: ['a.test', 'b.test'],
  });
});

test('each consent is separate', () => {
  const steered = withConsents(mine, bold, new Set(['steering']));
  assert.deepEqual(
    [steered.steering, steered.privateWindows, steered.raceWhen, steered.retentionDays],
    [true, false, 'click', DEFAULT_SETTINGS.retentionDays],
  );
  const all = withConsents(mine, bold, new Set(CONSENTS));
  assert.deepEqual({ ...all, neverRecord: ['b.test'], welcomed: true }, bold);
});

test('what is already in force, switched off or kept longer needs none', () => {
  assert.deepEqual(consentsWanted(bold, bold), []);
  assert.deepEqual(consentsWanted(bold, DEFAULT_SETTINGS), []);
  assert.deepEqual(consentsWanted({ ...mine, raceWhen: 'never' }, mine), ['races']);
});
