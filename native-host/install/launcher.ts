// The program that a manifest names: a script that starts the helper. Browsers start it with a minimal environment, so
// it uses absolute paths only. Run by a POSIX shell, on Windows by cmd.exe.
import { posix } from 'node:path';
import type { Machine, Platform } from './machine.ts';

/** Identifies a launcher as ours before it is replaced or removed. */
const MARK = 'Photofinish helper, started by the browser.';
const ORIGIN = 'Written by "photofinish install"; "photofinish uninstall" removes it.';
/** What remains to be said once a checkout was moved, or a package removed; literal in both shells between quotes. */
const MISSING =
  'photofinish: helper-missing: the helper or its Node was moved or removed; run "photofinish install" again';
const EXIT_MISSING = 2;

export interface Launcher {
  /** Absolute path of the Node that runs the helper. */
  readonly runtime: string;
  /** Absolute path of the helper's `main.cjs`. */
  readonly main: string;
  /** Absolute path of the settings file, null for the default one. */
  readonly config: string | null;
}

/** Homebrew has a directory per version, which an update removes, and links the newest from `opt`. */
const CELLAR = /^(?<prefix>.*)\/Cellar\/(?<formula>[^/]+)\/[^/]+\/(?<rest>.+)$/;

/** The path by which a launcher names a Node: if possible, one that survives its next update. */
export function lastingRuntime(runtime: string, exists: (path: string) => boolean): string {
  const { prefix, formula, rest } = CELLAR.exec(runtime)?.groups ?? {};
  if (prefix === undefined || formula === undefined || rest === undefined) return runtime;
  const linked = posix.join(prefix, 'opt', formula, rest);
  return exists(linked) ? linked : runtime;
}

/**
 * Variables that make Node run other code than ours, trust other certificates, write files or print (Node's
 * documentation, "Environment variables", and OpenSSL's OPENSSL_CONF). They are meant for other programs, and a browser
 * passes on all of its own environment.
 */
export const CLEARED_VARIABLES = [
  'NODE_OPTIONS',
  'NODE_PATH',
  'NODE_REPL_EXTERNAL_MODULE',
  'NODE_EXTRA_CA_CERTS',
  'NODE_TLS_REJECT_UNAUTHORIZED',
  'NODE_USE_SYSTEM_CA',
  'NODE_USE_ENV_PROXY',
  'NODE_COMPILE_CACHE',
  'NODE_COMPILE_CACHE_PORTABLE',
  'NODE_ICU_DATA',
  'NODE_PRESERVE_SYMLINKS',
  'NODE_PRESERVE_SYMLINKS_MAIN',
  'NODE_REDIRECT_WARNINGS',
  'NODE_PENDING_DEPRECATION',
  'NODE_V8_COVERAGE',
  'NODE_DEBUG',
  'NODE_DEBUG_NATIVE',
  'NODE_CHANNEL_FD',
  'NODE_UNIQUE_ID',
  'OPENSSL_CONF',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE',
  'SSLKEYLOGFILE',
] as const;

/** How a launcher was written: the variables it clears, and whether it looks for what it starts. */
interface Edition {
  readonly cleared: readonly string[];
  readonly looks: boolean;
}
const NEWEST: Edition = { cleared: CLEARED_VARIABLES, looks: true };
/** Version 1.0.0 cleared no variables, and builds after it did not look yet. */
const EDITIONS: readonly Edition[] = [NEWEST, { ...NEWEST, looks: false }, { cleared: [], looks: false }];

/** A word that a POSIX shell takes literally, whatever it contains (POSIX.1-2024, Shell Command Language 2.2.2). */
export function shellWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function shellText({ runtime, main, config }: Launcher, { cleared, looks }: Edition): string {
  const found = `[ -x ${shellWord(runtime)} ] && [ -f ${shellWord(main)} ]`;
  const settings = config === null ? '' : ` --config ${shellWord(config)}`;
  return [
    '#!/bin/sh',
    `# ${MARK}`,
    `# ${ORIGIN}`,
    ...(cleared.length === 0 ? [] : [`unset ${cleared.join(' ')}`]),
    ...(looks ? [`${found} || { echo '${MISSING}' >&2; exit ${EXIT_MISSING}; }`] : []),
    `exec ${shellWord(runtime)} ${shellWord(main)}${settings} -- "$@"`,
    '',
  ].join('\n');
}

/**
 * A path that cmd.exe takes literally in a batch file: paths on Windows contain no quotes, and percent signs are
 * doubled.
 */
function batchWord(path: string): string {
  return `"${path.replaceAll('%', '%%')}"`;
}

/**
 * cmd.exe reads a batch file line by line in the current code page, so a non-ASCII path is preceded by a change to
 * UTF-8. Exclamation marks are only literal without delayed expansion, which a user may have enabled globally.
 */
function batchText({ runtime, main, config }: Launcher, { cleared, looks }: Edition): string {
  const settings = config === null ? '' : ` --config ${batchWord(config)}`;
  const call = `${batchWord(runtime)} ${batchWord(main)}${settings} -- %*`;
  const utf8 = /[^ -~]/.test(call) ? ['chcp 65001 <nul >nul'] : [];
  return [
    '@echo off',
    `rem ${MARK}`,
    `rem ${ORIGIN}`,
    'setlocal DisableDelayedExpansion',
    ...cleared.map((name) => `set "${name}="`),
    ...utf8,
    ...(looks ? [runtime, main] : []).map(
      (path) => `if not exist ${batchWord(path)} (>&2 echo ${MISSING}& exit /b ${EXIT_MISSING})`,
    ),
    call,
    '',
  ].join('\r\n');
}

function textOf(launcher: Launcher, platform: Platform, edition: Edition): string {
  return platform === 'win32' ? batchText(launcher, edition) : shellText(launcher, edition);
}

/** The launcher's text. */
export function launcherText(launcher: Launcher, platform: Platform): string {
  return textOf(launcher, platform, NEWEST);
}

const SHELL_WORD = `'((?:[^']|'\\\\'')*)'`;
const SHELL_CALL = new RegExp(`\\nexec ${SHELL_WORD} ${SHELL_WORD}(?: --config ${SHELL_WORD})? -- "\\$@"\\n`);
const BATCH_CALL = /\r\n"([^"]*)" "([^"]*)"(?: --config "([^"]*)")? -- %\*\r\n/;

/**
 * What a launcher of ours runs; null unless the text is exactly one of ours: a user who changed it wants to keep it.
 */
export function parseLauncher(text: string, platform: Platform): Launcher | null {
  const launcher = callIn(text, platform);
  return launcher !== null && EDITIONS.some((edition) => textOf(launcher, platform, edition) === text)
    ? launcher
    : null;
}

/** The launcher of ours at a path; null if there is none, or if it cannot be read. */
export function launcherAt(path: string, { disk, platform }: Machine): Launcher | null {
  try {
    return parseLauncher(disk.read(path), platform);
  } catch {
    return null;
  }
}

function callIn(text: string, platform: Platform): Launcher | null {
  const windows = platform === 'win32';
  if (!text.includes(windows ? `\r\nrem ${MARK}\r\n` : `\n# ${MARK}\n`)) return null;
  const match = (windows ? BATCH_CALL : SHELL_CALL).exec(text);
  if (match?.[1] === undefined || match[2] === undefined) return null;
  const literal = (word: string): string =>
    windows ? word.replaceAll('%%', '%') : word.replaceAll(`'\\''`, "'");
  return {
    runtime: literal(match[1]),
    main: literal(match[2]),
    config: match[3] === undefined ? null : literal(match[3]),
  };
}
