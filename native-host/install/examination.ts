// Everything the doctor looks at: each browser's way to the helper, then what all of them share: settings, host cache,
// network and addon. The command prints it, and a helper that runs tells it over the wire.
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DoctorFinding as Finding } from '@photofinish/shared/port/doctor';
import { whyForeign } from '../cache/own-file.ts';
import { openHostCache } from '../cache/store.ts';
import { systemClock } from '../clock.ts';
import { defaultConfigPath, loadSettings, type Settings, SettingsError } from '../config.ts';
import { networkKey, networkWords, UNIDENTIFIED } from '../network/key.ts';
import { keptSalt, saltPath } from '../network/salt.ts';
import { systemSource } from '../network/source.ts';
import { watchNetwork } from '../network/watch.ts';
import { whyNotWritable } from '../private-directory.ts';
import { insecurePath, irregularReason } from '../secure-path.ts';
import { readTrust } from '../trust.ts';
import { userHome } from '../user-home.ts';
import { PROGRAM } from '../version.ts';
import type { Caller } from '../wire/caller.ts';
import { addonFinding, HELPER as SUBJECT } from './addon-finding.ts';
import { userDirectories } from './browsers.ts';
import { examineBrowser, type Kept } from './doctor.ts';
import { launchOf, sayHello } from './hello.ts';
import { type Machine, thisMachine } from './machine.ts';
import { checkoutOf, commandWord, environment, ownCommand } from './own-command.ts';
import { type InstallRequest, type Target, targetsOf } from './plan.ts';

/** Ten times what a cold start takes on a slow disk. */
const HELLO_TIMEOUT_MS = 2000;
/** Where there is no salt yet no key is shown, so any will do. */
const SALT_STAND_IN_BYTES = 16;
const BROWSERS = 'Browsers';
const THIS_BROWSER = 'This browser';

function configFinding(path: string | null): { finding: Finding; settings: Settings | null } {
  const base = { subject: SUBJECT, check: 'config' } as const;
  try {
    const settings = loadSettings(path === null ? {} : { path });
    const text = settings.source ?? `no settings file at ${defaultConfigPath()}; using the defaults`;
    return { finding: { ...base, state: 'ok', text, remedy: null }, settings };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const remedy = 'Correct the settings file, or remove it.';
    return { finding: { ...base, state: 'problem', text: error.message, remedy }, settings: null };
  }
}

/** What a race over the port would fail for, although the settings themselves are well-formed. */
async function settingsProblems({ ca, logsPath }: Settings): Promise<Finding[]> {
  const base = { subject: SUBJECT, check: 'config', state: 'problem' } as const;
  const trust = await readTrust(ca);
  const unwritable =
    logsPath === null
      ? null
      : (insecurePath(logsPath) ?? irregularReason(logsPath) ?? whyNotWritable(dirname(logsPath)));
  return [
    ...(trust.ok ? [] : [{ ...base, text: trust.message, remedy: 'Correct "ca" in the settings file.' }]),
    ...(unwritable === null
      ? []
      : [
          {
            ...base,
            text: `the log ${logsPath} cannot be written: ${unwritable}`,
            remedy: 'Make its directory writable for you alone, or change "logs" in the settings file.',
          },
        ]),
  ];
}

