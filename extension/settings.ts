// What the user chose: the one owner of the settings in the extension's storage. Read by the background and by every
// page, checked on the way in, migrated from older versions, never overwritten by an older program.
import { siteSchema } from '@photofinish/shared/origin';
import { MAX_START_DELAY_MS } from '@photofinish/shared/wire';
import * as v from 'valibot';

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
  // 2026-11: the default of 10 ms was stored with the first change of anything, and kept the helper's own away.
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

/** What of `chrome.storage.local` is used. */
export interface SettingsArea {
  get(key: string): Promise<Record<string, unknown>>;
  set(items: Record<string, unknown>): Promise<void>;
  readonly onChanged: {
    addListener(listen: (changes: Record<string, { readonly newValue?: unknown }>) => void): void;
  };
}

type Stored = v.InferOutput<typeof storedSchema>;

function migrated({ version, settings }: Stored, migrations: readonly Migration[]): Record<string, unknown> {
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

/** The settings now. */
export async function loadSettings(area: SettingsArea): Promise<Settings> {
  return readSettings((await area.get(KEY))[KEY]);
}

/** What becomes of the settings that are stored by then; null: nothing. */
export type Change = (stored: Settings) => Partial<Settings> | null;

/**
 * Changes some settings and gives all of them; null when there was nothing to change. Rejects when what is stored was
 * written by a newer program, which knows more. Pages and background take turns, so that none takes back what another
 * changed meanwhile.
 */
export async function changeSettings(
  area: SettingsArea,
  changes: Partial<Settings> | Change,
): Promise<Settings | null> {
  return navigator.locks.request(KEY, () => changeStored(area, changes));
}

async function changeStored(
  area: SettingsArea,
  changes: Partial<Settings> | Change,
): Promise<Settings | null> {
  const stored = (await area.get(KEY))[KEY];
  const parsed = v.safeParse(storedSchema, stored);
  if (parsed.success && parsed.output.version > SETTINGS_VERSION)
    throw new Error(
      `the settings are of version ${parsed.output.version}, and this program knows ${SETTINGS_VERSION}`,
    );
  const now = readSettings(stored);
  const changed = typeof changes === 'function' ? changes(now) : changes;
  if (changed === null) return null;
  const settings = v.parse(settingsSchema, { ...now, ...changed });
  await area.set({ [KEY]: { version: SETTINGS_VERSION, settings } });
  return settings;
}

/** Calls `listen` with the settings after each change, whoever made it. */
export function onSettings(area: SettingsArea, listen: (settings: Settings) => void): void {
  area.onChanged.addListener((changes) => {
    const change = changes[KEY];
    if (change !== undefined) listen(readSettings(change.newValue));
  });
}
