// The helper as the rest of the extension sees it: forecasts, races and observations as typed calls, each with its own
// time-out, that reject with a HelperError; and the connection they use, opened only with the user's consent. Nothing
// else in the extension knows the wire format.
import type { DoctorFinding, Forecast, Progress } from '@photofinish/shared/port/wire';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Mode } from '@photofinish/shared/race/terms';
import { type NamedNetwork, NETWORK_UNKNOWN } from '@photofinish/shared/web/network-name';
import type { Observation } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { connectHelper, soon, timers } from '../../common/browser.ts';
import { BROWSER } from '../../common/edition.ts';
import { HelperError } from '../../common/helper/state.ts';
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
import { hasHelperConsent, onHelperConsent } from '../../common/permissions.ts';
import type { Store } from '../../common/store/store.ts';
import { type Answer, HelperPort, type Question } from './port.ts';

/** A later forecast is useless: the page has loaded by then. */
const FORECAST_TIMEOUT_MS = 5000;
/** A comparison's longest silence is one attempt's time-out (3 s) after waiting for a free slot. */
const RACE_TIMEOUT_MS = 30_000;
const STORE_TIMEOUT_MS = 15_000;
/** The doctor starts the helper through every browser's launcher and waits for its hello. */
const DOCTOR_TIMEOUT_MS = 30_000;

/** How an origin is to be raced. */
export interface RaceOrder {
  readonly origin: Origin;
  readonly mode: Mode;
  /** Whether the user requested it or a visit triggered it. */
  readonly reason: 'click' | 'navigation';
  /** Null: the mode's default. */
  readonly startDelayMs: number | null;
  /** Whether a helper that shares outcomes with an organisation's other machines may share this one. */
  readonly share: boolean;
}

/** Each protocol alone, in pairs: the input of the photo finish and the gain. */
export function comparison(origin: Origin): RaceOrder {
  return { origin, mode: 'compare', reason: 'click', startDelayMs: null, share: false };
}

export interface RunningRace {
  readonly result: Promise<OriginRace>;
  /** Asks the helper to stop; the result then rejects with `cancelled`. */
  cancel(): void;
}

function expected<Type extends Answer['type']>(answer: Answer, type: Type): Extract<Answer, { type: Type }> {
  if (answer.type === type) return answer as Extract<Answer, { type: Type }>;
  throw new HelperError('helper-bad-reply', `the helper replied ${answer.type} instead of ${type}`);
}

export class Helper {
  readonly #port: HelperPort;
  readonly #onNetwork: (network: string) => void;

  /** `onNetwork` receives the label of the network that each forecast applies to. */
  constructor(port: HelperPort, onNetwork: (network: string) => void) {
    this.#port = port;
    this.#onNetwork = onNetwork;
  }

