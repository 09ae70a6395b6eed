// The popup's texts for the states of a page and the helper, and what the user can do about them. Pure.

import { getMessage, type MessageKey, sentence } from '../../common/catalog.ts';
import type { HelperState, PageView } from '../../common/messages.ts';

/** The action of the button beside a page's text. */
export type Remedy = 'reload' | 'access' | 'options';

export interface StateText {
  readonly title: string;
  readonly text: string;
  readonly remedy: { readonly action: Remedy; readonly label: string } | null;
}

type UnrecordedState = Exclude<PageView['state'], 'recorded'>;

const STATES: Record<UnrecordedState, readonly [title: MessageKey, text: MessageKey, remedy: Remedy | null]> =
  {
    loading: ['popupLoadingTitle', 'popupLoading', null],
    failed: ['popupFailedTitle', 'popupFailed', null],
    'not-https': ['popupNotHttpsTitle', 'popupNotHttps', null],
    file: ['popupFileTitle', 'popupFile', null],
    'browser-page': ['popupBrowserPageTitle', 'popupBrowserPage', null],
    source: ['popupSourceTitle', 'popupSource', null],
    guarded: ['popupGuardedTitle', 'popupGuarded', null],
    'not-recorded': ['popupNotRecordedTitle', 'popupNotRecorded', 'reload'],
    private: ['popupPrivateTitle', 'popupPrivate', 'options'],
    excluded: ['popupExcludedTitle', 'popupExcluded', 'options'],
    'no-options': ['popupNoOptionsTitle', 'popupNoOptions', null],
    'no-access': ['popupNoAccessTitle', 'popupNoAccess', 'access'],
  };

const EMPTY_ERROR = ['popupEmptyErrorTitle', 'popupEmptyError', null] as const;

const REMEDIES: Record<Remedy, MessageKey> = {
  reload: 'popupReload',
  access: 'popupGiveAccess',
  options: 'popupOpenOptions',
};

/**
 * Chromium's name for an error status without any content: it shows a page of its own for it, as if the navigation had
 * failed, and tells extensions nothing about the response.
 */
const EMPTY_ERROR_RESPONSE = 'net::ERR_HTTP_RESPONSE_CODE_FAILURE';

/** Whether the server of a page that failed to load did answer. */
export function isEmptyErrorResponse({ state, error }: Pick<PageView, 'state' | 'error'>): boolean {
  return state === 'failed' && error === EMPTY_ERROR_RESPONSE;
}

/** What to show if there is no record; null if there is one. */
export function stateText(page: Pick<PageView, 'state' | 'error'>): StateText | null {
  if (page.state === 'recorded') return null;
  const [title, text, remedy] = isEmptyErrorResponse(page) ? EMPTY_ERROR : STATES[page.state];
  return {
    title: getMessage(title),
    text: getMessage(text),
    remedy: remedy === null ? null : { action: remedy, label: getMessage(REMEDIES[remedy]) },
  };
}

const DELIVERIES: Record<Exclude<PageView['delivery'], 'network'>, MessageKey> = {
  'http-cache': 'popupFromCache',
  'service-worker': 'popupFromWorker',
  prefetch: 'popupFromPrefetch',
};

/**
 * Additional information about the page: that it was not loaded for this visit, or did not come over the network
 * although its origin's protocol is known. If the protocol is unknown, the verdict says why.
 */
export function asideText(page: Pick<PageView, 'arrival' | 'delivery' | 'protocol'>): string {
  if (page.arrival === 'bfcache') return getMessage('popupFromBfcache');
  if (page.arrival === 'prerendered') return getMessage('popupPrerendered');
  return page.protocol === 'unknown' || page.delivery === 'network'
    ? ''
    : getMessage(DELIVERIES[page.delivery]);
}

/** How to get a helper that works. */
export interface HelperFix {
  /** Ends in a colon if a command follows. */
  readonly how: string;
  readonly command: 'install' | 'doctor' | null;
}

function fix(how: MessageKey, command: HelperFix['command']): HelperFix {
  return { how: getMessage(how), command };
}

/** How to fix a helper in this state; null if there is nothing that a user could fix. */
export function helperFix(helper: HelperState): HelperFix | null {
  switch (helper.state) {
    case 'ready':
    case 'connecting':
    case 'not-asked':
      return null;
    case 'missing':
      return fix('helperInstall', 'install');
    case 'crashed':
      return fix('helperFindOut', 'doctor');
    case 'incompatible':
      if (helper.foreign) return fix('helperInstallHere', 'install');
      if (helper.older === 'helper') return fix('helperUpdate', 'install');
      if (helper.older === 'extension') return fix('helperUpdateExtension', null);
      return fix('helperUpdateOlder', 'doctor');
  }
}

/** What is wrong with a helper that was found. */
export function helperFault(helper: Extract<HelperState, { state: 'crashed' | 'incompatible' }>): string {
  const message = sentence(helper.message);
  if (helper.state === 'crashed') return getMessage('helperCrashed', { message });
  if (helper.foreign) return getMessage('popupHelperForAnother');
  if (helper.older === undefined) return getMessage('helperIncompatible', { message });
  return getMessage(helper.older === 'helper' ? 'helperOlder' : 'helperNewer', { message });
}

export interface HelperText {
  readonly dot: 'on' | 'waiting' | 'off';
  readonly label: string;
  readonly title: string;
  /** What is wrong and how to fix it; null if nothing is. */
  readonly help: { readonly what: string; readonly command: HelperFix['command'] } | null;
}

/** The helper's state in words, with the command that fixes it. */
export function helperText(helper: HelperState): HelperText {
  switch (helper.state) {
    case 'ready': {
      const { program, network, networkName } = helper;
      const version = /\d+(\.\d+)*/.exec(program)?.[0];
      return {
        dot: 'on',
        label: version ? getMessage('popupHelperReady', { version }) : program,
        title: getMessage('popupHelperReadyTitle', { program, network: networkName ?? network }),
        help: null,
      };
    }
    case 'connecting':
      return {
        dot: 'waiting',
        label: getMessage('popupHelperConnecting'),
        title: getMessage('popupHelperConnectingTitle'),
        help: null,
      };
    case 'not-asked':
      return off(getMessage('popupHelperNotAsked'), getMessage('popupHelperNotAskedWhat'), null);
    case 'missing':
      return broken(getMessage('popupHelperMissing'), getMessage('helperMissing'), helper);
    case 'crashed':
      return broken(getMessage('popupHelperCrashed'), helperFault(helper), helper);
    case 'incompatible': {
      const label = helper.foreign ? 'popupHelperForeign' : 'popupHelperIncompatible';
      return broken(getMessage(label), helperFault(helper), helper);
    }
  }
}

function broken(label: string, fault: string, helper: HelperState): HelperText {
  const { how, command } = helperFix(helper) ?? { how: '', command: null };
  return off(label, `${fault} ${how}`, command);
}

function off(label: string, what: string, command: HelperFix['command']): HelperText {
  return { dot: 'off', label, title: what, help: { what, command } };
}