function isPrivatelyWritable(path: string): boolean {
  if ((insecurePath(path) ?? whyNotWritable(dirname(path))) !== null) return false;
  try {
    if (existsSync(path)) accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function cacheFinding(path: string): Finding {
  const base = { subject: SUBJECT, check: 'cache' } as const;
  const unusable = (reason: string | null): Finding => ({
    ...base,
    state: 'problem',
    text: `${path} cannot be used, so nothing will be remembered: ${reason}`,
    remedy: isPrivatelyWritable(path)
      ? 'Free disk space or, if the file is newer, update the helper.'
      : 'Make the file and its directory writable for you alone.',
  });
  // Looking must not create it.
  if (!existsSync(path)) {
    const reason = insecurePath(path) ?? whyNotWritable(dirname(path));
    return reason === null
      ? { ...base, state: 'ok', text: `${path} will be created when it is needed`, remedy: null }
      : unusable(reason);
  }
  const cache = openHostCache({ path, clock: systemClock });
  const { store, storeReason, origins, unsound, refused } = cache.stats();
  cache.close();
  const foreign = store === 'sqlite' ? null : whyForeign(path);
  if (foreign !== null)
    return {
      ...unusable(`it is left alone, because ${foreign}`),
      remedy: 'Move that file elsewhere, or name another with "cache" in the settings file.',
    };
  if (store !== 'sqlite') return unusable(storeReason);
  const counted = `${origins} ${origins === 1 ? 'origin' : 'origins'}`;
  if (unsound > 0)
    return {
      ...base,
      state: 'note',
      text: `${path}, ${counted}; damaged records were found and dropped: ${unsound}`,
      remedy: 'Check the disk: it, or its memory, changes what was written.',
    };
  if (refused > 0)
    return {
      ...base,
      state: 'note',
      text: `${path}, ${counted}; not recorded, because their sites named too many in one day: ${refused}`,
      remedy: null,
    };
  return { ...base, state: 'ok', text: `${path}, ${counted}`, remedy: null };
}

/** A network's key, behind the name that the user gave it. */
function nameBeside(key: string, cachePath: string): string {
  if (!existsSync(cachePath)) return key;
  const cache = openHostCache({ path: cachePath, clock: systemClock });
  const name = cache.networkNames().get(key);
  cache.close();
  return name === undefined ? key : `${name} (${key})`;
}

async function networkFinding(cachePath: string): Promise<Finding> {
  const base = { subject: SUBJECT, check: 'network' } as const;
  // Looking must not create the salt.
  const saltFile = saltPath(cachePath);
  const kept = keptSalt(saltFile);
  if (kept.state === 'unusable' && kept.mendable)
    return {
      ...base,
      state: 'note',
      text: `${saltFile} is replaced at the helper's next start (${kept.reason}); networks count as new ones then`,
      remedy: null,
    };
  if (kept.state === 'unusable')
    return {
      ...base,
      state: 'problem',
      text: `${saltFile} cannot be used, so every start of the helper takes this network for another one: ${kept.reason}`,
      remedy: 'Do what the reason says, or remove the file: a new one is made.',
    };
  const salt = kept.state === 'kept' ? kept.salt : null;
  const source = systemSource(process.platform, systemClock);
  const network = watchNetwork({
    source,
    salt: salt ?? new Uint8Array(SALT_STAND_IN_BYTES),
    clock: systemClock,
  });
  const key = await network.settled();
  if (key === UNIDENTIFIED)
    return {
      ...base,
      state: 'problem',
      text: 'this network cannot be told from others, so nothing will be remembered',
      remedy: "Check that this system's commands for routes and neighbours can be run.",
    };
  const facts = network.facts();
  if (facts === null)
    return { ...base, state: 'note', text: 'offline: there is no default route', remedy: null };
  const named =
    salt === null ? 'its key will be made with the cache' : nameBeside(networkKey(facts, salt), cachePath);
  return { ...base, state: 'ok', text: `${networkWords(facts)}: ${named}`, remedy: null };
}

/** The command that installs for one browser what was asked, with what was there kept. */
function installCommand(
  photofinish: string,
  { platform }: Machine,
  { browser }: Target,
  userDataDirectory: string | null,
): (kept: Kept) => string {
  return ({ extensionIds, config }) => {
    const where =
      userDataDirectory === null
        ? ['--browser', browser.name]
        : ['--user-data-dir', commandWord(userDataDirectory, platform)];
    const ids = extensionIds.flatMap((id) => ['--extension-id', id]);
    const settings = config === null ? [] : ['--config', commandWord(config, platform)];
    return [photofinish, 'install', ...where, ...ids, ...settings].join(' ');
  };
}

async function browserFindings(
  machine: Machine,
  userDataDirectory: string | null,
  extensionIds: readonly string[],
): Promise<{ findings: Finding[]; config: string | null }> {
  const { platform, disk } = machine;
  const request: InstallRequest = { browsers: [], userDataDirectory, extensionIds };
  const photofinish = ownCommand(environment(platform));
  const exists = (path: string): boolean => disk.kindOf(path) !== 'nothing';
  const findings: Finding[] = [];
  let config: string | null = null;
  for (const target of targetsOf(request, userDirectories(platform, process.env, userHome()), exists)) {
    const examined = await examineBrowser({
      machine,
      target,
      extensionIds,
      installCommand: installCommand(photofinish, machine, target, userDataDirectory),
      hello: (launcher, caller) =>
        sayHello(launchOf(launcher, caller, platform, process.env), HELLO_TIMEOUT_MS),
    });
    findings.push(...examined.findings);
    config ??= examined.config;
  }
  if (findings.every(({ state }) => state === 'note'))
    findings.push({
      subject: BROWSERS,
      check: 'manifest',
      state: 'problem',
      text: 'the helper is not installed for any browser',
      remedy: `Run: ${photofinish} install, with --browser NAME if yours is not found`,
    });
  return { findings, config };
}

/**
 * A browser that asks is the proof that its own way to the helper works, wherever its profile is; what is wrong with
 * others is worth knowing, and no problem of its user's.
 */
function askedBy({ extension, manifest }: Caller, others: readonly Finding[]): Finding[] {
  const ok = (check: Finding['check'], text: string): Finding => ({
    subject: THIS_BROWSER,
    check,
    state: 'ok',
    text,
    remedy: null,
  });
  return [
    ...(manifest === null ? [] : [ok('manifest', manifest)]),
    ok('extension', `${extension} may start the helper`),
    ok('hello', `${PROGRAM} answered`),
    ...others
      .filter(({ subject }) => subject !== BROWSERS)
      .map((finding): Finding => (finding.state === 'problem' ? { ...finding, state: 'note' } : finding)),
  ];
}

function withoutBrowsers(): { findings: Finding[]; config: null } {
  const text = `Photofinish does not know the browsers of this system (${process.platform})`;
  const finding: Finding = { subject: BROWSERS, check: 'manifest', state: 'note', text, remedy: null };
  return { findings: [finding], config: null };
}

export interface ExaminationRequest {
  /** The Chromium profile to look at instead of the usual ones. */
  readonly userDataDirectory: string | null;
  /** Ids expected to be allowed beside the one of our own key. */
  readonly extensionIds: readonly string[];
  /** The settings file in use; null: the one that launchers name, or the default one. */
  readonly config: string | null;
  /** Who asks over the port; null: the command line. */
  readonly caller: Caller | null;
}

/** All findings, browsers first. */
export async function allFindings(request: ExaminationRequest): Promise<Finding[]> {
  const { userDataDirectory, extensionIds } = request;
  const machine = thisMachine();
  const browsers =
    machine === null ? withoutBrowsers() : await browserFindings(machine, userDataDirectory, extensionIds);
  const { finding, settings } = configFinding(request.config ?? browsers.config);
  return [
    ...(request.caller === null ? browsers.findings : askedBy(request.caller, browsers.findings)),
    finding,
    ...(settings === null
      ? []
      : [
          ...(await settingsProblems(settings)),
          cacheFinding(settings.cachePath),
          await networkFinding(settings.cachePath),
        ]),
    addonFinding(machine !== null && checkoutOf(environment(machine.platform)) !== null),
  ];
}
