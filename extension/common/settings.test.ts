import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { memoryStore } from '../testing/storage.ts';
import {
  type Change,
  changeSettings,
  DEFAULT_SETTINGS,
  loadSettings,
  onSettings,
  readSettings,
  SETTINGS_VERSION,
  type Settings,
  settingsFromFile,
  settingsOfOlder,
} from './settings.ts';

/** A store with these stored settings. */
function storeWith(settings?: unknown) {
  return memoryStore(settings === undefined ? {} : { settings });
}

test('a browser without stored settings has the defaults', async () => {
  assert.deepEqual(await loadSettings(storeWith()), DEFAULT_SETTINGS);
});

test('changes apply, and the rest stays', async () => {
  const store = storeWith();
  await changeSettings(store, { raceWhen: 'never' });
  await changeSettings(store, { retentionDays: 30 });
  assert.deepEqual(await loadSettings(store), { ...DEFAULT_SETTINGS, raceWhen: 'never', retentionDays: 30 });
});

test('a change may depend on the stored settings, and may be empty', async () => {
  const store = storeWith();
  const add =
    (site: string): Change =>
    ({ neverRecord }) =>
      neverRecord.includes(site) ? null : { neverRecord: [...neverRecord, site] };
  for (const site of ['a.test', 'b.test']) assert.notEqual(await changeSettings(store, add(site)), null);
  const before = store.values.get('settings');
  assert.equal(await changeSettings(store, add('a.test')), null);
  assert.equal(store.values.get('settings'), before);
  assert.deepEqual((await loadSettings(store)).neverRecord, ['a.test', 'b.test']);
});

test('concurrent changes are all made', async () => {
  const store = storeWith();
  await Promise.all([
    changeSettings(store, { retentionDays: 30 }),
    changeSettings(store, { steering: true }),
  ]);
  assert.deepEqual(await loadSettings(store), { ...DEFAULT_SETTINGS, retentionDays: 30, steering: true });
});

test('an unreadable value gets its default, and the others apply', () => {
  const settings = { raceWhen: 'sometimes', retentionDays: 30, neverRecord: 'a.test', startDelayMs: 1.5 };
  assert.deepEqual(readSettings({ version: 1, settings }), { ...DEFAULT_SETTINGS, retentionDays: 30 });
  for (const stored of [
    null,
    7,
    'text',
    [],
    { version: 1 },
    { version: 1, settings: null },
    { settings: {} },
  ])
    assert.deepEqual(readSettings(stored), DEFAULT_SETTINGS);
});

test('settings of a newer program are read as far as they are understood, and never overwritten', async () => {
  const settings = { retentionDays: 30, raceWhen: 'on-fridays', moon: true };
  const store = storeWith({ version: SETTINGS_VERSION + 1, settings });
  assert.equal((await loadSettings(store)).retentionDays, 30);
  await assert.rejects(changeSettings(store, { retentionDays: 60 }), /the settings are of version/);
  assert.deepEqual(store.values.get('settings')?.value, { version: SETTINGS_VERSION + 1, settings });
});

test('the start delay that version 1 stored by default becomes the helper’s default; a chosen one stays', () => {
  const startDelay = (version: number, startDelayMs: number | null) =>
    readSettings({ version, settings: { startDelayMs } }).startDelayMs;
  assert.deepEqual(
    [startDelay(1, 10), startDelay(1, 25), startDelay(2, 10), startDelay(2, null)],
    [null, 25, 10, null],
  );
});

test('settings of an older version go through every later migration', () => {
  const halved = (s: Readonly<Record<string, unknown>>) => ({ ...s, retentionDays: Number(s.days) / 2 });
  const renamed = ({ quiet, ...s }: Readonly<Record<string, unknown>>) => ({
    ...s,
    raceWhen: quiet ? 'never' : 'click',
  });
  const migrations = [halved, renamed];
  const first = readSettings({ version: 1, settings: { days: 60, quiet: true } }, migrations);
  assert.deepEqual([first.retentionDays, first.raceWhen], [30, 'never']);
  const second = readSettings(
    { version: 2, settings: { days: 60, retentionDays: 7, quiet: true } },
    migrations,
  );
  assert.deepEqual([second.retentionDays, second.raceWhen], [7, 'never']);
  const third = readSettings({ version: 3, settings: { quiet: true, retentionDays: 7 } }, migrations);
  assert.deepEqual([third.retentionDays, third.raceWhen], [7, 'click']);
});

test('a change that violates the limits is rejected and changes nothing', async () => {
  const store = storeWith();
  await changeSettings(store, { retentionDays: 30 });
  await assert.rejects(changeSettings(store, { retentionDays: 0 }));
  await assert.rejects(changeSettings(store, { neverRecord: [''] }));
  assert.equal((await loadSettings(store)).retentionDays, 30);
});

test('listeners are called for each change of the settings, and for nothing else', async () => {
  const store = storeWith();
  const told: Settings[] = [];
  onSettings(store, (settings) => told.push(settings));
  await store.replace('steering', 0, 1);
  await changeSettings(store, { steering: true });
  assert.deepEqual(told, [{ ...DEFAULT_SETTINGS, steering: true }]);
});

test('valid settings of an older version are adopted, in the current version', () => {
  const settings = { startDelayMs: 10, retentionDays: 30, neverRecord: ['a.test', 7], raceWhen: 'never' };
  assert.deepEqual(settingsOfOlder({ version: 1, settings }), {
    version: SETTINGS_VERSION,
    settings: { ...DEFAULT_SETTINGS, retentionDays: 30, raceWhen: 'never' },
  });
  for (const none of [undefined, null, 'text', { version: 0, settings: {} }, { version: 1 }])
    assert.equal(settingsOfOlder(none), undefined);
});

test('settings from a file are accepted as a whole or not at all', () => {
  const version = SETTINGS_VERSION;
  assert.deepEqual(settingsFromFile({ version, settings: { retentionDays: 30 } }), {
    ...DEFAULT_SETTINGS,
    retentionDays: 30,
  });
  assert.equal(settingsFromFile({ version, settings: { retentionDays: 0 } }), 'unreadable');
  assert.equal(settingsFromFile({ version: version + 1, settings: {} }), 'newer');
  assert.equal(settingsFromFile({ version: 0, settings: {} }), 'unreadable');
});

test('docs/settings.md names every option as it is stored, with its default, and none that does not exist', () => {
  const page = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8');
  const section = page.split(/^(?=## )/m).find((part) => part.startsWith('## The extension\n')) ?? '';
  const rows = [...section.matchAll(/\| `(\w+)` \| `([^`]+)` \|$/gm)].map(([, name, value = '']) => [
    name,
    value,
  ]);
  const stored = Object.entries(DEFAULT_SETTINGS).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  assert.deepEqual(Object.fromEntries(rows), Object.fromEntries(stored));
});
