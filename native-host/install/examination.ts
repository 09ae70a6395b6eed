// The complete examination of the doctor: each browser's path to the helper, then what all of them share. Printed by the
// command, and sent over the wire by a running helper.
import type { DoctorFinding as Finding } from '@photofinish/shared/port/doctor';
import { userHome } from '../paths.ts';
import { PROGRAM } from '../version.ts';
import type { Caller } from '../wire/caller.ts';
import { userDirectories } from './browsers.ts';
import {
  addonFinding,
  type ExaminationResult,
  examineBrowser,
  exchangeHello,
  findingOn,
  type InstallSettings,
  launchOf,
} from './doctor.ts';
import {
  cacheFinding,
  configFinding,
  fleetFinding,
  networkFinding,
  settingsProblems,
} from './helper-findings.ts';
import { type InstallRequest, type Target, targetsOf } from './install-plan.ts';
import { type Machine, thisMachine } from './machine.ts';
import { checkoutOf, commandWord, ownCommand, ownInstallation } from './own-command.ts';

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

export interface ExaminationRequest {
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
          cacheFinding(settings.cachePath),
          ...(settings.fleet === null ? [] : [await fleetFinding(settings.fleet, settings.cachePath)]),
          await networkFinding(settings.cachePath),
        ]),
    addonFinding(machine !== null && checkoutOf(ownInstallation(machine.platform)) !== null),
  ];
}
