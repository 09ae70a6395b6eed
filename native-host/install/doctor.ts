// Checks one browser's installation step by step, in the order in which the browser itself uses it, and reports at each
// step what was found and what to do. Stops where the next step could not work; the last one starts the installed
// launcher like a browser would and says hello over the wire. Without the addon no step leads to a race.

import { spawn } from 'node:child_process';
import { win32 } from 'node:path';
import { HOST_NAME } from '@photofinish/shared/port/extension-id';
import { replySchema } from '@photofinish/shared/port/reply';
import { type Check, type DoctorFinding as Finding, WIRE_PROTOCOL } from '@photofinish/shared/port/wire';
import { messageOf } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { AddonMissing, addonPackage, loadQuicAddon } from '../quic/addon.ts';
import { VERSION } from '../version.ts';
import { createDeframer, frame, type Inbound } from '../wire/framing.ts';
import type { Browser, BrowserFamily } from './browsers.ts';
import { NOT_FOUND, type Target } from './install-plan.ts';
import { type Launcher, launcherAt } from './launcher.ts';
import { type Machine, type Platform, pathsOf } from './machine.ts';
import {
  allowedBy,
  allowedExtensions,
  chromiumCaller,
  furtherIds,
  type HostManifest,
  readManifest,
} from './manifest.ts';

/** Settings of an installation to keep in the next one. */
export interface InstallSettings {
  readonly extensionIds: readonly string[];
  readonly config: string | null;
}

interface BrowserExamination {
  readonly machine: Machine;
  readonly target: Target;
  /** Ids that should be allowed in addition to that of our own key. */
  readonly extensionIds: readonly string[];
  /** The command that installs again, shown as the remedy. */
  readonly installCommand: (settings: InstallSettings) => string;
  /** Starts a launcher like the browser does and says hello. */
  readonly hello: (launcher: string, callerArguments: readonly string[]) => Promise<HelloResult>;
}

export interface ExaminationResult {
  readonly findings: readonly Finding[];
  /** The settings file named by the launcher; null for the default one, or without a launcher of ours. */
  readonly config: string | null;
}

type Finder = (check: Check, state: Finding['state'], text: string, remedy?: string | null) => Finding;
type Add = (...finding: Parameters<Finder>) => void;

/** Creates findings on one subject: a browser by its title, or what all of them share. */
export function findingOn(subject: string): Finder {
  return (check, state, text, remedy = null) => ({ subject, check, state, text, remedy });
}

/** A finding that concerns no particular browser. */
export const helperFinding = findingOn('Helper');

function addonRemedy(missing: boolean, isCheckout: boolean): string {
  if (isCheckout) return 'Run "npm run build" at the top of the checkout.';
  const name = addonPackage();
  if (!missing)
    return `Install ${name} ${VERSION} again, on this system and with the Node that runs the helper.`;
  const file = `${name.replace('@photofinish/', 'photofinish-')}-${VERSION}.tgz`;
  return `npm skips it silently if it cannot download it. Install it beside the helper: ${file} from the release, or ${name} from the registry.`;
}

/**
 * Whether the addon exists and loads: without it nothing can be raced, because it provides QUIC, DNS and the verification
 * of certificates, including those for HTTP/2.
 */
export function addonFinding(isCheckout: boolean): Finding {
  try {
    loadQuicAddon();
    return helperFinding('addon', 'ok', 'the QUIC addon loads');
  } catch (error) {
    const [why] = messageOf(error).split('\n');
    const text = `the QUIC addon cannot be loaded, so nothing can be raced: ${why}`;
    return helperFinding('addon', 'problem', text, addonRemedy(error instanceof AddonMissing, isCheckout));
  }
}

/** The browser's arguments to the launcher, as observed: Chromium its origin, Firefox manifest and add-on id. */
function callerArguments(family: BrowserFamily, manifest: string, id: string): readonly string[] {
  return family === 'chromium' ? [chromiumCaller(id)] : [manifest, id];
}

const HELLO_REMEDY: Record<Exclude<HelloResult['state'], 'answered'>, string> = {
  'not-started': 'Install again, and check that the launcher’s file system allows execution.',
  silent:
    'Stop other programs that keep the machine busy and try again; if it stays silent, look at its log.',
  exited: 'Read the message; install again if the helper was moved or updated.',
  garbled: 'The launcher’s standard output may only carry messages; remove whatever else prints there.',
  refused: 'Read the message; update the older of extension and helper.',
};

