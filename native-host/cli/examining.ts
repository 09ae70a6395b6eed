// `photofinish doctor`: every browser's way to the helper, then what all of them share: settings, host cache, addon.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import type { DoctorFinding as Finding } from '@photofinish/shared/doctor';
import { openHostCache } from '../cache/store.ts';
import { defaultConfigPath, loadSettings, type Settings, SettingsError } from '../config.ts';
import { userDirectories } from '../install/browsers.ts';
import { examineBrowser } from '../install/doctor.ts';
import { shellWord } from '../install/manifest.ts';
import { type InstallRequest, targetsOf } from '../install/plan.ts';
import { networkKey, networkWords, UNIDENTIFIED } from '../network/key.ts';
import { keptSalt, saltPath } from '../network/salt.ts';
import { systemSource } from '../network/source.ts';
import { watchNetwork } from '../network/watch.ts';
import { loadQuicAddon } from '../quic/addon.ts';
import { systemClock } from '../race/clock.ts';
import { readExtensionId, readUserDataDirectory } from './installing.ts';
import type { Terminal } from './terminal.ts';
import { type Paint, printable, wrapped } from './text.ts';
import { Complaint, EXIT_FAILED, EXIT_OK, parseCommand } from './usage.ts';

export const DOCTOR_SCHEMA = 'photofinish.doctor/1';

const OPTIONS = {
  'user-data-dir': { type: 'string' },
  'extension-id': { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** Ten times what a cold start takes on a slow disk. */
const HELLO_TIMEOUT_MS = 2000;
/** Where there is no salt yet no key is shown, so any will do. */
const SALT_STAND_IN_BYTES = 16;
const SUBJECT = 'Helper';

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

function addonFinding(): Finding {
  const base = { subject: SUBJECT, check: 'addon' } as const;
  try {
    loadQuicAddon();
    return { ...base, state: 'ok', text: 'the HTTP/3 addon loads', remedy: null };
  } catch (error) {
    const [why] = (error instanceof Error ? error.message : String(error)).split('\n');
    return {
      ...base,
      state: 'problem',
      text: `the HTTP/3 addon does not load, so only HTTP/2 can be tried: ${why}`,
      remedy: 'Run "npm run build" at the top of the checkout.',
    };
  }
}

async function browserFindings(
  userDataDirectory: string | null,
  extensionId: string | null,
): Promise<{ findings: Finding[]; config: string | null }> {
  const request: InstallRequest = { browsers: [], userDataDirectory, extensionId };
  const id = extensionId === null ? '' : ` --extension-id ${extensionId}`;
  const findings: Finding[] = [];
  let config: string | null = null;
  for (const target of targetsOf(request, userDirectories(process.env, homedir()), existsSync)) {
    const where =
      userDataDirectory === null
        ? `--browser ${target.browser.name}`
        : `--user-data-dir ${shellWord(userDataDirectory)}`;
    const examined = await examineBrowser({
      target,
      extensionId,
      installCommand: `photofinish install ${where}${id}`,
      helloTimeoutMs: HELLO_TIMEOUT_MS,
    });
    findings.push(...examined.findings);
    config ??= examined.config;
  }
  if (findings.every(({ state }) => state === 'note'))
    findings.push({
      subject: 'Browsers',
      check: 'manifest',
      state: 'problem',
      text: 'no browser can start the helper: none was found for this user',
      remedy: 'Run: photofinish install --browser NAME',
    });
  return { findings, config };
}

const MARKS = { ok: ['ok', 'green'], problem: ['!!', 'red'], note: ['--', 'dim'] } as const;

function findingsText(findings: readonly Finding[], paint: Paint): string {
  const lines: string[] = [];
  let subject = '';
  for (const finding of findings) {
    if (finding.subject !== subject) {
      subject = finding.subject;
      lines.push(...(lines.length === 0 ? [] : ['']), paint('bold', subject));
    }
    const [mark, colour] = MARKS[finding.state];
    const [first = '', ...rest] = wrapped(printable(finding.text), ' '.repeat(16));
    lines.push(`  ${paint(colour, mark)}  ${finding.check.padEnd(10)}${first.trimStart()}`, ...rest);
    if (finding.remedy !== null) lines.push(...wrapped(printable(finding.remedy), ' '.repeat(16)));
  }
  const problems = findings.filter(({ state }) => state === 'problem').length;
  const verdict = problems === 0 ? 'All is well.' : problems === 1 ? '1 problem.' : `${problems} problems.`;
  return [...lines, '', verdict].join('\n');
}

/** Everything the doctor looks at: each browser's way to the helper, then what all of them share. */
export async function allFindings(
  userDataDirectory: string | null,
  extensionId: string | null,
): Promise<Finding[]> {
  const browsers = await browserFindings(userDataDirectory, extensionId);
  const { finding, settings } = configFinding(browsers.config);
  return [
    ...browsers.findings,
    finding,
    ...(settings === null
      ? []
      : [cacheFinding(settings.cachePath), await networkFinding(settings.cachePath)]),
    addonFinding(),
  ];
}

/** Runs `doctor`; 0 when nothing is wrong. */
export async function runDoctor(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseCommand('doctor', args, OPTIONS);
  if (positionals[0] !== undefined)
    throw new Complaint('bad-usage', `doctor takes no argument "${positionals[0]}"`);
  const findings = await allFindings(
    readUserDataDirectory(values['user-data-dir']),
    readExtensionId(values['extension-id']),
  );
  const healthy = findings.every(({ state }) => state !== 'problem');
  if (values.json) terminal.result(JSON.stringify({ schema: DOCTOR_SCHEMA, healthy, findings }));
  else terminal.result(findingsText(findings, terminal.paint));
  return healthy ? EXIT_OK : EXIT_FAILED;
}
