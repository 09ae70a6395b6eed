// The options' entry: shows the current settings, saves each change at once, and follows changes made elsewhere.
import '../../common/catalog.ts';
import { MAX_START_DELAY_MS } from '@photofinish/shared/port/race-limits';
import { getMessage, type MessageKey } from '../../common/catalog.ts';
import { BROWSER } from '../../common/edition.ts';
import { loadPageInitiated, PAGE_INITIATED_KEY } from '../../common/helper/page-initiated.ts';
import type { HelperState } from '../../common/messages.ts';
import { onProxyMode } from '../../common/permissions.ts';
import {
  loadSettings,
  MAX_RETENTION_DAYS,
  onSettings,
  type Settings,
  VISIT_MODES,
} from '../../common/settings.ts';
import { pageStore } from '../../common/store/page-store.ts';
import { makeRaceChoice, showRaceChoice, wireEveryRequest } from '../ui/choices.ts';
import { byId, make, setLine, setText } from '../ui/elements.ts';
import {
  createHelperPanel,
  environment,
  fixCommand,
  renderCommand,
  wireConsent,
} from '../ui/helper-panel.ts';
import { helperFix } from '../ui/origin-state-text.ts';
import { writeMessages } from '../ui/page-messages.ts';
import { save } from '../ui/saving.ts';
import { loseWipe, showWiped, wireTransfer, wireWipe } from './data.ts';
import { rereadNetworks, showNetworkNow, showNotRead, wireNetworks } from './networks.ts';
import { showNeverRecord, wireNeverRecord } from './never-record.ts';
import { type NumberField, showNumber, wireNumber } from './number-field.ts';

const MODES: Record<Settings['raceMode'], MessageKey> = {
  race: 'optionsModeRace',
  v3: 'optionsModeV3',
  'alt-svc': 'optionsModeAltSvc',
  naive: 'optionsModeNaive',
};
const START_DELAY: NumberField = {
  id: 'start-delay',
  setting: 'startDelayMs',
  least: 0,
  most: MAX_START_DELAY_MS,
  optional: true,
};
const RETENTION: NumberField = {
  id: 'retention',
  setting: 'retentionDays',
  least: 1,
  most: MAX_RETENTION_DAYS,
};

const raceWhen = byId('race-when');
const mode = byId<HTMLSelectElement>('race-mode');
const steering = byId<HTMLInputElement>('steering');

function show(settings: Settings): void {
  void showRaceChoice(raceWhen, byId('proxy'), settings.raceWhen);
  void showPageInitiated(settings);
  byId('visit-races').hidden = settings.raceWhen !== 'first-visit';
  mode.value = settings.raceMode;
  showNumber(START_DELAY, settings.startDelayMs);
  showNumber(RETENTION, settings.retentionDays);
  void showPrivateWindows(settings);
  showNeverRecord(settings);
  steering.checked = settings.steering;
}

/** First visits without a user action that were not raced, since the browser started. */
async function showPageInitiated({ raceWhen: when }: Settings): Promise<void> {
  const { heldBack } = await loadPageInitiated(chrome.storage.session);
  const held = when === 'first-visit' && heldBack > 0;
  setLine(byId('page-initiated'), held ? getMessage('optionsPageInitiated', { count: heldBack }) : '');
}

async function showStored(): Promise<void> {
  show(await loadSettings(pageStore));
}

function wireSettings(): void {
  makeRaceChoice(raceWhen, (when) => void save(raceWhen, { raceWhen: when }));
  for (const name of VISIT_MODES) {
    const option = make('option', '', getMessage(MODES[name]));
    option.value = name;
    mode.append(option);
  }
  mode.addEventListener('change', () => {
    const raceMode = VISIT_MODES.find((name) => name === mode.value);
    if (raceMode !== undefined) void save(mode, { raceMode });
  });
  wireNumber(START_DELAY);
  wireNumber(RETENTION);
  wirePrivateWindows(() => void showStored());
  wireNeverRecord();
  steering.addEventListener('change', () => void save(steering, { steering: steering.checked }));
  byId('steering-choice').hidden = BROWSER !== 'firefox';
  byId('steering-informs').hidden = BROWSER === 'firefox';
  onSettings(pageStore, show);
  onProxyMode(() => void showStored());
  chrome.storage.session.onChanged.addListener((changes) => {
    if (PAGE_INITIATED_KEY in changes) void showStored();
  });
}

function wireHelper(): void {
  const showHelp = async (state: HelperState): Promise<void> => {
    showNetworkNow(state.state === 'ready' ? state.network : null);
    const fix = helperFix(state);
    byId('consent').hidden = state.state !== 'not-asked';
    byId('helper-help').hidden = fix === null;
    if (fix === null) return;
    setText(byId('helper-how'), fix.how);
    renderCommand(byId('command'), fixCommand(fix.command, await environment()));
  };
  const { send } = createHelperPanel({
    onState: (state) => void showHelp(state),
    examineAtOnce: false,
    onEvent(event) {
      if (event.type !== 'wiped') return;
      showWiped(event);
      void rereadNetworks();
    },
    onLost: loseWipe,
  });
  wireConsent();
  byId('helper-retry').addEventListener('click', () => send({ type: 'reconnect-helper' }));
  wireWipe(send);
}

/** Nothing can be changed before the current settings are shown. */
async function begin(): Promise<void> {
  await showStored().catch(showNotRead);
  byId('page').hidden = false;
  // When the browser looked for what a link leads to, it was hidden.
  if (location.hash !== '') document.getElementById(location.hash.slice(1))?.focus();
}

// Private windows: our own switch, and beside it the browser's, which only the user can change.

/**
 * The browser's page about this extension, where it can be allowed in private windows. Firefox's own page cannot be
 * opened by anyone else.
 */
const EXTENSION_PAGE = `chrome://extensions/?id=${chrome.runtime.id}`;

/** Shows the switch, and what is still missing for it to take effect. */
async function showPrivateWindows({ privateWindows }: Settings): Promise<void> {
  byId<HTMLInputElement>('private').checked = privateWindows;
  const allowed = await chrome.extension.isAllowedIncognitoAccess();
  const how =
    BROWSER === 'firefox' ? getMessage('optionsPrivateHowFirefox') : getMessage('optionsPrivateHowChromium');
  const missing = privateWindows && !allowed;
  setText(byId('private-how'), missing ? how : '');
  byId('private-open').hidden = !missing || BROWSER === 'firefox';
}

/** Makes the switch save itself, and checks again when the user returns from the browser's page. */
function wirePrivateWindows(refresh: () => void): void {
  const input = byId<HTMLInputElement>('private');
  input.addEventListener('change', () => void save(input, { privateWindows: input.checked }));
  byId('private-open').addEventListener('click', () => void chrome.tabs.create({ url: EXTENSION_PAGE }));
  document.addEventListener('visibilitychange', refresh);
}

writeMessages();
wireSettings();
wireHelper();
wireTransfer(() => void rereadNetworks());
wireNetworks();
wireEveryRequest();
void begin();