/** Examines one browser from its registry key or manifest to a real hello over the wire. */
export async function examineBrowser(examination: BrowserExamination): Promise<ExaminationResult> {
  const { machine, target } = examination;
  const { browser } = target;
  const findings: Finding[] = [];
  const found = findingOn(browser.title);
  const add: Add = (...finding) => void findings.push(found(...finding));
  const again = (settings: Partial<InstallSettings> = {}): string =>
    `Run: ${examination.installCommand({ extensionIds: examination.extensionIds, config: null, ...settings })}`;

  const path = manifestPath(target, machine, add, again());
  const manifest = path === null ? null : manifestAt(path, target, machine, add, again());
  if (path === null || manifest === null) return { findings, config: null };

  const config = launcherAt(manifest.path, machine)?.config ?? null;
  const allowed = allowedBy(manifest, browser.family);
  const ids = new Set([...furtherIds(manifest, browser.family), ...examination.extensionIds]);
  const remedy = again({ extensionIds: [...ids], config });
  const wanted = allowedExtensions(browser.family, examination.extensionIds);
  const missing = wanted.filter((id) => !allowed.includes(id));
  if (missing.length === 0) add('extension', 'ok', `allows ${allowed.join(' and ')}`);
  else add('extension', 'problem', `the manifest does not allow the extension ${missing.join(', ')}`, remedy);

  if (!launcherWorks(manifest.path, machine, add, remedy)) return { findings, config };
  const [caller = ''] = wanted.slice(-1);
  const hello = await examination.hello(manifest.path, callerArguments(browser.family, path, caller));
  if (hello.state === 'answered') add('hello', 'ok', `${hello.program} responded in ${hello.afterMs} ms`);
  else add('hello', 'problem', hello.reason, HELLO_REMEDY[hello.state]);
  return { findings, config };
}

/** The manifest that the browser would read; null, with a finding, if there is none. */
function manifestPath(target: Target, machine: Machine, add: Add, again: string): string | null {
  const { registryKey, manifest } = target.browser;
  const { disk } = machine;
  const named = registryKey === null ? manifest : (machine.registry?.read(registryKey) ?? null);
  if (named !== null && disk.kindOf(named) !== 'nothing') return named;
  if (named !== null && registryKey !== null)
    add('manifest', 'problem', `the registry key ${registryKey} names ${named}, which does not exist`, again);
  else if (target.state === 'absent') add('manifest', 'note', NOT_FOUND);
  else if (target.state === 'installed') add('manifest', 'note', 'the helper is not installed for it', again);
  else if (target.state === 'sandboxed') add('manifest', 'note', target.note ?? 'sandboxed');
  else if (registryKey === null) add('manifest', 'problem', `no manifest at ${manifest}`, again);
  else add('manifest', 'problem', `no registry key ${registryKey}`, again);
  return null;
}

function manifestAt(
  path: string,
  target: Target,
  machine: Machine,
  add: Add,
  again: string,
): HostManifest | null {
  const read = readManifest(path, machine);
  if ('error' in read) {
    add('manifest', 'problem', `${path}: ${read.error}`, again);
    return null;
  }
  const { manifest } = read;
  if (manifest.name !== HOST_NAME) {
    const words = `${path} names "${manifest.name}", not "${HOST_NAME}"`;
    add('manifest', 'problem', words, `Remove that file. ${again}`);
    return null;
  }
  const { registryKey }: Browser = target.browser;
  add('manifest', 'ok', registryKey === null ? path : `${registryKey} names ${path}`);
  if (target.note !== null) add('manifest', 'note', target.note);
  return manifest;
}

/** What prevents a launcher from being started; null if nothing does. */
function launcherFault(path: string, { disk, platform }: Machine): string | null {
  if (!pathsOf(platform).isAbsolute(path)) return `the manifest's path "${path}" is not absolute`;
  const kind = disk.kindOf(path);
  if (kind === 'nothing') return `the launcher ${path} does not exist`;
  if (kind === 'directory') return `the launcher ${path} is not a file`;
  return disk.mayRun(path) ? null : `the launcher ${path} is not executable`;
}

function launcherWorks(path: string, machine: Machine, add: Add, again: string): boolean {
  const fault = launcherFault(path, machine);
  if (fault !== null) {
    add('launcher', 'problem', fault, again);
    return false;
  }
  const launcher = launcherAt(path, machine);
  if (launcher === null) {
    add('launcher', 'note', `${path} was not written by install; only its response is checked`);
    return true;
  }
  add('launcher', 'ok', path);
  return runtimeWorks(launcher, machine, add, again);
}

function runtimeWorks(
  { runtime, main, config }: Launcher,
  machine: Machine,
  add: Add,
  again: string,
): boolean {
  const { disk } = machine;
  const isFile = (path: string): boolean => disk.kindOf(path) === 'file';
  const faults = [
    ...(isFile(runtime) && disk.mayRun(runtime)
      ? []
      : [`its runtime ${runtime} is missing or not executable`]),
    ...(isFile(main) ? [] : [`the helper ${main} is missing`]),
    ...(config === null || isFile(config) ? [] : [`its settings file ${config} is missing`]),
  ];
  if (faults.length === 0) add('runtime', 'ok', `${runtime} runs ${main}`);
  for (const fault of faults) add('runtime', 'problem', fault, again);
  return faults.length === 0;
}

