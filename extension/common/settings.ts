// The user's settings: the only owner of the settings in the extension's store. Read by the background and by every
// page, validated when read, migrated from older versions, never overwritten by an older program.

import { MAX_START_DELAY_MS } from '@photofinish/shared/port/race-limits';
import { siteSchema } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import { type Store, update } from './store/store.ts';

/** When the extension starts races: never, only on a click, or also on first visits. */
export const RACE_TIMES = ['never', 'click', 'first-visit'] as const;
/** Modes that a race triggered by a visit may use; comparisons run on a click. */
export const VISIT_MODES = ['race', 'v3', 'alt-svc', 'naive'] as const;
export const MAX_RETENTION_DAYS = 400;

const settingsSchema = v.object({
  raceWhen: v.picklist(RACE_TIMES),
  /** Mode of races triggered by visits. */
  raceMode: v.picklist(VISIT_MODES),
  /** Their start delay; null: the helper's default, which uses what is known of the path to a known host. */
  startDelayMs: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_START_DELAY_MS))),
  retentionDays: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_RETENTION_DAYS)),
  /** Whether private windows are recorded, if the browser allows the extension in them at all. */
  privateWindows: v.boolean(),
  /** Sites (registrable domains) that are never recorded. */
  neverRecord: v.array(siteSchema),
  /** Firefox only: whether origins may be steered at all; which ones is chosen per origin. */
  steering: v.boolean(),
  /** Whether the welcome page was opened; it opens automatically only once. */
  welcomed: v.boolean(),
});
export type Settings = v.InferOutput<typeof settingsSchema>;

export const DEFAULT_SETTINGS: Settings = {
  raceWhen: 'click',
  raceMode: 'race',
  startDelayMs: null,
  retentionDays: MAX_RETENTION_DAYS,
  privateWindows: false,
  neverRecord: [],
  steering: false,
  welcomed: false,
};

const KEY = 'settings';

/** Converts settings of one version to the next; each receives whatever was stored. */
type Migration = (older: Readonly<Record<string, unknown>>) => Record<string, unknown>;
/** `MIGRATIONS[n]` converts version n + 1 to n + 2. Never edited once released; a change is another migration. */
const MIGRATIONS: readonly Migration[] = [
  // 2026-11: the default of that time was stored with the first change of anything, which blocked the helper's own
  // default. The number is a literal because it is what was stored, whatever the helper's default is now.
  (older) => (older['startDelayMs'] === 10 ? { ...older, startDelayMs: null } : older),
];
export const SETTINGS_VERSION = MIGRATIONS.length + 1;

const storedSchema = v.object({
  version: v.pipe(v.number(), v.integer(), v.minValue(1)),
  settings: v.record(v.string(), v.unknown()),
});

type VersionedSettings = v.InferOutput<typeof storedSchema>;

function migrated(
  { version, settings }: VersionedSettings,
  migrations: readonly Migration[],
): Record<string, unknown> {
  return migrations
    .slice(version - 1)
    .reduce<Record<string, unknown>>((older, next) => next(older), settings);
}

/**
 * Settings as stored, migrated from older versions; each missing or unreadable value gets its default. From a newer
 * version everything that is still understood applies.
 */
export function readSettings(stored: unknown, migrations: readonly Migration[] = MIGRATIONS): Settings {
  const parsed = v.safeParse(storedSchema, stored);
  if (!parsed.success) return DEFAULT_SETTINGS;
  const found = migrated(parsed.output, migrations);
  const valid = Object.entries(settingsSchema.entries).filter(([key, schema]) => v.is(schema, found[key]));
  return { ...DEFAULT_SETTINGS, ...Object.fromEntries(valid.map(([key]) => [key, found[key]])) };
}

/**
 * Settings imported from a file, as they were stored; unlike the browser's own they are accepted as a whole or not at
 * all.
 */
export function settingsFromFile(stored: unknown): Settings | 'newer' | 'unreadable' {
  const parsed = v.safeParse(storedSchema, stored);
  if (!parsed.success) return 'unreadable';
  if (parsed.output.version > SETTINGS_VERSION) return 'newer';
  const found = migrated(parsed.output, MIGRATIONS);
  const checked = v.safeParse(settingsSchema, { ...DEFAULT_SETTINGS, ...found });
  return checked.success ? checked.output : 'unreadable';
}

/** What an older version of the program stored elsewhere, in today's stored form; undefined: no settings. */
export function settingsOfOlder(stored: unknown): unknown {
  return v.is(storedSchema, stored) ? versioned(readSettings(stored)) : undefined;
}

function versioned(settings: Settings): VersionedSettings {
  return { version: SETTINGS_VERSION, settings };
}

/** The current settings. */
export async function loadSettings(store: Pick<Store, 'get'>): Promise<Settings> {
  return readSettings((await store.get(KEY)).value);
}

/** Computes changes from the stored settings; null: none. May be called more than once. */
export type Change = (stored: Settings) => Partial<Settings> | null;

/**
 * Changes some settings and returns all of them; null if there was nothing to change. Rejects if what is stored was
 * written by a newer program, which stores more.
 */
export async function changeSettings(
  store: Pick<Store, 'get' | 'replace'>,
  changes: Partial<Settings> | Change,
): Promise<Settings | null> {
  let settings: Settings | null = null;
  await update(store, KEY, (stored) => {
    settings = changed(stored, changes);
    return settings === null ? undefined : versioned(settings);
  });
  return settings;
}

function changed(stored: unknown, changes: Partial<Settings> | Change): Settings | null {
  const parsed = v.safeParse(storedSchema, stored);
  if (parsed.success && parsed.output.version > SETTINGS_VERSION)
    throw new Error(
      `the settings are of version ${parsed.output.version}, and this program knows ${SETTINGS_VERSION}`,
    );
  const now = readSettings(stored);
  const some = typeof changes === 'function' ? changes(now) : changes;
  return some === null ? null : v.parse(settingsSchema, { ...now, ...some });
}

/** Calls `listen` with the currently stored settings after each change, whoever made it. */
export function onSettings(store: Pick<Store, 'onChanged'>, listen: (settings: Settings) => void): void {
  store.onChanged(KEY, (stored) => listen(readSettings(stored)));
}
