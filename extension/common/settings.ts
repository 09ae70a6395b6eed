// What the user chose: the one owner of the settings in the extension's store. Read by the background and by every
// page, checked on the way in, migrated from older versions, never overwritten by an older program.

import { MAX_START_DELAY_MS } from '@photofinish/shared/port/wire';
import { siteSchema } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import { type Store, update } from './store/store.ts';

/** When races run without being asked for: never even on a click, on a click only, or also on first visits. */
export const RACE_TIMES = ['never', 'click', 'first-visit'] as const;
/** Modes that a visit's race may take; comparisons run on a click. */
export const VISIT_MODES = ['race', 'v3', 'alt-svc', 'naive'] as const;
export const MAX_RETENTION_DAYS = 400;

const settingsSchema = v.object({
  raceWhen: v.picklist(RACE_TIMES),
  /** Mode of races that visits start. */
  raceMode: v.picklist(VISIT_MODES),
  /** Their start delay; null: the helper's, which knows the path to a known host. */
  startDelayMs: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_START_DELAY_MS))),
  retentionDays: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_RETENTION_DAYS)),
  /** Whether private windows are recorded, where the browser lets the extension into them at all. */
  privateWindows: v.boolean(),
  /** Sites (registrable domains) of which nothing is ever recorded. */
  neverRecord: v.array(siteSchema),
  /** Firefox only: whether origins may be steered at all; which ones is chosen origin by origin. */
  steering: v.boolean(),
  /** Whether the welcome page was opened; it opens by itself only once. */
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

/** What settings of an older version become in the next; each gets whatever was stored. */
type Migration = (older: Readonly<Record<string, unknown>>) => Record<string, unknown>;
/** `MIGRATIONS[n]` leads from version n + 1 to n + 2. Never edited once released; a change is a further one. */
const MIGRATIONS: readonly Migration[] = [
  // 2026-11: what was the default then was stored with the first change of anything, and kept the helper's own away.
  // The number stands here by itself because it is what was stored, whatever the helper's default has become.
  (older) => (older['startDelayMs'] === 10 ? { ...older, startDelayMs: null } : older),
];
export const SETTINGS_VERSION = MIGRATIONS.length + 1;

const storedSchema = v.object({
  version: v.pipe(v.number(), v.integer(), v.minValue(1)),
  settings: v.pipe(
    v.unknown(),
    v.check((stored) => typeof stored === 'object' && stored !== null),
    v.transform((stored) => stored as Readonly<Record<string, unknown>>),
  ),
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
 * Settings as stored, those of an older version migrated; each value that is missing or unreadable at its default. Of
 * a newer version everything that is still understood holds.
 */
export function readSettings(stored: unknown, migrations: readonly Migration[] = MIGRATIONS): Settings {
  const parsed = v.safeParse(storedSchema, stored);
  if (!parsed.success) return DEFAULT_SETTINGS;
  const found = migrated(parsed.output, migrations);
  const valid = Object.entries(settingsSchema.entries).filter(([key, schema]) => v.is(schema, found[key]));
  return { ...DEFAULT_SETTINGS, ...Object.fromEntries(valid.map(([key]) => [key, found[key]])) };
}

/** Settings that come in a file, as they were stored; unlike the browser's own they hold as a whole or not at all. */
export function settingsFromFile(stored: unknown): Settings | 'newer' | 'unreadable' {
  const parsed = v.safeParse(storedSchema, stored);
  if (!parsed.success) return 'unreadable';
  if (parsed.output.version > SETTINGS_VERSION) return 'newer';
  const found = migrated(parsed.output, MIGRATIONS);
  const checked = v.safeParse(settingsSchema, { ...DEFAULT_SETTINGS, ...found });
  return checked.success ? checked.output : 'unreadable';
}

/** What an older version of the program kept elsewhere, as it is stored now; undefined: no settings. */
export function settingsOfOlder(stored: unknown): unknown {
  return v.is(storedSchema, stored) ? versioned(readSettings(stored)) : undefined;
}

function versioned(settings: Settings): VersionedSettings {
  return { version: SETTINGS_VERSION, settings };
}

/** The settings now. */
export async function loadSettings(store: Pick<Store, 'get'>): Promise<Settings> {
  return readSettings((await store.get(KEY)).value);
}

/** What becomes of the settings that are stored by then; null: nothing. It may be asked more than once. */
export type Change = (stored: Settings) => Partial<Settings> | null;

/**
 * Changes some settings and gives all of them; null when there was nothing to change. Rejects when what is stored was
 * written by a newer program, which knows more.
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

/** Calls `listen` with the settings after each change, whoever made it: those that are stored by then. */
export function onSettings(store: Pick<Store, 'onChanged'>, listen: (settings: Settings) => void): void {
  store.onChanged(KEY, (stored) => listen(readSettings(stored)));
}
