// The background's line to the helper: opened where the user agreed to it, watched by whoever shows its state, and used
// to hand on what was observed. Keeps the label of the network, which the helper alone can tell.

import { connectHelper, timers } from '../../common/browser.ts';
import { BROWSER } from '../../common/edition.ts';
import { hasConsent, onConsent } from '../../common/helper/consent.ts';
import type { HelperState } from '../../common/messages.ts';
import {
  agreeOnNames,
  loadNames,
  type NetworkNames,
  nameOrKey,
  onNames,
  rememberedNetwork,
  rememberNetwork,
} from '../../common/network-names.ts';
import { NETWORK_UNKNOWN } from '../../common/records/schema.ts';
import type { Store } from '../../common/store/store.ts';
import { createHelper, type Helper } from './helper.ts';
import { createHelperPort } from './port.ts';

export interface HelperLinkDeps {
  readonly store: Store;
  /** Our name and version. */
  readonly program: string;
  /** Hands on what waits in the outbox. */
  readonly upload: () => Promise<void>;
  /** The state or the network is another now. */
  readonly onChange: () => void;
  readonly onNetwork: (label: string) => void;
}

export interface HelperLink {
  readonly helper: Helper;
  readonly state: HelperState;
  /** Where the helper says this is; of the session before, until it says so itself. */
  readonly network: string;
  /** Takes the label that a race or forecast came with. */
  setNetwork(label: string): void;
  /** Recalls the session's label, unless the helper has told one. */
  recallNetwork(): Promise<void>;
  /** Opens the line if the user agreed to it. */
  connect(): void;
  /** Asks for forecasts; whether the user still agrees is looked up beside it, so as not to be late. */
  readonly forecast: Helper['forecast'];
  /** Looks again whether the user agrees, and opens the line now, whatever pause was left, or closes it. */
  reconnect(): void;
  /** Tells the state now and after each change; gives the function that ends it. */
  watch(told: (state: HelperState) => void): () => void;
  /** Whether the helper answers, once that is known: a line that is being opened is waited for. */
  settled(): Promise<boolean>;
  /** Something is in the outbox. */
  uploadSoon(): void;
}

/** Several batches of one page go to the helper together. */
const UPLOAD_DELAY_MS = 1000;
/** A helper starts in a fraction of a second, on a slow disk in a few. */
const SETTLE_MS = 5000;

/** Makes the line and opens it as soon as the user's consent is known. */
export function openHelperLink(deps: HelperLinkDeps): HelperLink {
  const watchers = new Set<(state: HelperState) => void>();
  /** Null until the user's answer is known. */
  let consent: boolean | null = null;
  let network = NETWORK_UNKNOWN;
  let names: NetworkNames = new Map();
  let uploading = false;
  let agreeing: Promise<void> | null = null;
  let agreeAgain = false;

  const stateNow = (): HelperState =>
    port.state.state === 'ready'
      ? { ...port.state, network, networkName: names.has(network) ? nameOrKey(names, network) : null }
      : port.state;

  const tell = (): void => {
    for (const told of watchers) told(stateNow());
    deps.onChange();
  };

  const setNetwork = (label: string): void => {
    if (label === network) return;
    network = label;
    void rememberNetwork(label);
    deps.onNetwork(label);
    tell();
  };

  const uploadSoon = (): void => {
    if (uploading || port.state.state !== 'ready') return;
    uploading = true;
    timers.later(UPLOAD_DELAY_MS, () => {
      uploading = false;
      // What could not be sent stays in the outbox, for the next batch or the next connection.
      askConsentAgain()
        .then(() => (port.state.state === 'ready' ? deps.upload() : undefined))
        .catch(() => {});
    });
  };

  /** An older helper knows no names, one that went away is told when it is back. */
  const agree = (): void => {
    agreeAgain = agreeing !== null;
    if (agreeing !== null || port.state.state !== 'ready') return;
    agreeing = agreeOnNames(deps.store, helper)
      .catch(() => {})
      .then(() => {
        agreeing = null;
        if (agreeAgain) agree();
      });
  };

  const follow = (next: NetworkNames): void => {
    names = next;
    tell();
  };

  const port = createHelperPort({
    connect: connectHelper,
    clock: timers,
    program: deps.program,
    onState({ state }) {
      tell();
      if (state !== 'ready') return;
      uploadSoon();
      agree();
      helper.network().then(setNetwork, console.error);
    },
  });
  const helper = createHelper(port, BROWSER, setNetwork);

  const connect = (): void => {
    if (consent === true) port.connect();
  };

  // Firefox does not tell that the user withdrew it, so that it is also asked before anything observed is handed on.
  const askConsentAgain = async (): Promise<void> => {
    const given = await hasConsent();
    const [before, withdrawn] = [consent, consent !== false && !given];
    consent = given;
    if (withdrawn) port.forbid();
    else if (before !== given) connect();
  };

  const look = (): void => {
    askConsentAgain().catch(console.error);
  };
  onConsent(look);
  look();
  onNames(deps.store, (next) => {
    follow(next);
    agree();
  });
  loadNames(deps.store).then(follow, console.error);

  return {
    helper,
    get state() {
      return stateNow();
    },
    get network() {
      return network;
    },
    setNetwork,
    async recallNetwork() {
      const remembered = await rememberedNetwork();
      if (network === NETWORK_UNKNOWN) network = remembered;
    },
    connect,
    forecast(site, origins) {
      look();
      return helper.forecast(site, origins);
    },
    reconnect() {
      askConsentAgain().then(connect, console.error);
    },
    watch(told) {
      watchers.add(told);
      told(stateNow());
      // Who looks wants to see what another browser, or the command line, named meanwhile.
      agree();
      return () => watchers.delete(told);
    },
    settled: () =>
      new Promise((resolve) => {
        const told = ({ state }: HelperState): void => {
          if (state !== 'connecting') finish(state === 'ready');
        };
        const finish = (ready: boolean): void => {
          giveUp();
          watchers.delete(told);
          resolve(ready);
        };
        const giveUp = timers.later(SETTLE_MS, () => finish(false));
        watchers.add(told);
        told(stateNow());
      }),
    uploadSoon,
  };
}
