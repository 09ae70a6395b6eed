// Looks at one browser's installation step by step, as the browser itself would walk it, and says at each step what
// was found and what to do. Stops where the next step could not work.
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import type { Check, DoctorFinding as Finding } from '@photofinish/shared/doctor';
import { HOST_NAME } from '@photofinish/shared/wire';
import { allowedExtension, type BrowserFamily } from './browsers.ts';
import { type HelloResult, sayHello } from './hello.ts';
import {
  chromiumCaller,
  type HostManifest,
  type Launcher,
  parseLauncher,
  parseManifest,
} from './manifest.ts';
import type { Target } from './plan.ts';

export interface BrowserExamination {
  readonly target: Target;
  /** The extension that should be allowed; null for the published one. */
  readonly extensionId: string | null;
  /** The command that installs anew, shown as the remedy. */
  readonly installCommand: string;
  readonly helloTimeoutMs: number;
}

export interface Examined {
  readonly findings: readonly Finding[];
  /** The settings file that the launcher names; null for the default one, or when there is no launcher of ours. */
  readonly config: string | null;
}

type FileState = 'ok' | 'missing' | 'not-a-file' | 'not-executable';

function executableState(path: string): FileState {
  try {
    if (!statSync(path).isFile()) return 'not-a-file';
  } catch {
    return 'missing';
  }
  try {
    accessSync(path, constants.X_OK);
    return 'ok';
  } catch {
    return 'not-executable';
  }
}

function isReadableFile(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function readManifest(path: string): { manifest: HostManifest } | { error: string } {
  try {
    return parseManifest(readFileSync(path, 'utf8'));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return { error: code === 'ENOENT' ? 'missing' : `it cannot be read (${code})` };
  }
}

function allows(manifest: HostManifest, family: BrowserFamily, id: string): boolean {
  return family === 'chromium'
    ? (manifest.allowed_origins ?? []).includes(chromiumCaller(id))
    : (manifest.allowed_extensions ?? []).includes(id);
}

/** What the browser passes to the launcher, as measured: Chromium its origin, Firefox manifest and add-on id. */
function callerArguments(family: BrowserFamily, manifestPath: string, id: string): readonly string[] {
  return family === 'chromium' ? [chromiumCaller(id)] : [manifestPath, id];
}

const HELLO_REMEDY: Record<Exclude<HelloResult['state'], 'answered'>, string> = {
  'not-started': 'Install again, and check that the launcher is on a file system that allows programs.',
  silent:
    'Stop other programs that keep the machine busy and try again; if it stays silent, look at its log.',
  exited: 'Read the message; install again if the helper was moved or updated.',
  garbled: 'Nothing but messages may reach the launcher’s standard output; remove what prints there.',
  refused: 'Read the message; update the older of extension and helper.',
};

/** Examines one browser from its manifest to a real hello over the wire. */
export async function examineBrowser(examination: BrowserExamination): Promise<Examined> {
  const { target, installCommand } = examination;
  const { browser } = target;
  const findings: Finding[] = [];
  const without: Examined = { findings, config: null };
  const add = (check: Check, state: Finding['state'], text: string, remedy: string | null = null): void => {
    findings.push({ subject: browser.title, check, state, text, remedy });
  };
  const again = `Run: ${installCommand}`;

  const read = readManifest(target.manifest);
  if ('error' in read) {
    if (read.error === 'missing') {
      if (target.state === 'absent') add('manifest', 'note', 'not found for this user');
      else if (target.state === 'sandboxed') add('manifest', 'note', target.note ?? 'sandboxed');
      else add('manifest', 'problem', `no manifest at ${target.manifest}`, again);
    } else add('manifest', 'problem', `${target.manifest}: ${read.error}`, again);
    return without;
  }
  const { manifest } = read;
  if (manifest.name !== HOST_NAME) {
    add(
      'manifest',
      'problem',
      `${target.manifest} names "${manifest.name}", not "${HOST_NAME}"`,
      `Remove that file. ${again}`,
    );
    return without;
  }
  add('manifest', 'ok', target.manifest);
  if (target.note !== null) add('manifest', 'note', target.note);

  const id = allowedExtension(browser.family, examination.extensionId);
  if (allows(manifest, browser.family, id)) add('extension', 'ok', `allows ${id}`);
  else add('extension', 'problem', `the manifest does not allow the extension ${id}`, again);

  const launcher = launcherOf(manifest.path, add, again);
  if (launcher === 'unusable') return without;
  const config = launcher?.config ?? null;
  if (launcher !== null && !runtimeWorks(launcher, add, again)) return { findings, config };

  const hello = await sayHello(
    manifest.path,
    callerArguments(browser.family, target.manifest, id),
    examination.helloTimeoutMs,
  );
  if (hello.state === 'answered') add('hello', 'ok', `${hello.program} answered in ${hello.afterMs} ms`);
  else add('hello', 'problem', hello.reason, HELLO_REMEDY[hello.state]);
  return { findings, config };
}

type Add = (check: Check, state: Finding['state'], text: string, remedy?: string | null) => void;

function launcherOf(path: string, add: Add, again: string): Launcher | 'unusable' | null {
  if (!path.startsWith('/')) {
    add('launcher', 'problem', `the manifest's path "${path}" is not absolute`, again);
    return 'unusable';
  }
  const state = executableState(path);
  if (state !== 'ok') {
    const words = {
      missing: 'does not exist',
      'not-a-file': 'is not a file',
      'not-executable': 'may not be run',
    };
    add('launcher', 'problem', `the launcher ${path} ${words[state]}`, again);
    return 'unusable';
  }
  const launcher = isReadableFile(path) ? parseLauncher(readFileSync(path, 'utf8')) : null;
  if (launcher === null)
    add('launcher', 'note', `${path} is not a launcher that install writes; only its answer is checked`);
  else add('launcher', 'ok', path);
  return launcher;
}

function runtimeWorks(launcher: Launcher, add: Add, again: string): boolean {
  const faults: string[] = [];
  if (executableState(launcher.runtime) !== 'ok') faults.push(`its runtime ${launcher.runtime} is gone`);
  if (!isReadableFile(launcher.main)) faults.push(`the helper ${launcher.main} is gone`);
  if (launcher.config !== null && !isReadableFile(launcher.config))
    faults.push(`its settings file ${launcher.config} is gone`);
  if (faults.length === 0) {
    add('runtime', 'ok', `${launcher.runtime} runs ${launcher.main}`);
    return true;
  }
  for (const fault of faults) add('runtime', 'problem', fault, `Build the helper if it moved. ${again}`);
  return false;
}