/** The result of the hello; every reason is a sentence for people. */
type HelloResult =
  | { readonly state: 'answered'; readonly program: string; readonly afterMs: number }
  | {
      readonly state: 'not-started' | 'silent' | 'exited' | 'garbled' | 'refused';
      readonly reason: string;
    };

const HELLO_ID = 1;
/** Enough of a failing helper's output to see why. */
const MAX_STDERR_CHARS = 400;
/** The PATH that desktop sessions give a browser, which passes it on; it does not contain our own runtime. */
const BARE_PATH = '/usr/local/bin:/usr/bin:/bin';
const PASSED_ON = ['HOME', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_DATA_HOME', 'LANG'];
/** Without these a Windows program finds neither itself nor its user. */
const PASSED_ON_WINDOWS = ['APPDATA', 'COMSPEC', 'LOCALAPPDATA', 'SystemRoot', 'TEMP', 'USERPROFILE'];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What a browser runs for a launcher; on Windows cmd.exe, with the options used by Chromium and Firefox. `verbatim`: the
 * arguments are already quoted as the system requires.
 */
export function launchOf(
  launcher: string,
  callerArguments: readonly string[],
  platform: Platform,
  environment: Environment,
) {
  const passedOn = (names: readonly string[]): Record<string, string> =>
    Object.fromEntries(
      names.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
    );
  if (platform !== 'win32')
    return {
      file: launcher,
      args: callerArguments,
      environment: { PATH: BARE_PATH, ...passedOn(PASSED_ON) },
      verbatim: false,
    };
  const system = win32.join(environment.SystemRoot ?? 'C:\\Windows', 'System32');
  const call = [launcher, ...callerArguments].map((word) => `"${word}"`).join(' ');
  return {
    file: environment.COMSPEC ?? win32.join(system, 'cmd.exe'),
    args: ['/d', '/s', '/c', `"${call}"`],
    environment: { PATH: system, ...passedOn(PASSED_ON_WINDOWS) },
    verbatim: true,
  };
}

function judge(inbound: Inbound, afterMs: number): HelloResult {
  if (inbound.kind !== 'message')
    return { state: 'garbled', reason: 'the launcher printed something other than a message' };
  const reply = v.safeParse(replySchema, inbound.value);
  if (!reply.success) return { state: 'garbled', reason: 'the response is not a known message' };
  const { output } = reply;
  if (output.type === 'error')
    return { state: 'refused', reason: `the helper refused: ${output.code}: ${output.message}` };
  if (output.type !== 'hello')
    return { state: 'garbled', reason: `the response to hello was ${output.type}` };
  return { state: 'answered', program: output.program, afterMs: Math.round(afterMs) };
}

/** Starts a launcher and says hello; ends it again in any case. Never rejects. */
export function exchangeHello(launch: ReturnType<typeof launchOf>, timeoutMs: number): Promise<HelloResult> {
  const startMs = performance.now();
  const { promise, resolve } = Promise.withResolvers<HelloResult>();
  const child = spawn(launch.file, [...launch.args], {
    env: launch.environment,
    stdio: 'pipe',
    windowsHide: true,
    windowsVerbatimArguments: launch.verbatim,
  });
  const deframer = createDeframer();
  let stderr = '';
  const finish = (result: HelloResult): void => {
    clearTimeout(timer);
    resolve(result);
    // If there is a shell in between, only the end of its input ends the helper.
    child.stdin.destroy();
    child.kill('SIGKILL');
  };
  const timer = setTimeout(
    () => finish({ state: 'silent', reason: `no response within ${timeoutMs / 1000} s` }),
    timeoutMs,
  );
  child.on('error', (error) =>
    finish({ state: 'not-started', reason: `the launcher could not be started: ${error.message}` }),
  );
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR_CHARS);
  });
  child.stdout.on('data', (bytes: Buffer) => {
    const [first] = deframer.push(bytes);
    if (first !== undefined) finish(judge(first, performance.now() - startMs));
  });
  child.on('close', (code, signal) => {
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
    const [line = ''] = stderr.trim().split('\n').slice(-1);
    finish({
      state: 'exited',
      reason: `the helper ended before it responded (${how})${line === '' ? '' : `: ${line}`}`,
    });
  });
  // This fails if a launcher ends before it reads; its exit code says more.
  child.stdin.on('error', () => {});
  child.stdin.write(
    frame({ type: 'hello', id: HELLO_ID, protocol: WIRE_PROTOCOL, program: 'photofinish-doctor' }),
  );
  return promise;
}
