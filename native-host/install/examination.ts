// The complete examination of the doctor: each browser's path to the helper, then what all of them share, which are
// settings, host cache, fleet cache and network. Printed by the command, and sent over the wire by a running helper.
import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import '@photofinish/shared/language/english';
import type { DoctorFinding as Finding } from '@photofinish/shared/port/wire';
import { sharedWithin } from '@photofinish/shared/verdict/verdict-text';
import { UNIDENTIFIED } from '@photofinish/shared/web/network-name';
import { messageOf } from '@photofinish/shared/web/untrusted';
import { SHARED_REFUSALS, type SharedRefusal, type SharedRefusals } from '../cache/record.ts';
import { whyForeign } from '../cache/schema.ts';
import { openHostCache, type SharedStats } from '../cache/store.ts';
import { plural } from '../cli/text.ts';
import { systemClock } from '../clock.ts';
import {
  defaultConfigPath,
  type FleetSettings,
  loadSettings,
  type Settings,
  SettingsError,
} from '../config.ts';
import { keptSalt, networkKey, networkText, saltPath } from '../network/key.ts';
import { systemSource, watchNetwork } from '../network/watch.ts';
import { asideFiles, insecurePath, irregularReason, userHome, whyNotWritable } from '../paths.ts';
import { readTrust } from '../trust.ts';
import { PROGRAM } from '../version.ts';
import type { Caller } from '../wire/caller.ts';
import { userDirectories } from './browsers.ts';
import {
  addonFinding,
  type ExaminationResult,
  examineBrowser,
  exchangeHello,
  findingOn,
  helperFinding,
  type InstallSettings,
  launchOf,
} from './doctor.ts';
import { type InstallRequest, type Target, targetsOf } from './install-plan.ts';
import { type Machine, thisMachine } from './machine.ts';
import { checkoutOf, commandWord, ownCommand, ownInstallation } from './own-command.ts';

/** The settings file in use, or why it cannot be used. */
function configFinding(path: string | null): { finding: Finding; settings: Settings | null } {
  try {
    const settings = loadSettings(path);
    const text = settings.source ?? `no settings file at ${defaultConfigPath()}; using the defaults`;
    return { finding: helperFinding('config', 'ok', text), settings };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const remedy = 'Correct the settings file, or remove it.';
    return { finding: helperFinding('config', 'problem', error.message, remedy), settings: null };
  }
}

