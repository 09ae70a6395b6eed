// Everything the doctor looks at: each browser's way to the helper, then what all of them share: settings, host cache,
// network and addon. The command prints it, and a helper that runs tells it over the wire.
import { existsSync } from 'node:fs';
import type { DoctorFinding as Finding } from '@photofinish/shared/doctor';
import { openHostCache } from '../cache/store.ts';
import { defaultConfigPath, loadSettings, type Settings, SettingsError } from '../config.ts';
import { networkKey, networkWords, UNIDENTIFIED } from '../network/key.ts';
import { keptSalt, saltPath } from '../network/salt.ts';
import { systemSource } from '../network/source.ts';
import { watchNetwork } from '../network/watch.ts';
import { loadQuicAddon } from '../quic/addon.ts';
import { systemClock } from '../race/clock.ts';
import { userHome } from '../user-home.ts';
import { userDirectories } from './browsers.ts';
import { examineBrowser, type Kept } from './doctor.ts';
import { launchOf, sayHello } from './hello.ts';
import { type Machine, thisMachine } from './machine.ts';
import { checkoutOf, commandWord, ownCommand, surroundings } from './own-command.ts';
import { type InstallRequest, type Target, targetsOf } from './plan.ts';

/** Ten times what a cold start takes on a slow disk. */
const HELLO_TIMEOUT_MS = 2000;
/** Where there is no salt yet no key is shown, so any will do. */
const SALT_STAND_IN_BYTES = 16;
const SUBJECT = 'Helper';
const BROWSERS = 'Browsers';

function configFinding(path: string | null): { finding: Finding; settings: Settings | null } {
  const base = { subject: SUBJECT, check: 'config' } as const;
  try {
    const settings = loadSettings(path === null ? {} : { path });
    const text = settings.source ?? `no settings file at ${defaultConfigPath()}: the defaults hold`;
    return { finding: { ...base, state: 'ok', text, remedy: null }, settings };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const remedy = 'Mend or remove the settings file.';
    return { finding: { ...base, state: 'problem', text: error.message, remedy }, settings: null };
  }
}

function cacheFinding(path: string): Finding {
  const base = { subject: SUBJECT, check: 'cache' } as const;
  if (!existsSync(path))
    return { ...base, state: 'ok', text: `${path} will be made when it is needed`, remedy: null };
  const cache = openHostCache({ path, clock: systemClock });
  const { store, storeReason, origins } = cache.stats();
  cache.close();
  if (store === 'sqlite') return { ...base, state: 'ok', text: `${path}, ${origins} origins`, remedy: null };
  return {
    ...base,
    state: 'problem',
    text: `${path} cannot be used, so nothing is remembered: ${storeReason}`,
    remedy: 'Make the file writable for you, free disk space, or update the helper if the file is newer.',
  };
}

async function networkFinding(cachePath: string): Promise<Finding> {
  const base = { subject: SUBJECT, check: 'network' } as const;
  // To look must not make the salt.
  const salt = keptSalt(saltPath(cachePath));
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
      text: 'networks cannot be told apart here, so nothing is remembered',
      remedy: 'Check that the commands which show routes and neighbours of this system can be run.',
    };
  const facts = network.facts();
  if (facts === null) return { ...base, state: 'note', text: 'no route leads out', remedy: null };
  const named = salt === null ? 'its key is made with the cache' : networkKey(facts, salt);
  return { ...base, state: 'ok', text: `${networkWords(facts)}: ${named}`, remedy: null };
}

function addonFinding(isCheckout: boolean): Finding {
  const base = { subject: SUBJECT, check: 'addon' } as const;
  try {
    loadQuicAddon();
    return { ...base, state: 'ok', text: 'the HTTP/3 addon loads', remedy: null };
  } catch (error) {
    const [why] = (error instanceof Error ? error.message : String(error)).split('\n');
    const text = `the HTTP/3 addon does not load, so only HTTP/2 can be tried: ${why}`;
    const remedy = isCheckout
      ? 'Run "npm run build" at the top of the checkout.'
      : 'Install photofinish anew without --omit=optional, under the Node that the launcher names.';
    return { ...base, state: 'problem', text, remedy };
  }
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
  const photofinish = ownCommand(surroundings(platform));
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
      text: 'no browser can start the helper: none was found for this user',
      remedy: `Run: ${photofinish} install --browser NAME`,
    });
  return { findings, config };
}

function withoutBrowsers(): { findings: Finding[]; config: null } {
  const text = `browsers on this system (${process.platform}) are not known`;
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
}

/** All findings, browsers first. */
export async function allFindings(request: ExaminationRequest): Promise<Finding[]> {
  const { userDataDirectory, extensionIds } = request;
  const machine = thisMachine();
  const browsers =
    machine === null ? withoutBrowsers() : await browserFindings(machine, userDataDirectory, extensionIds);
  const { finding, settings } = configFinding(request.config ?? browsers.config);
  return [
    ...browsers.findings,
    finding,
    ...(settings === null
      ? []
      : [cacheFinding(settings.cachePath), await networkFinding(settings.cachePath)]),
    addonFinding(machine !== null && checkoutOf(surroundings(machine.platform)) !== null),
  ];
}
