// The helper on a page: its state in a sentence and as the shape of a dot, the user's consent to it if the browser
// requires that (Firefox), what its doctor finds, and the command that installs or examines it.
import { CHROMIUM_EXTENSION_ID } from '@photofinish/shared/port/extension-id';
import type { DoctorFinding } from '@photofinish/shared/port/wire';
import { getMessage, type MessageKey } from '../../common/catalog.ts';
import { BROWSER } from '../../common/edition.ts';
import type { HelperState } from '../../common/messages.ts';
import { askHelperConsent, hasHelperConsent, onHelperConsent } from '../../common/permissions.ts';
import { type BackgroundListener, connectBackground } from './background-port.ts';
import { onClick, setDisabled } from './disabled-button.ts';
import { byId, make, makeButton, setAttribute, setText } from './elements.ts';
import { type HelperFix, type HelperText, helperFault } from './origin-state-text.ts';

interface PanelOptions extends Pick<BackgroundListener, 'onEvent' | 'onLost'> {
  /** Called with each state that is displayed. */
  readonly onState: (state: HelperState) => void;
  /** Whether the doctor runs as soon as the helper answers, and not only on a click of the button. */
  readonly examineAtOnce: boolean;
}

/** Connects the page's `helper-dot`, `helper-text`, `findings` and `examine` to the background. */
export function createHelperPanel({ onState, examineAtOnce, onEvent, onLost }: PanelOptions) {
  let state: HelperState | null = null;
  let examining = false;
  const button = byId('examine');

  const showExamining = (): void => {
    button.hidden = state?.state !== 'ready';
    setDisabled(button, examining);
    setText(button, examining ? getMessage('helperExamining') : getMessage('helperExamine'));
  };
  const examine = (): void => {
    if (!examining && port.send({ type: 'doctor' })) examining = true;
    showExamining();
  };
  const show = (next: HelperState): void => {
    const appeared = next.state === 'ready' && state?.state !== 'ready';
    state = next;
    const { dot, text } = stateText(next);
    setText(byId('helper-text'), text);
    setAttribute(byId('helper-dot'), 'class', `dot ${dot}`);
    if (next.state !== 'ready') byId('findings').replaceChildren();
    if (appeared && examineAtOnce) examine();
    else showExamining();
    onState(next);
  };

  const examined = (): void => {
    examining = false;
    showExamining();
  };
  const port = connectBackground({
    onOpen: (opened) => void opened.send({ type: 'watch-helper' }),
    onEvent(event) {
      if (event.type === 'helper') show(shownState(state, event.helper));
      if (event.type === 'doctor') {
        examined();
        renderFindings(byId('findings'), event.findings);
      }
      onEvent?.(event);
    },
    onLost() {
      examined();
      onLost?.();
    },
  });

  onClick(button, examine);
  return {
    send: port.send,
    /** The displayed state; null before the first. */
    get state() {
      return state;
    },
  };
}

/** The text for a state of the helper. */
export function stateText(helper: HelperState): Pick<HelperText, 'dot'> & { readonly text: string } {
  switch (helper.state) {
    case 'ready': {
      const { program, network, networkName } = helper;
      return { dot: 'on', text: getMessage('helperReady', { program, network: networkName ?? network }) };
    }
    case 'connecting':
      return { dot: 'waiting', text: getMessage('helperConnecting') };
    case 'not-asked':
      return { dot: 'off', text: getMessage('helperNotAsked') };
    case 'missing':
      return { dot: 'off', text: getMessage('helperMissing') };
    case 'crashed':
    case 'incompatible':
      return { dot: 'off', text: helperFault(helper) };
  }
}

/**
 * What to show, given the displayed state and a new one: while the connection to the helper is retried, each attempt
 * briefly reports "connecting", which is no change worth showing.
 */
export function shownState(shown: HelperState | null, state: HelperState): HelperState {
  const known = shown !== null && shown.state !== 'ready' && shown.state !== 'not-asked';
  return state.state === 'connecting' && known ? shown : state;
}

/**
 * Makes `consent-ask` request consent, with `consent-refused` below it. The browser reports the answer to the
 * background, and the background to the page.
 */
export function wireConsent(): void {
  const refused = byId('consent-refused');
  byId('consent-ask').addEventListener('click', async () => {
    setText(refused, (await askHelperConsent()) ? '' : getMessage('helperConsentRefused'));
  });
  onHelperConsent(async () => {
    if (await hasHelperConsent()) setText(refused, '');
  });
}

const CHECK_WORDS: Record<DoctorFinding['check'], MessageKey> = {
  manifest: 'helperCheckManifest',
  extension: 'helperCheckExtension',
  launcher: 'helperCheckLauncher',
  runtime: 'helperCheckRuntime',
  hello: 'helperCheckHello',
  cache: 'helperCheckCache',
  config: 'helperCheckConfig',
  addon: 'helperCheckAddon',
  network: 'helperCheckNetwork',
};
/** Distinguished by shape; the labels beside them are for screen readers. */
const SIGNS: Record<DoctorFinding['state'], readonly [string, MessageKey]> = {
  ok: ['✓', 'helperFindingOk'],
  problem: ['!', 'helperFindingProblem'],
  note: ['·', 'helperFindingNote'],
};

function findingItem({ check, state, text, remedy }: DoctorFinding): HTMLElement {
  const [sign, meaning] = SIGNS[state];
  const shown = make('span', 'sign', sign);
  shown.setAttribute('aria-hidden', 'true');
  const unseen = make('span', 'unseen', ` (${getMessage(meaning)})`);
  const name = make('span', 'name', getMessage(CHECK_WORDS[check]), unseen);
  const words = make('span', 'text', remedy === null ? text : `${text}. ${remedy}`);
  // The doctor is a command-line program, with messages in English.
  words.lang = 'en';
  words.dir = 'auto';
  return make('li', `finding ${state}`, shown, name, words);
}

