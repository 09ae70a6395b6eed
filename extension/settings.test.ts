import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  type Change,
  changeSettings,
  DEFAULT_SETTINGS,
  loadSettings,
  onSettings,
  readSettings,
  SETTINGS_VERSION,
  type Settings,
  type SettingsArea,
  settingsFromFile,
} from './settings.ts';

type Listener = Parameters<SettingsArea['onChanged']['addListener']>[0];

/** Storage as the browser has it: whoever listens is told of each change. */
function areaWith(settings?: unknown) {
  const items: Record<string, unknown> = settings === undefined ? {} : { settings };
  const listeners: Listener[] = [];
  const area: SettingsArea = {
    get: async (key) => ({ [key]: items[key] }),
    set: async (more) => {
      Object.assign(items, more);
      for (const listen of listeners)
        listen(Object.fromEntries(Object.entries(more).map(([key, newValue]) => [key, { newValue }])));
    },
    onChanged: { addListener: (listen) => listeners.push(listen) },
  };
  return { area, items };
}

test('a browser that has no settings yet has the defaults', async () => {
  assert.deepEqual(await loadSettings(areaWith().area), DEFAULT_SETTINGS);
});

test('what was changed holds, and the rest stays', async () => {
  const { area } = areaWith();
  await changeSettings(area, { raceWhen: 'never' });
  await changeSettings(area, { retentionDays: 30 });
  assert.deepEqual(await loadSettings(area), { ...DEFAULT_SETTINGS, raceWhen: 'never', retentionDays: 30 });
});

test('a change may depend on what is stored by then, and be none', async () => {
  const { area, items } = areaWith();
  const add =
    (site: string): Change =>
    ({ neverRecord }) =>
      neverRecord.includes(site) ? null : { neverRecord: [...neverRecord, site] };
  for (const site of ['a.test', 'b.test']) assert.notEqual(await changeSettings(area, add(site)), null);
  const before = items.settings;
  assert.equal(await changeSettings(area, add('a.test')), null);
  assert.equal(items.settings, before);
  assert.deepEqual((await loadSettings(area)).neverRecord, ['a.test', 'b.test']);
});

test('changes made at once are all made', async () => {
  const { area } = areaWith();
  await Promise.all([changeSettings(area, { retentionDays: 30 }), changeSettings(area, { steering: true })]);
  assert.deepEqual(await loadSettings(area), { ...DEFAULT_SETTINGS, retentionDays: 30, steering: true });
});

test('a value that is unreadable is at its default, and the others hold', () => {
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
  const { area, items } = areaWith({ version: SETTINGS_VERSION + 1, settings });
  assert.equal((await loadSettings(area)).retentionDays, 30);
  await assert.rejects(changeSettings(area, { retentionDays: 60 }), /the settings are of version/);
  assert.deepEqual(items.settings, { version: SETTINGS_VERSION + 1, settings });
});

test('the start delay that version 1 stored by default is the helper’s to decide; one that was chosen stays', () => {
  const startDelay = (version: number, startDelayMs: number | null) =>
    readSettings({ version, settings: { startDelayMs } }).startDelayMs;
  assert.deepEqual(
    [startDelay(1, 10), startDelay(1, 25), startDelay(2, 10), startDelay(2, null)],
    [null, 25, 10, null],
  );
});

test('settings of an older version go through every migration that is younger', () => {
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

test('a change that breaks the limits is refused and leaves what was there', async () => {
  const { area } = areaWith();
  await changeSettings(area, { retentionDays: 30 });
  await assert.rejects(changeSettings(area, { retentionDays: 0 }));
  await assert.rejects(changeSettings(area, { neverRecord: [''] }));
  assert.equal((await loadSettings(area)).retentionDays, 30);
});

test('whoever listens is told of each change of the settings, and of nothing else', async () => {
  const { area } = areaWith();
  const told: Settings[] = [];
  onSettings(area, (settings) => told.push(settings));
  await area.set({ other: 1 });
  await changeSettings(area, { steering: true });
  assert.deepEqual(told, [{ ...DEFAULT_SETTINGS, steering: true }]);
});

test('settings from a file hold as a whole or not at all', () => {
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
  const page = readFileSync(new URL('../docs/settings.md', import.meta.url), 'utf8');
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