/** What would make a race over the port fail although the settings are well-formed. */
async function settingsProblems({ ca, logsPath }: Settings): Promise<Finding[]> {
  const untrusted = await readTrust(ca).then(() => null, messageOf);
  const unwritable =
    logsPath === null
      ? null
      : (insecurePath(logsPath) ?? irregularReason(logsPath) ?? whyNotWritable(dirname(logsPath)));
  const problems: Finding[] = [];
  if (untrusted !== null)
    problems.push(helperFinding('config', 'problem', untrusted, 'Correct "ca" in the settings file.'));
  if (unwritable !== null) {
    const text = `the log ${logsPath} cannot be written: ${unwritable}`;
    const remedy = 'Make its directory writable for you alone, or change "logs" in the settings file.';
    problems.push(helperFinding('config', 'problem', text, remedy));
  }
  return problems;
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

/** The remedy for a path with something in it that is not ours. */
const moveAway = (what: 'it' | 'that file'): string =>
  `Move ${what} elsewhere, or name another file with "cache" in the settings file.`;

function cacheRemedy(path: string): string {
  if (insecurePath(path) === null && irregularReason(path) !== null) return moveAway('it');
  return isPrivatelyWritable(path)
    ? 'Free disk space or, if the file is newer, update the helper.'
    : 'Make the file and its directory writable for you alone.';
}

/** More than storing one race takes. */
const TRIAL_BYTES = 65_536;

/**
 * Why the disk takes nothing more; null: it does. Only writing shows it: opening a current cache does not, and what is
 * rolled back never reaches the disk. A file of its own needs no lock that another helper may hold.
 */
function whyNotWritten(path: string): string | null {
  const trial = `${path}.${process.pid}`;
  try {
    // Random, because some file systems store zeros without using space.
    writeFileSync(trial, randomBytes(TRIAL_BYTES), { mode: 0o600 });
    return null;
  } catch (error) {
    return (error as Error).message;
  } finally {
    rmSync(trial, { force: true });
  }
}

/** Whether outcomes are remembered, and how many are. */
function cacheFinding(path: string): Finding {
  const unusable = (reason: string | null, remedy = cacheRemedy(path)): Finding =>
    helperFinding(
      'cache',
      'problem',
      `${path} cannot be used, so nothing will be remembered: ${reason}`,
      remedy,
    );
  // Reading must not create it.
  if (!existsSync(path)) {
    const reason = insecurePath(path) ?? whyNotWritable(dirname(path));
    return reason === null
      ? helperFinding('cache', 'ok', `${path} will be created when it is needed`)
      : unusable(reason);
  }
  const cache = openHostCache({ path, clock: systemClock });
  const { store, storeReason, origins, unsound, refused, shared } = cache.stats();
  cache.close();
  const foreign = store === 'sqlite' ? null : whyForeign(path);
  if (foreign !== null) return unusable(`it was left alone, because ${foreign}`, moveAway('that file'));
  const unwritten = store === 'sqlite' ? whyNotWritten(path) : storeReason;
  if (unwritten !== null) return unusable(unwritten);
  const others = shared === 0 ? '' : `, ${shared} shared by machines of the organisation`;
  const counted = `${path}, ${plural(origins, 'origin')}${others}`;
  if (unsound > 0)
    return helperFinding(
      'cache',
      'note',
      `${counted}; damaged records were found and dropped: ${unsound}`,
      'Check the disk and the memory: one of them corrupts stored data.',
    );
  if (refused > 0)
    return helperFinding(
      'cache',
      'note',
      `${counted}; not recorded, because their sites added too many in one day: ${refused}`,
    );
  return helperFinding('cache', 'ok', counted);
}

/** Reports that a damaged cache was replaced: the helper that did so may have had nobody to tell. */
function asideFindings(path: string): Finding[] {
  const isCache = (file: string): boolean =>
    file.startsWith(`${path}.corrupt-`) && !/-(?:wal|shm)$/.test(file);
  return asideFiles(path)
    .filter(isCache)
    .map((file) =>
      helperFinding(
        'cache',
        'note',
        `the host cache was damaged; it was set aside as ${file} and replaced`,
        'Check the disk. The file, and its journals (-wal, -shm) beside it, hold browsing history: remove them when you no longer need them.',
      ),
    );
}

/** The findings on the host cache. */
export function cacheFindings(path: string): Finding[] {
  // Opened first: that may set it aside.
  return [cacheFinding(path), ...asideFindings(path)];
}

/** Without a salt no key is shown, so its value does not matter. */
const SALT_STAND_IN_BYTES = 16;

/** A network's key, after its name if the user gave one. */
function nameBeside(key: string, cachePath: string): string {
  if (!existsSync(cachePath)) return key;
  const cache = openHostCache({ path: cachePath, clock: systemClock });
  const name = cache.networkNames().get(key);
  cache.close();
  return name === undefined ? key : `${name} (${key})`;
}

/** Whether the current network can be told from others. */
async function networkFinding(cachePath: string): Promise<Finding> {
  // Reading must not create the salt.
  const saltFile = saltPath(cachePath);
  const kept = keptSalt(saltFile);
  if (kept.state === 'unusable' && kept.mendable)
    return helperFinding(
      'network',
      'note',
      `${saltFile} will be replaced at the helper's next start (${kept.reason}); all networks then count as new`,
    );
  if (kept.state === 'unusable')
    return helperFinding(
      'network',
      'problem',
      `${saltFile} cannot be used, so the helper sees a new network at every start: ${kept.reason}`,
      'Correct that, or remove the file: the helper creates a new one.',
    );
  const salt = kept.state === 'kept' ? kept.salt : null;
  const source = systemSource(process.platform, systemClock);
  const network = watchNetwork({
    source,
    salt: salt ?? new Uint8Array(SALT_STAND_IN_BYTES),
    clock: systemClock,
  });
  const key = await network.settled();
  if (key === UNIDENTIFIED)
    return helperFinding(
      'network',
      'problem',
      'this network cannot be distinguished from others, so nothing will be remembered',
      "Check that this system's commands for routes and neighbours can be run.",
    );
  const facts = network.facts();
  if (facts === null) return helperFinding('network', 'note', 'offline: there is no default route');
  const named =
    salt === null ? 'its key will be created with the cache' : nameBeside(networkKey(facts, salt), cachePath);
  return helperFinding('network', 'ok', `${networkText(facts)}: ${named}`);
}

const NOTHING_SHARED: SharedStats = { outcomes: 0, newestAtMs: null, refused: {} };

const REFUSED_BECAUSE: Record<SharedRefusal, string> = {
  malformed: 'not an outcome',
  unauthenticated: "not made with the organisation's salt",
  outdated: 'older than a day',
  ahead: "ahead of this machine's clock",
};

function refusedText(refused: SharedRefusals): string {
  const counted = SHARED_REFUSALS.flatMap((reason) => {
    const n = refused[reason];
    return n === undefined ? [] : [`${n} ${REFUSED_BECAUSE[reason]}`];
  });
  return counted.length === 0 ? '' : `; refused until now: ${counted.join(', ')}`;
}

/** What is copied, empty if the file cannot be opened: the helper's copy is then in its memory. */
export function copiedText(cachePath: string, nowMs: number): string {
  const cache = existsSync(cachePath) ? openHostCache({ path: cachePath, clock: systemClock }) : null;
  const isKept = cache === null || cache.store().store === 'sqlite';
  const { outcomes, newestAtMs, refused } = cache?.sharedStats() ?? NOTHING_SHARED;
  cache?.close();
  if (!isKept) return '';
  const age = newestAtMs === null ? '' : `, the newest ${sharedWithin(newestAtMs, nowMs)}`;
  const copied = plural(outcomes, 'outcome is', 'outcomes are');
  return `; ${copied} copied here${age}${refusedText(refused)}`;
}

/**
 * Whether the bucket of the fleet cache can be used, what is copied of it, and why values were refused. Under `cache`,
 * because extensions of earlier versions know no other check for it.
 */
async function fleetFinding(settings: FleetSettings, cachePath: string): Promise<Finding> {
  const { heldInBucket } = await import('../fleet/fleet.ts');
  const copied = copiedText(cachePath, systemClock.epochMs());
  try {
    const held = plural(await heldInBucket(settings), 'value');
    const text = `fleet cache: the bucket "${settings.bucket}" holds ${held}${copied}`;
    return helperFinding('cache', 'ok', text);
  } catch (error) {
    const text = `fleet cache: the bucket "${settings.bucket}" cannot be used: ${(error as Error).message}${copied}`;
    return helperFinding('cache', 'problem', text, 'Check "fleet" in the settings file, and the server.');
  }
}

/**
 * Forty times the duration of a cold start on a slow disk: a machine that is busy with other things is no fault of the
 * installation. The extension waits 30 s for the whole examination.
 */
const HELLO_TIMEOUT_MS = 8000;
const BROWSERS = 'Browsers';

/** The command that installs for one browser with the requested options, keeping the existing ones. */
function installCommand(
  photofinish: string,
  { platform }: Machine,
  { browser }: Target,
  userDataDirectory: string | null,
): (settings: InstallSettings) => string {
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
): Promise<ExaminationResult> {
  const { platform, disk } = machine;
  const request: InstallRequest = { browsers: [], userDataDirectory, extensionIds };
  const photofinish = ownCommand(ownInstallation(platform));
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
        exchangeHello(launchOf(launcher, caller, platform, process.env), HELLO_TIMEOUT_MS),
    });
    findings.push(...examined.findings);
    config ??= examined.config;
  }
  if (findings.every(({ state }) => state === 'note'))
    findings.push(
      findingOn(BROWSERS)(
        'manifest',
        'problem',
        'the helper is not installed for any browser',
        `Run: ${photofinish} install, with --browser NAME if yours is not found`,
      ),
    );
  return { findings, config };
}

