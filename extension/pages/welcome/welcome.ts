// The welcome page's entry: watches for the helper while the page is visible, and saves choices at once.
import '../../common/catalog.ts';
import { getMessage, type MessageKey } from '../../common/catalog.ts';
import type { HelperState } from '../../common/messages.ts';
import { onProxyMode } from '../../common/permissions.ts';
import { loadSettings, onSettings } from '../../common/settings.ts';
import { pageStore } from '../../common/store/page-store.ts';
import { makeRaceChoice, showRaceChoice, wireEveryRequest } from '../ui/choices.ts';
import { byId, setLine } from '../ui/elements.ts';
import {
  createHelperPanel,
  type Environment,
  environment,
  fixCommand,
  renderCommand,
  wireConsent,
} from '../ui/helper-panel.ts';
import { type HelperFix, helperFix } from '../ui/origin-state-text.ts';
import { writeMessages } from '../ui/page-messages.ts';
import { save } from '../ui/saving.ts';
import { listPermissions, wireAccess } from './permissions.ts';

/** Short enough to feel immediate after a command in a terminal, and cheap: the browser looks for one small file. */
const LOOK_EVERY_MS = 2000;
const TERMINALS: Readonly<Record<string, MessageKey>> = {
  linux: 'welcomeInstallLinux',
  mac: 'welcomeInstallMac',
  win: 'welcomeInstallWindows',
};

const raceWhen = byId('race-when');
const surroundings = environment();

/** Where to run the command; empty: there is none. */
function whereToRun(command: HelperFix['command'], { os, unpacked }: Environment): string {
  const terminal = TERMINALS[os];
  if (command === null) return '';
  if (terminal === undefined) return getMessage('welcomeInstallNowhere');
  return [getMessage(terminal), ...(unpacked ? [getMessage('welcomeInstallFolder')] : [])].join(' ');
}

/** What the command needs and does. In a checkout the helper runs on the Node.js that came with the packages. */
function installNeeds({ unpacked }: Environment): string {
  return [...(unpacked ? [] : [getMessage('welcomeInstallNode')]), getMessage('welcomeInstallNeeds')].join(
    ' ',
  );
}

async function showHelper(helper: HelperState): Promise<void> {
  const fix = helperFix(helper);
  byId('consent').hidden = helper.state !== 'not-asked';
  byId('install').hidden = fix === null;
  if (fix === null) return;
  const { how, command } = fix;
  const isAbsent = helper.state === 'missing';
  // The section already says what a helper is for.
  setLine(byId('install-how'), isAbsent ? '' : how);
  const here = await surroundings;
  const text = fixCommand(command, here);
  setLine(byId('install-where'), whereToRun(command, here));
  renderCommand(byId('command'), text);
  setLine(byId('install-needs'), command === 'install' && text !== null ? installNeeds(here) : '');
  byId('install-watching').hidden = command !== 'install';
  byId('sandbox').hidden = !isAbsent || here.os !== 'linux';
}

function wireHelper(): void {
  const panel = createHelperPanel({ onState: (state) => void showHelper(state), examineAtOnce: true });
  setInterval(() => {
    const isBroken = panel.state !== null && helperFix(panel.state) !== null;
    if (isBroken && document.visibilityState === 'visible') panel.send({ type: 'reconnect-helper' });
  }, LOOK_EVERY_MS);
}

async function showChoice(): Promise<void> {
  const settings = await loadSettings(pageStore);
  await showRaceChoice(raceWhen, byId('proxy'), settings.raceWhen);
}

function wireChoice(): void {
  makeRaceChoice(raceWhen, (when) => void save(raceWhen, { raceWhen: when }));
  onSettings(pageStore, () => void showChoice());
  onProxyMode(() => void showChoice());
  byId('done').addEventListener('click', async () => {
    const tab = await chrome.tabs.getCurrent();
    if (tab?.id !== undefined) await chrome.tabs.remove(tab.id);
  });
}

writeMessages();
listPermissions(byId('permissions'));
wireHelper();
wireChoice();
wireAccess();
wireEveryRequest();
wireConsent();
void showChoice();
