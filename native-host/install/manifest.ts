// The native messaging manifest and the launcher it points to: what they say, and how they are read again.
// A browser starts the helper with a bare environment, so the launcher names everything by absolute path.
import { HOST_NAME } from '@photofinish/shared/wire';
import * as v from 'valibot';
import type { BrowserFamily } from './browsers.ts';

export const MANIFEST_FILE = `${HOST_NAME}.json`;

/** How the launcher is recognised as ours before it is replaced or removed. */
const LAUNCHER_MARK = '# Photofinish helper, started by the browser.';

export interface Launcher {
  /** Absolute path of the Node that runs the helper. */
  readonly runtime: string;
  /** Absolute path of the helper's `main.cjs`. */
  readonly main: string;
  /** Absolute path of the settings file, null for the default one. */
  readonly config: string | null;
}

const hostManifestSchema = v.object({
  name: v.string(),
  path: v.string(),
  type: v.literal('stdio'),
  allowed_origins: v.optional(v.array(v.string())),
  allowed_extensions: v.optional(v.array(v.string())),
});
export type HostManifest = v.InferOutput<typeof hostManifestSchema>;

/** The manifest's text; `launcher` must be absolute, because browsers on Linux take nothing else. */
export function manifestText(family: BrowserFamily, launcher: string, extensionId: string): string {
  const manifest = {
    name: HOST_NAME,
    description: 'Photofinish helper: races HTTP/3 against HTTP/2 and remembers the outcome.',
    path: launcher,
    type: 'stdio',
    ...(family === 'chromium'
      ? { allowed_origins: [chromiumCaller(extensionId)] }
      : { allowed_extensions: [extensionId] }),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** How Chromium names a caller, in the manifest and as the helper's argument. */
export function chromiumCaller(extensionId: string): string {
  return `chrome-extension://${extensionId}/`;
}

/** Reads a manifest back; the message says what is wrong with it. */
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

/** A word that a POSIX shell takes literally, whatever it holds (POSIX.1-2024, Shell Command Language 2.2.2). */
export function shellWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function unquote(word: string): string {
  return word.replaceAll(`'\\''`, "'");
}

/** The launcher's text: a POSIX shell script that becomes the helper. */
export function launcherText(launcher: Launcher): string {
  const config = launcher.config === null ? '' : ` --config ${shellWord(launcher.config)}`;
  return [
    '#!/bin/sh',
    LAUNCHER_MARK,
    '# Written by "photofinish install"; "photofinish uninstall" removes it.',
    `exec ${shellWord(launcher.runtime)} ${shellWord(launcher.main)}${config} -- "$@"`,
    '',
  ].join('\n');
}

/** What a launcher of ours runs; null if the text is not one. */
export function parseLauncher(text: string): Launcher | null {
  if (!text.includes(`\n${LAUNCHER_MARK}\n`)) return null;
  const word = `'((?:[^']|'\\\\'')*)'`;
  const match = new RegExp(`\\nexec ${word} ${word}(?: --config ${word})? -- "\\$@"\\n`).exec(text);
  if (match?.[1] === undefined || match[2] === undefined) return null;
  return {
    runtime: unquote(match[1]),
    main: unquote(match[2]),
    config: match[3] === undefined ? null : unquote(match[3]),
  };
}