  async forecast(site: string, origins: readonly Origin[]): Promise<readonly Forecast[]> {
    const question: Question = { type: 'forecast', browser: BROWSER, site, origins: [...origins] };
    const { forecasts, network } = await this.#answer(question, 'forecast', FORECAST_TIMEOUT_MS);
    // Where the network is still being identified, it is asked for again and waited for.
    if (network !== undefined) this.#onNetwork(network);
    else this.network().then(this.#onNetwork, () => {});
    return forecasts;
  }

  race({ startDelayMs, ...order }: RaceOrder, onProgress: (progress: Progress) => void): RunningRace {
    const question: Question = { type: 'race', ...order, ...(startDelayMs !== null && { startDelayMs }) };
    const { id, reply } = this.#port.ask(question, { timeoutMs: RACE_TIMEOUT_MS, onProgress });
    return {
      result: reply.then((answer) => {
        const { id: _id, type: _type, ...race } = expected(answer, 'race');
        return race;
      }),
      cancel: () => {
        // The answer does not matter: the race's own reply says how it ended.
        this.#port.ask({ type: 'cancel', target: id }, { timeoutMs: STORE_TIMEOUT_MS }).reply.catch(() => {});
      },
    };
  }

  /** Resolves once the observations are durable in the helper. */
  async observed(observations: readonly Observation[]): Promise<void> {
    const question: Question = { type: 'observed', browser: BROWSER, observations: [...observations] };
    await this.#answer(question, 'observed');
  }

  /** The label of the network that the helper sees. */
  async network(): Promise<string> {
    return (await this.#answer({ type: 'stats' }, 'stats')).network;
  }

  /** Networks with names, and the current one. */
  async networks(): Promise<readonly NamedNetwork[]> {
    return (await this.#answer({ type: 'networks' }, 'networks')).networks;
  }

  /** Names a network, or removes its name. */
  async nameNetwork(network: string, name: string | null): Promise<readonly NamedNetwork[]> {
    return (await this.#answer({ type: 'name-network', network, name }, 'networks')).networks;
  }

  /** What the helper's doctor finds in its own installation. */
  async doctor(): Promise<readonly DoctorFinding[]> {
    return (await this.#answer({ type: 'doctor' }, 'doctor', DOCTOR_TIMEOUT_MS)).findings;
  }

  /** Empties the host cache; returns the number of records that were in it. */
  async wipe(): Promise<number> {
    return (await this.#answer({ type: 'wipe' }, 'wipe')).wiped;
  }

  async #answer<Type extends Answer['type']>(question: Question, type: Type, timeoutMs = STORE_TIMEOUT_MS) {
    return expected(await this.#port.ask(question, { timeoutMs }).reply, type);
  }
}

// The background's connection to the helper: opened if the user agreed to it, observed by the pages that show its
// state, and used to pass on observations. Keeps the label of the network, which only the helper can determine.

export interface HelperLinkDeps {
  readonly store: Store;
  /** Our name and version. */
  readonly program: string;
  /** Uploads the contents of the outbox. */
  readonly upload: () => Promise<void>;
  /** The state or the network has changed. */
  readonly onChange: () => void;
  readonly onNetwork: (label: string) => void;
}

/** Combines several batches of one page into one upload. */
const UPLOAD_DELAY_MS = 1000;
/** A helper starts in a fraction of a second, on a slow disk in a few. */
const SETTLE_MS = 5000;

/** Creates the connection and opens it as soon as the user's consent is known. */
export class HelperLink {
  readonly #deps: HelperLinkDeps;
  readonly #watchers = new Set<(state: HelperState) => void>();
  /** Null until the user's consent is known. */
  #consent: boolean | null = null;
  #network = NETWORK_UNKNOWN;
  #names: NetworkNames = new Map();
  readonly #uploadLater = soon(UPLOAD_DELAY_MS, () => {
    // What could not be sent stays in the outbox, for the next batch or the next connection.
    this.#askConsentAgain()
      .then(() => (this.#port.state.state === 'ready' ? this.#deps.upload() : undefined))
      .catch(() => {});
  });
  #agreeing: Promise<void> | null = null;
  #agreeAgain = false;
  readonly #port: HelperPort;
  readonly helper: Helper;

  constructor(deps: HelperLinkDeps) {
    this.#deps = deps;
    this.#port = new HelperPort({
      connect: connectHelper,
      clock: timers,
      program: this.#deps.program,
      onState: ({ state }) => {
        this.#tell();
        if (state !== 'ready') return;
        this.uploadSoon();
        this.#agree();
        this.helper.network().then((label) => this.setNetwork(label), console.error);
      },
    });
    this.helper = new Helper(this.#port, (label) => this.setNetwork(label));
    onHelperConsent(() => this.#look());
    this.#look();
    onNames(this.#deps.store, (next) => {
      this.#follow(next);
      this.#agree();
    });
    loadNames(this.#deps.store).then((next) => this.#follow(next), console.error);
  }

  get state(): HelperState {
    return this.#port.state.state === 'ready'
      ? {
          ...this.#port.state,
          network: this.#network,
          networkName: this.#names.has(this.#network) ? nameOrKey(this.#names, this.#network) : null,
        }
      : this.#port.state;
  }

  /** The network according to the helper; that of the session before, until the helper reports it. */
  get network(): string {
    return this.#network;
  }

  /** Takes the label that came with a race or forecast. */
  setNetwork(label: string): void {
    if (label === this.#network) return;
    this.#network = label;
    void rememberNetwork(label);
    this.#deps.onNetwork(label);
    this.#tell();
  }

  /** Restores the session's label, unless the helper has already reported one. */
  async recallNetwork(): Promise<void> {
    const remembered = await rememberedNetwork();
    if (this.#network === NETWORK_UNKNOWN) this.#network = remembered;
  }

  /** Opens the connection if the user agreed to it. */
  connect(): void {
    if (this.#consent === true) this.#port.connect();
  }

  /** Requests forecasts, as far as the user still agrees. Chromium sends the request at once. */
  forecast(site: string, origins: readonly Origin[]): Promise<readonly Forecast[]> {
    const ask = () => this.helper.forecast(site, origins);
    return BROWSER === 'chromium' ? ask() : this.#askConsentAgain().then(ask);
  }

  /** Starts a race, as far as the user still agrees. Chromium sends the request at once. */
  race(order: RaceOrder, onProgress: (progress: Progress) => void): RunningRace {
    const start = (): RunningRace => {
      this.connect();
      return this.helper.race(order, onProgress);
    };
    if (BROWSER === 'chromium') return start();
    const started = this.#askConsentAgain().then(start);
    return {
      result: started.then(({ result }) => result),
      cancel: () => void started.then((race) => race.cancel()).catch(() => {}),
    };
  }

  /** Checks again whether the user agrees, and opens the connection now, without waiting out a pause, or closes it. */
  reconnect(): void {
    this.#askConsentAgain().then(() => this.connect(), console.error);
  }

  /** Calls `listener` with the state now and after each change; returns the function that stops it. */
  watch(listener: (state: HelperState) => void): () => void {
    this.#watchers.add(listener);
    listener(this.state);
    // The user looking at the page wants to see names given meanwhile in another browser or on the command line.
    this.#agree();
    return () => this.#watchers.delete(listener);
  }

  /** Whether the helper answers, once that is known: waits for a connection that is being opened. */
  settled(): Promise<boolean> {
    return new Promise((resolve) => {
      const listener = ({ state }: HelperState): void => {
        if (state !== 'connecting') finish(state === 'ready');
      };
      const finish = (ready: boolean): void => {
        giveUp();
        this.#watchers.delete(listener);
        resolve(ready);
      };
      const giveUp = timers.later(SETTLE_MS, () => finish(false));
      this.#watchers.add(listener);
      listener(this.state);
    });
  }

  /** Something is in the outbox. */
  uploadSoon(): void {
    if (this.#port.state.state === 'ready') this.#uploadLater();
  }

  #tell(): void {
    for (const listener of this.#watchers) listener(this.state);
    this.#deps.onChange();
  }

  /** An older helper does not support names; one that is unreachable is updated when it is back. */
  #agree(): void {
    this.#agreeAgain = this.#agreeing !== null;
    if (this.#agreeing !== null || this.#port.state.state !== 'ready') return;
    this.#agreeing = agreeOnNames(this.#deps.store, this.helper)
      .catch(() => {})
      .then(() => {
        this.#agreeing = null;
        if (this.#agreeAgain) this.#agree();
      });
  }

  #follow(next: NetworkNames): void {
    this.#names = next;
    this.#tell();
  }

  // Firefox does not report that the user withdrew consent, so it is also checked before anything observed is passed
  // on.
  async #askConsentAgain(): Promise<void> {
    const given = await hasHelperConsent();
    const [before, withdrawn] = [this.#consent, this.#consent !== false && !given];
    this.#consent = given;
    if (withdrawn) this.#port.forbid();
    else if (before !== given) this.connect();
  }

  #look(): void {
    this.#askConsentAgain().catch(console.error);
  }
}