function bySubject(findings: readonly DoctorFinding[]): HTMLElement[] {
  const subjects = Map.groupBy(findings, ({ subject }) => subject);
  return [...subjects].flatMap(([subject, found]) => {
    const heading = make('h3', '', subject);
    heading.lang = 'en';
    return [heading, make('ul', 'findings', ...found.map(findingItem))];
  });
}

/** Draws the findings into `place`; null if the helper could not be asked. */
function renderFindings(place: HTMLElement, findings: readonly DoctorFinding[] | null): void {
  if (findings === null) {
    place.replaceChildren(make('p', 'error', getMessage('helperNotExamined')));
    return;
  }
  const problems = findings.filter(({ state }) => state === 'problem');
  const others = findings.filter(({ state }) => state !== 'problem');
  const well = findings.filter(({ state }) => state === 'ok').length;
  const sentence =
    problems.length === 0
      ? getMessage('helperWell')
      : getMessage('helperProblems', { count: problems.length });
  const checks = make('summary', '', getMessage('helperChecks', { count: well }));
  const rest = make('details', 'stack', checks, ...bySubject(others));
  const summary = make('p', problems.length === 0 ? '' : 'error', sentence);
  summary.dataset['testid'] = 'findings-summary';
  place.replaceChildren(summary, ...bySubject(problems), rest);
}

// The command that installs or examines the helper: what to paste into a terminal, and a button that copies it.

/** Draws the command into `place`, once per command; null: there is none, and the place is hidden. */
export function renderCommand(place: HTMLElement, command: string | null): void {
  place.hidden = command === null;
  if (command === null || place.querySelector('code')?.textContent === command) return;
  const code = make('code', '', command);
  code.dir = 'ltr';
  const status = make('span', 'unseen');
  status.setAttribute('role', 'status');
  const copy = makeButton('button', [getMessage('helperCopy')], async () => {
    const words = await copied(code);
    setText(copy, words);
    setText(status, words);
  });
  place.replaceChildren(code, copy, status);
}

async function copied(code: HTMLElement): Promise<string> {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return getMessage('helperCopied');
  } catch {
    // Policies can forbid clipboard access; then the command is selected so that the user can copy it.
    getSelection()?.selectAllChildren(code);
    return getMessage('helperSelected');
  }
}

// The command for this browser on this system, according to what the browser reports about itself.

/** What a page of the extension knows about its environment. */
export interface Environment {
  /** `chrome.runtime.getPlatformInfo().os`. */
  readonly os: string;
  readonly firefox: boolean;
  /** The browser's brand names (`navigator.userAgentData.brands`); empty in Firefox. */
  readonly brands: readonly string[];
  readonly extensionId: string;
  /** Loaded from a folder, so built from a checkout, which contains the helper. */
  readonly unpacked: boolean;
}

/**
 * The helper's npm package, in the versions that implement this extension's wire protocol. In a checkout npx runs the
 * workspace of that name. Without the scope the name belongs to another project.
 */
const PACKAGE = '@photofinish/helper@1';
/** The command that says why a helper does not work. */
const DOCTOR_COMMAND = `npx ${PACKAGE} doctor`;
/** Systems with helper and browsers; elsewhere extensions cannot start programs, or there is no build of the helper. */
const SYSTEMS = ['linux', 'mac', 'win'];
/**
 * The names that `photofinish install --browser` accepts, by the brand that identifies each. All of them have the brand
 * Chromium too.
 */
const BRANDS = [
  ['Google Chrome', 'chrome'],
  ['Microsoft Edge', 'edge'],
  ['Brave', 'brave'],
] as const;

/** The installer's name for this browser; null if it has none. */
function browserName({ firefox, brands }: Environment): string | null {
  if (firefox) return 'firefox';
  const branded = BRANDS.find(([brand]) => brands.includes(brand));
  if (branded !== undefined) return branded[1];
  // A browser that adds a brand of its own is not Chromium itself; the meaningless GREASE brand varies.
  const own = brands.filter((brand) => brand !== 'Chromium' && !/Not.*Brand/i.test(brand));
  return own.length === 0 ? 'chromium' : null;
}

/** The command that installs the helper here; null on unsupported systems. */
export function installCommand(here: Environment): string | null {
  if (!SYSTEMS.includes(here.os)) return null;
  const name = browserName(here);
  const known = here.firefox || here.extensionId === CHROMIUM_EXTENSION_ID;
  return [
    `npx ${PACKAGE} install`,
    ...(name === null ? [] : [`--browser ${name}`]),
    ...(known ? [] : [`--extension-id ${here.extensionId}`]),
  ].join(' ');
}

/** The command of a fix on this system; null: there is none. */
export function fixCommand(command: HelperFix['command'], here: Environment): string | null {
  return command === 'doctor' ? DOCTOR_COMMAND : command && installCommand(here);
}

interface BrandedNavigator {
  readonly userAgentData?: { readonly brands?: readonly { readonly brand: string }[] };
}

/** What is known about this browser and system. */
export async function environment(): Promise<Environment> {
  const [{ os }, { installType }] = await Promise.all([
    chrome.runtime.getPlatformInfo(),
    chrome.management.getSelf(),
  ]);
  const { userAgentData } = navigator as Navigator & BrandedNavigator;
  return {
    os,
    firefox: BROWSER === 'firefox',
    brands: userAgentData?.brands?.map(({ brand }) => brand) ?? [],
    extensionId: chrome.runtime.id,
    unpacked: installType === 'development',
  };
}