/**
 * A browser that asks proves that it can reach the helper, wherever its profile is; problems of other browsers are
 * worth knowing, but are not problems for its user.
 */
function askedBy({ extension, manifest }: Caller, others: readonly Finding[]): Finding[] {
  const found = findingOn('This browser');
  return [
    ...(manifest === null ? [] : [found('manifest', 'ok', manifest)]),
    found('extension', 'ok', `${extension} may start the helper`),
    found('hello', 'ok', `${PROGRAM} answered`),
    ...others
      .filter(({ subject }) => subject !== BROWSERS)
      .map((finding): Finding => (finding.state === 'problem' ? { ...finding, state: 'note' } : finding)),
  ];
}

function withoutBrowsers(): ExaminationResult {
  const text = `Photofinish does not know the browsers of this system (${process.platform})`;
  return { findings: [findingOn(BROWSERS)('manifest', 'note', text)], config: null };
}

interface ExaminationRequest {
  /** The Chromium profile to examine instead of the usual ones. */
  readonly userDataDirectory: string | null;
  /** Ids expected to be allowed in addition to that of our own key. */
  readonly extensionIds: readonly string[];
  /** The settings file in use; null: the one named by launchers, or the default one. */
  readonly config: string | null;
  /** The caller over the port; null: the command line. */
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
          ...cacheFindings(settings.cachePath),
          ...(settings.fleet === null ? [] : [await fleetFinding(settings.fleet, settings.cachePath)]),
          await networkFinding(settings.cachePath),
        ]),
    addonFinding(machine !== null && checkoutOf(ownInstallation(machine.platform)) !== null),
  ];
}
