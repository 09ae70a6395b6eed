// The welcome page's entry: watches for the helper while the page is visible, and saves choices at once.
import '../../common/catalog.ts';
import { getMessage, type MessageKey } from '../../common/catalog.ts';
import type { HelperState } from '../../common/messages.ts';
import { onProxyMode } from '../../common/permissions.ts';
import { loadSettings, onSettings } from '../../common/settings.ts';
import { pageStore } from '../../common/store/page-store.ts';
import { connectBackground } from '../ui/background-port.ts';
import { makeRaceChoice, showRaceChoice, wireEveryRequest } from '../ui/choices.ts';
import { byId, setText } from '../ui/elements.ts';
import {
  createHelperPanel,
  type Environment,
  environment,
  type HelperPanel,
  installCommand,
  renderCommand,
  wireConsent,
} from '../ui/helper-panel.ts';
import { writeMessages } from '../ui/page-messages.ts';
import { save } from '../ui/saving.ts';
import { listPermissions, wireAccess } from './permissions.ts';

/** Short enough to feel immediate after a command in a terminal, and cheap: the browser looks for one small file. */
const LOOK_EVERY_MS = 2000;
/** States that a command in a terminal can resolve. */
const LOOKED_FOR: readonly HelperState['state'][] = ['missing', 'crashed', 'incompatible'];
const TERMINALS: Readonly<Record<string, MessageKey>> = {
  linux: 'welcomeInstallLinux',
  mac: 'welcomeInstallMac',
  win: 'welcomeInstallWindows',
};

const raceWhen = byId('race-when');

function showInstall(here: Environment): void {
  const command = installCommand(here);
  const where = TERMINALS[here.os];
  renderCommand(byId('command'), command);
  byId('install-needs').hidden = command === null;
  byId('sandbox').hidden = here.os !== 'linux';
  if (command === null || where === undefined) {
    setText(byId('install-where'), getMessage('welcomeInstallNowhere'));
    return;
  }
  const folder = here.unpacked ? ` ${getMessage('welcomeInstallFolder')}` : '';
  setText(byId('install-where'), `${getMessage(where)}${folder}`);
}

function showHelper({ state }: HelperState): void {
  byId('install').hidden = !LOOKED_FOR.includes(state);
  byId('consent').hidden = state !== 'not-asked';
}

function wireHelper(): void {
  const port = connectBackground({
    onOpen: (opened) => opened.send({ type: 'watch-helper' }),
    onEvent: (event) => panel.onEvent(event),
    onLost: () => panel.onLost(),
  });
  const panel: HelperPanel = createHelperPanel(port.send, {
    onState: showHelper,
    examineAtOnce: true,
  });
  setInterval(() => {
    const looked = panel.state !== null && LOOKED_FOR.includes(panel.state.state);
    if (looked && document.visibilityState === 'visible') port.send({ type: 'reconnect-helper' });
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
void environment().then(showInstall);
