// The native messaging manifest: its contents, which extensions it allows, and parsing it.
import {
  CHROMIUM_CALLER,
  CHROMIUM_EXTENSION_ID,
  FIREFOX_EXTENSION_ID,
  HOST_NAME,
} from '@photofinish/shared/port/extension-id';
import * as v from 'valibot';
import type { BrowserFamily } from './browsers.ts';
import type { Machine } from './machine.ts';

export const MANIFEST_FILE = `${HOST_NAME}.json`;
/** Identifies a manifest whose launcher is missing. */
export const MANIFEST_DESCRIPTION =
  'Photofinish helper: races HTTP/3 against HTTP/2 and remembers the outcome.';

const hostManifestSchema = v.object({
  name: v.string(),
  description: v.optional(v.string()),
  path: v.string(),
  type: v.literal('stdio'),
  allowed_origins: v.optional(v.array(v.string())),
  allowed_extensions: v.optional(v.array(v.string())),
});
export type HostManifest = v.InferOutput<typeof hostManifestSchema>;

/** The manifest's text; `launcher` must be absolute, because only browsers on Windows accept anything else. */
export function manifestText(
  family: BrowserFamily,
  launcher: string,
  extensionIds: readonly string[],
): string {
  const manifest = {
    name: HOST_NAME,
    description: MANIFEST_DESCRIPTION,
    path: launcher,
    type: 'stdio',
    ...(family === 'chromium'
      ? { allowed_origins: extensionIds.map(chromiumCaller) }
      : { allowed_extensions: extensionIds }),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Chromium's notation of an id: 128 bits, each hex digit written as a letter from a to p. */
export function isChromiumExtensionId(text: string): boolean {
  return /^[a-p]{32}$/.test(text);
}

/**
 * The ids of extensions that may start the helper: that of our own key, and others of the same extension, because a
 * store assigns its own. Firefox's id is in the extension's manifest and is the same everywhere.
 */
export function allowedExtensions(family: BrowserFamily, others: readonly string[]): readonly string[] {
  return family === 'chromium' ? [...new Set([CHROMIUM_EXTENSION_ID, ...others])] : [FIREFOX_EXTENSION_ID];
}

/** How Chromium names a caller, in the manifest and in the helper's arguments. */
export function chromiumCaller(extensionId: string): string {
  return `chrome-extension://${extensionId}/`;
}

/** The ids of the extensions that a manifest allows to start the helper, as read by a browser of that family. */
export function allowedBy(manifest: HostManifest, family: BrowserFamily): readonly string[] {
  if (family === 'firefox') return manifest.allowed_extensions ?? [];
  return (manifest.allowed_origins ?? []).flatMap((origin) => CHROMIUM_CALLER.exec(origin)?.[1] ?? []);
}

/** The ids beside that of our own key that it allows, as `--extension-id` gives them: only for Chromium. */
export function furtherIds(manifest: HostManifest, family: BrowserFamily): readonly string[] {
  if (family === 'firefox') return [];
  return allowedBy(manifest, family).filter((id) => id !== CHROMIUM_EXTENSION_ID);
}

/** The manifest at a path, or why there is none. */
export function readManifest(
  path: string,
  { disk }: Machine,
): { manifest: HostManifest } | { error: string } {
  if (disk.kindOf(path) === 'nothing') return { error: 'missing' };
  try {
    return parseManifest(disk.read(path));
  } catch (error) {
    return { error: `it cannot be read (${(error as NodeJS.ErrnoException).code})` };
  }
}

/** Parses a manifest; the message describes its fault. */
export function parseManifest(text: string): { manifest: HostManifest } | { error: string } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { error: 'it is not JSON' };
  }
  const result = v.safeParse(hostManifestSchema, json);
  if (result.success) return { manifest: result.output };
  const [issue] = result.issues;
  return { error: `its "${v.getDotPath(issue) ?? 'root'}" is missing or wrong` };
}
