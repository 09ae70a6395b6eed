// The popup's texts for the states of a page and the helper, and what the user can do about them. Pure.

import { getMessage, type MessageKey } from '../../common/catalog.ts';
import type { HelperState, PageView } from '../../common/messages.ts';
import { sentence } from './format.ts';

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

const REMEDIES: Record<Remedy, MessageKey> = {
  reload: 'popupReload',
  access: 'popupGiveAccess',
  options: 'popupOpenOptions',
};

/** What to show if there is no record; null if there is one. */
export function stateText(state: PageView['state']): StateText | null {
  if (state === 'recorded') return null;
  const [title, text, remedy] = STATES[state];
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

export interface HelperText {
  readonly dot: 'on' | 'waiting' | 'off';
  readonly label: string;
  readonly title: string;
  /** What is wrong and how to fix it; null if nothing is. */
  readonly help: { readonly what: string; readonly command: 'install' | 'doctor' | null } | null;
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
      return off(getMessage('popupHelperMissing'), getMessage('popupHelperMissingWhat'), 'install');
    case 'crashed': {
      const why = sentence(helper.message);
      return off(getMessage('popupHelperCrashed'), getMessage('popupHelperCrashedWhat', { why }), 'doctor');
    }
    case 'incompatible': {
      if (helper.foreign)
        return off(getMessage('popupHelperForeign'), getMessage('popupHelperForeignWhat'), 'install');
      const why = sentence(helper.message);
      return off(
        getMessage('popupHelperIncompatible'),
        getMessage('popupHelperIncompatibleWhat', { why }),
        'install',
      );
    }
  }
}

function off(label: string, what: string, command: 'install' | 'doctor' | null): HelperText {
  return { dot: 'off', label, title: what, help: { what, command } };
}
